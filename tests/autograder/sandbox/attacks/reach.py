"""Reaches something outside its own process: files, other processes, the network, the kernel; then says so."""

import ctypes
import fcntl
import multiprocessing.shared_memory
import os
import resource
import socket
import subprocess
import sys
import threading

PORT = "@PORT@"


def anonymous_file(x):
    """Makes a file in memory that could be executed."""
    os.memfd_create("payload")
    print("REACHED")


def another_program(x):
    """Becomes another program."""
    os.execv("/bin/echo", ["echo", "REACHED"])


def another_python(x):
    """Runs another Python."""
    subprocess.run([sys.executable, "-c", "print('REACHED')"], check=True)


def descriptor_passing(x):
    """Takes a descriptor out of the parent process (pidfd_getfd)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(434, os.getppid(), 0) >= 0:
        print("REACHED")


def fork(x):
    """Forks, to outlive the time limit."""
    if os.fork() == 0:
        print("REACHED", flush=True)
        os._exit(0)
    os.wait()


def kill_all(x):
    """Finds out whether it may send signals to all processes."""
    os.kill(-1, 0)
    print("REACHED")


def library(x):
    """Loads a library from a file."""
    ctypes.CDLL("libpthread.so.0")
    open("/etc/passwd").close()
    print("REACHED")


def limits(x):
    """Lifts its own limits."""
    resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))
    print("REACHED")


def network(x):
    """Connects to a port of this machine."""
    socket.create_connection(("127.0.0.1", int(PORT)), timeout=2)
    print("REACHED")


def new_namespace(x):
    """Moves into a new user namespace, where it would be root."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0:
        print("REACHED")


def process_memory(x):
    """Reads the parent's memory with one system call and no file."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_size_t * 2)(id(None), 8)
    libc.process_vm_readv(os.getppid(), local, 1, remote, 1, 0)
    if ctypes.get_errno() in (0, 14):
        print("REACHED")


def ptrace(x):
    """Traces its parent, to write into its memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), None, None) == 0:
        os.waitpid(os.getppid(), 0x40000000)
        libc.ptrace(17, os.getppid(), None, None)
        print("REACHED")


def shared_memory(x):
    """Makes shared memory for another worker to find."""
    block = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
    print("REACHED")
    block.close()
    block.unlink()


def signal_owner(x):
    """Makes the kernel send a signal to the parent when a pipe is ready (F_SETOWN)."""
    fcntl.fcntl(1, 8, os.getppid())
    print("REACHED")


def thread(x):
    """Starts a thread that goes on working after the call."""
    threading.Thread(target=print, args=("REACHED",)).start()


def unix_socket(x):
    """Makes a pair of local sockets, over which descriptors could be passed."""
    socket.socketpair()
    print("REACHED")

"""Leaves something in the grader's folder."""

import os

import torch

SECRET_FILE, TARGET = "@SECRET_FILE@", "@TARGET@"


def file(x):
    """Writes a file."""
    open(TARGET, "w").write("was here")


def link(x):
    """Makes a symbolic link."""
    os.symlink("/etc/passwd", TARGET)


def named_pipe(x):
    """Makes a named pipe on which a reader would wait for ever."""
    os.mkfifo(TARGET)


def rename(x):
    """Renames the file of expected values."""
    os.rename(SECRET_FILE, TARGET)


def tensor(x):
    """Saves a tensor, which may hold what it has seen of the inputs."""
    torch.save(x, TARGET)

"""The device to compute on, and how many threads."""

import torch

from ..running.config import ConfigError

MOST_THREADS = 1024


def choose_device(name: str) -> str:
    """Returns the name of a device that works.

    Args:
        name: such as "cpu", "cuda" or "cuda:1"; "auto" = CUDA if there is a GPU, else Apple's MPS, else the CPU.

    Raises:
        ConfigError: if PyTorch cannot compute on the device.
    """
    if name == "auto":
        return next((kind for kind in ("cuda", "mps") if getattr(torch, kind).is_available()), "cpu")
    try:
        torch.zeros(1, device=name).item()
    except Exception as error:  # each kind of device raises its own
        reason = str(error).strip().partition("\n")[0].partition(". ")[0]
        raise ConfigError(f"--device {name}: it cannot be used here: {reason}") from None
    return name


def describe_device(name: str) -> str:
    """Names a device for people: "cuda (NVIDIA H200)"."""
    return f"{name} ({torch.cuda.get_device_name(name)})" if name.startswith("cuda") else name


def set_threads(number: int) -> None:
    """Sets the number of PyTorch's threads.

    On a busy machine several threads are much slower than one for models as small as these.

    Raises:
        ConfigError: if it is out of range.
    """
    if not 1 <= number <= MOST_THREADS:
        raise ConfigError(f"--threads {number}: expected 1 to {MOST_THREADS}")
    torch.set_num_threads(number)

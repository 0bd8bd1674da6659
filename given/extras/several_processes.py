"""One model trained by several processes, each on its share of every batch (data parallel).

    torchrun --standalone --nproc-per-node 2 -m reference train …

All processes hold the same weights. Each computes the gradient of its sentences; before the optimizer's step the
gradients are averaged, each label counting the same, so that a step is that of one process with the whole batch. With
`batch_size` sentences a process, N processes train as one does with N times as many.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn

from .. import package


class ProcessGroup:
    """This process among those that train one model.

    Attributes:
        rank: its number; only number 0 writes files.
        size: how many there are.
    """

    def __init__(self, device: str) -> None:
        """Takes the device that this process computes on; the processes have found each other already."""
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self.device = device
        self._n_labels = 0.0  # of this process, since the last step

    def share(self, batch: package.data.Batch) -> package.data.Batch:
        """Returns this process's sentences of a batch.

        Of a batch with fewer sentences than processes, each process gets one, and some sentences count twice.
        """
        n_sentences = len(batch.src)
        rows = torch.arange(self.rank, max(n_sentences, self.rank + 1), self.size) % n_sentences
        return package.data.Batch(**{field.name: getattr(batch, field.name)[rows] for field in fields(batch)})

    def mean_loss(self, loss: float, n_labels: int) -> float:
        """Returns the loss of the whole batch, from that of this process's share and its number of labels."""
        self._n_labels += n_labels
        total, n_all = self._sum(torch.tensor([loss * n_labels, n_labels], dtype=torch.float32)).tolist()
        return total / n_all

    def average_gradients(self, parameters: Iterable[nn.Parameter], max_norm: float | None) -> None:
        """Gives each parameter the gradient of the whole batch, and clips its norm to `max_norm`, if there is one."""
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in trained]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        flat = torch.cat([flat * self._n_labels, flat.new_tensor([self._n_labels])])
        self._n_labels = 0.0
        flat = self._sum(flat)
        sizes = list(map(torch.numel, gradients))
        for parameter, mean in zip(trained, (flat[:-1] / flat[-1]).split(sizes), strict=True):
            parameter.grad = mean.view_as(parameter)
        if max_norm is not None:
            nn.utils.clip_grad_norm_(trained, max_norm)

    def is_any(self, answer: bool) -> bool:
        """Whether any process answers yes; all of them must ask."""
        return bool(self._sum(torch.tensor([float(answer)])).item())

    def from_first(self, found: Any) -> Any:
        """Returns what process 0 found; the others may bring None."""
        box = [found]
        distributed.broadcast_object_list(box, src=0)
        return box[0]

    def gather_states(self, states: dict[str, Tensor]) -> dict[str, Tensor]:
        """Collects the states of all processes' random generators: "cpu" is that of process 0, "cpu/1" of the next."""
        of_all: list[Any] = [None] * self.size
        distributed.all_gather_object(of_all, states)
        return {self._name(kind, rank): state for rank, found in enumerate(of_all) for kind, state in found.items()}

    def own_states(self, states: dict[str, Tensor]) -> dict[str, Tensor]:
        """Picks this process's states from what `gather_states` collected."""
        kinds = {name.partition("/")[0] for name in states}
        return {kind: states[name] for kind in kinds if (name := self._name(kind, self.rank)) in states}

    def _name(self, kind: str, rank: int) -> str:
        return f"{kind}/{rank}" if rank else kind

    def _sum(self, numbers: Tensor) -> Tensor:
        numbers = numbers.to(self.device)
        distributed.all_reduce(numbers)
        return numbers


@contextmanager
def joined(device: str) -> Iterator[ProcessGroup]:
    """Joins the group for the length of a with-block, in which only the first process prints.

    The processes exchange through NCCL on GPUs, through Gloo otherwise.
    """
    distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    group = ProcessGroup(device)
    with contextlib.ExitStack() as stack:
        if group.rank:
            nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
        yield group
    # Not after an error, when the others may wait for an answer; and no one leaves while another still listens.
    distributed.barrier()
    distributed.destroy_process_group()


def own_device(device: str) -> str:
    """Returns this process's own GPU, by its number on this machine, where `device` is "cuda"."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" else device


class NoFolder:
    """The run's folder for all processes but the first: nothing is written."""

    def save_report(self, *arguments: object) -> None:
        """Does nothing."""

    def save_interrupted(self, *arguments: object) -> None:
        """Does nothing."""

"""Everything that a run needs to continue, in one file.

The file is a dictionary of tensors, numbers and strings and is read with `weights_only=True`, so loading a checkpoint
runs no code from it.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from ..vocab import SPECIAL_TOKENS, Vocabulary
from ..whole_files import in_one_piece
from .config import Config

FORMAT = 1


class CheckpointError(ValueError):
    """A file that is not a checkpoint of this program and version; the message says why."""


@dataclass
class Checkpoint:
    """A model with what belongs to it; the fields from `epoch` on matter only for training further."""

    config: Config
    src_vocab: Vocabulary
    tgt_vocab: Vocabulary
    weights: dict[str, Tensor]
    diagonal: Tensor | None  # the encoder's diagonal mask at its greatest length
    epoch: int  # finished epochs
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]
    rng_states: dict[str, Tensor]  # states of the random generators that training uses, by kind of device
    history: list[dict[str, float]]
    corpus: dict[str, str] | None = None  # fingerprints of the training and dev pairs; older files have none
    step: int | None = None  # steps of the optimizer that are done; older files have only whole epochs
    since_report: dict[str, float] | None = None  # loss, batches and seconds since the last line of the history
    watched: dict[str, Any] | None = None  # a sentence pair and its attention so far, if the run records it
    average: dict[str, Tensor] | None = None  # of the weights over time, if the run keeps it
    n_averaged: int = 0  # steps in the average

    def save(self, path: Path | str) -> None:
        """Writes the file whole or not at all."""
        content = {
            **vars(self),
            "format": FORMAT,
            "config": self.config.to_dict(),
            "src_vocab": self.src_vocab.tokens[len(SPECIAL_TOKENS) :],
            "tgt_vocab": self.tgt_vocab.tokens[len(SPECIAL_TOKENS) :],
        }
        buffer = io.BytesIO()  # writing to a full disk itself, PyTorch would raise an obscure RuntimeError
        torch.save(content, buffer)
        with in_one_piece(Path(path)) as unfinished:
            unfinished.write_bytes(buffer.getbuffer())

    @classmethod
    def load(cls, path: Path | str) -> "Checkpoint":
        """Reads what `save` wrote; all tensors are on the CPU, wherever they were.

        Raises:
            CheckpointError: if the file is missing, damaged, or something else.
        """
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except OSError as error:
            hint = "; `train` writes it" if isinstance(error, FileNotFoundError) else ""
            raise CheckpointError(f"{path}: {error.strerror or error}{hint}") from None
        except Exception:  # torch.load raises a dozen kinds for a damaged file
            raise CheckpointError(f"{path}: not a checkpoint, or a damaged one") from None
        found = content.pop("format", None) if isinstance(content, dict) else None
        if found != FORMAT:
            raise CheckpointError(f"{path}: checkpoint format {found!r}, expected {FORMAT}")
        try:
            content["config"] = Config.from_dict(content["config"])
            for name in ("src_vocab", "tgt_vocab"):
                content[name] = Vocabulary(content[name])
            return cls(**content)
        except KeyError as error:
            raise CheckpointError(f"{path}: not a checkpoint: {error} is missing") from None
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"{path}: {str(error).removeprefix('Checkpoint.__init__() ')}") from None

    def load_weights(self, model: nn.Module, path: Path | str, last: bool = False) -> None:
        """Puts the weights into a model made from the same configuration.

        Args:
            model: to translate with, or to train further.
            path: of the checkpoint, for messages.
            last: the weights after the last step, to train further, even if there is an average to translate with.

        Raises:
            CheckpointError: if the model's code has changed since, so that names or shapes differ.
        """
        try:
            model.load_state_dict(self.weights if last or self.average is None else self.average)
        except RuntimeError as error:
            first = str(error).strip().splitlines()[1].strip()
            raise CheckpointError(f"{path}: does not fit this model: {first}") from None


def generators(device: torch.device | str) -> dict[str, ModuleType]:
    """Returns the random generators of training on `device`, by kind: the CPU's and, for dropout, the device's."""
    kind = torch.device(device).type
    return {"cpu": torch.random} | ({kind: torch.get_device_module(kind)} if kind != "cpu" else {})

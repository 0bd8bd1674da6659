"""Translates with a submitted checkpoint. Becomes a module of the submission, in the sandbox: this process never does.

The checkpoint is opened with `weights_only=True`; the student's own modules build the model and decode, with the
settings of the run, as `given/` does for the student. That takes a worker of its own, with the whole package and more
time than grading allows. `learned_model.py` needs none of it: it asks one more thing of the worker that has just been
graded, within what is left of its budgets.
"""

import io
from importlib import import_module
from typing import Any

import torch
import torch.utils.serialization  # noqa: F401  torch.load imports it when it runs: too late in the sandbox
from torch import Tensor

SIZES = ("d_model", "n_heads", "d_ff", "n_layers", "dropout", "norm_first")


def part(name: str) -> Any:
    """A module of the package that this one has become part of."""
    return import_module(f".{name}", __package__)


def translate_again(content: Tensor, lines: list[str], beam_size: int) -> list[str]:
    """The translations of some lines.

    Args:
        content: the bytes of the checkpoint.
        lines: tokenized sources.
        beam_size: 1 = greedy; 0 = as the checkpoint says.

    Returns:
        As many lines, without byte-pair marks.

    Raises:
        ValueError: if they are not those of a checkpoint, or do not fit the model.
    """
    try:
        saved = torch.load(io.BytesIO(content.numpy().tobytes()), map_location="cpu", weights_only=True)
    except Exception:  # torch.load raises a dozen kinds for a damaged file
        raise ValueError("the checkpoint: not a checkpoint, or a damaged one") from None
    if not isinstance(saved, dict) or not {"config", "src_vocab", "tgt_vocab", "weights"} <= saved.keys():
        raise ValueError("the checkpoint: not one that `train` saved")
    data, decode, vocab = map(part, ("data", "decode", "vocab"))
    config, diagonal = saved["config"], saved.get("diagonal")
    src_vocab, tgt_vocab = vocab.Vocabulary(saved["src_vocab"]), vocab.Vocabulary(saved["tgt_vocab"])
    model = part("model").Transformer(len(src_vocab), len(tgt_vocab), *(config[name] for name in SIZES))
    try:
        model.load_state_dict(saved["weights"] if saved.get("average") is None else saved["average"])
    except RuntimeError as error:
        raise ValueError(
            f"the checkpoint: does not fit this model: {str(error).strip().splitlines()[1].strip()}"
        ) from None
    sources = [src_vocab.encode(line.split()) for line in lines]
    src = data.pad_ids(sources)
    src_mask = part("masks").padding_mask(src, vocab.PAD_ID)
    encoder_mask = data.restrict_to_diagonal(src_mask, diagonal)
    options = {
        "bos_id": vocab.BOS_ID,
        "eos_id": vocab.EOS_ID,
        "pad_id": vocab.PAD_ID,
        "max_length": config["max_length"],
    }
    search = decode.greedy_decode
    if (beam_size or config["beam_size"]) > 1:
        search = decode.beam_decode
        options |= {"beam_size": beam_size or config["beam_size"], "length_penalty": config["length_penalty"]}
    found = search(model.eval(), src, src_mask, encoder_mask, **options)
    return [
        vocab.join_subwords(tgt_vocab.decode(ids)) if source else "" for source, ids in zip(sources, found, strict=True)
    ]

"""Has a submission translate a sentence with the weights of its own checkpoint, and returns where it looked.

The checkpoint is opened in the worker, with `weights_only`: nothing in it is run.
"""

import io
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils.serialization.config  # by torch.load, when it is first called: where no file can be opened
from torch import Tensor

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
BOS, EOS, UNK = 1, 2, 3
MOST_TOKENS = 20
"""Of a translation."""


def attend_as_trained(
    transformer: Callable[..., Any], content: Tensor, sentences: Sequence[Sequence[str]]
) -> tuple[list[str], list[str], Tensor, list[dict[str, float]]]:
    """Translates the first sentence all of whose tokens are known, greedily.

    Args:
        transformer: the submission's class.
        content: of the checkpoint, as `train` writes it: bytes, uint8.
        sentences: source tokens.

    Returns:
        The sentence, its translation with the end token, the weights of the last layer's cross-attention (h, t, s),
        and the history of the training.
    """
    saved = torch.load(io.BytesIO(content.numpy().tobytes()), map_location="cpu", weights_only=True)
    config = saved["config"]
    source, target = ([*SPECIAL, *saved[name]] for name in ("src_vocab", "tgt_vocab"))
    sizes = (config[name] for name in ("d_model", "n_heads", "d_ff", "n_layers"))
    model = transformer(len(source), len(target), *sizes, 0.0, config["norm_first"])
    model.load_state_dict(saved.get("average") or saved["weights"])
    model.eval()
    number = {token: index for index, token in enumerate(source)}
    sentence = next((one for one in sentences if all(token in number for token in one)), sentences[0])
    with torch.no_grad():
        found, weights = search(model, [number.get(token, UNK) for token in sentence], saved["diagonal"])
    return list(sentence), [target[index] for index in found], weights, saved["history"]


def search(model: Any, ids: Sequence[int], diagonal: Tensor | None) -> tuple[list[int], Tensor]:
    """The translation of one sentence, and the weights (h, t, s) with which each of its tokens was found."""
    mask = torch.ones(1, 1, 1, len(ids), dtype=torch.bool)
    encoder_mask = mask if diagonal is None else mask & diagonal[: len(ids), : len(ids)]
    memory, _ = model.encode(torch.tensor([ids]), encoder_mask)
    found = [BOS]
    while True:
        causal = torch.ones(len(found), len(found), dtype=torch.bool).tril()
        output, _, cross = model.decode(torch.tensor([found]), memory, mask, causal)
        found.append(int(model.get_predictions(output[:, -1:]).argmax()))
        if found[-1] == EOS or len(found) > MOST_TOKENS:
            return found[1:], cross[-1][0]

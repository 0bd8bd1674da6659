"""Whether the cached decoder may stand in for a model."""

import torch

from ...masks import causal_mask
from ...model import Transformer
from .decoder import CachedDecoder
from .fused_model import FusedModel

TOLERANCE = 1e-4  # of log-probabilities, in proportion to the largest


@torch.inference_mode()
def find_fused(model: Transformer) -> FusedModel | None:
    """Rearranges a model; None if its layers are not written as the reference's are.

    Names alone could deceive, so both read two short sentences, one with padding, and must agree.
    """
    was_training = model.training
    model.eval()
    try:
        fused = FusedModel(model)
        sizes = model.src_embedding.table.num_embeddings, model.tgt_embedding.table.num_embeddings
        device = model.output_projection.weight.device
        src, tgt = ((torch.arange(2 * 6, device=device) % size).view(2, 6) for size in sizes)
        src_mask = torch.ones(2, 1, 1, 6, dtype=torch.bool, device=device)
        src_mask[1, ..., 4:] = False
        memory, _ = model.encode(src, src_mask)
        output, _, _ = model.decode(tgt, memory, src_mask, causal_mask(6, device))
        expected = model.get_predictions(output)
        decoder = CachedDecoder(fused, fused.encode(src, src_mask), src_mask)
        found = torch.cat([decoder.step(tgt[:, [position]]) for position in range(6)], dim=1).log_softmax(dim=-1)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):  # other names, other shapes
        return None
    finally:
        model.train(was_training)
    agrees = found.shape == expected.shape and (found - expected).abs().max() <= TOLERANCE * expected.abs().max()
    return fused if agrees else None

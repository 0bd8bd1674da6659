"""Lower precision in training, where that is faster.

float32        as PyTorch does it
fast-float32   matrix products may round their factors: to TF32 or bfloat16 on a GPU, to bfloat16 on a processor that
               has matrix instructions for it. On other processors PyTorch takes oneDNN in place of MKL, and nothing is
               rounded: with AVX-512 from AMD that is twice as fast (benchmarks/speed.py).
bf16           matrix products and what follows them in bfloat16, weights and sums in float32 (after
               Micikevicius et al. 2018, who use float16)
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def computing_in(precision: str, device: torch.device | str) -> Iterator[None]:
    """Computes in one of the precisions above for the length of a with-block.

    Args:
        precision: its name.
        device: of the model.
    """
    if precision == "bf16":
        # The cache of rounded weights would outlive the step that changes them.
        with torch.autocast(torch.device(device).type, torch.bfloat16, cache_enabled=False):
            yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if precision == "fast-float32" else before)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)

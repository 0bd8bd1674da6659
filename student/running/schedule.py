"""How the learning rate changes from step to step.

Each schedule is a factor on `learning_rate`, which is the highest rate it reaches.
"""

import math

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

SCHEDULES = ("constant", "inverse_sqrt", "cosine", "linear")


def learning_rate_factor(schedule: str, step: int, warmup_steps: int, total_steps: int) -> float:
    """Computes the factor at optimizer step `step` (0 is the first).

    constant      warm-up, then 1
    inverse_sqrt  warm-up, then sqrt(warmup_steps / step), the shape of Vaswani et al. 2017, equation 3
    cosine        warm-up, then down to 0 along half a cosine (Loshchilov and Hutter 2017, equation 5)
    linear        warm-up, then down to 0 along a straight line

    The warm-up rises linearly over `warmup_steps` steps; 0 = no warm-up.

    Raises:
        ValueError: if there is no such schedule.
    """
    step += 1
    if step <= warmup_steps:
        return step / warmup_steps
    if schedule == "constant":
        return 1.0
    if schedule == "inverse_sqrt":
        return math.sqrt(max(warmup_steps, 1) / step)
    progress = min(1.0, (step - warmup_steps) / max(1, total_steps - warmup_steps))
    if schedule == "cosine":
        return 0.5 * (1.0 + math.cos(math.pi * progress))
    if schedule == "linear":
        return 1.0 - progress
    raise ValueError(f"unknown schedule {schedule!r}; expected one of {', '.join(SCHEDULES)}")


def make_scheduler(optimizer: Optimizer, schedule: str, warmup_steps: int, total_steps: int) -> LambdaLR:
    """Creates the scheduler; its `step()` is called after each step of the optimizer."""
    return LambdaLR(optimizer, lambda step: learning_rate_factor(schedule, step, warmup_steps, total_steps))

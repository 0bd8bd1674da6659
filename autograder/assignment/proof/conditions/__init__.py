"""Conditions under which a component may be wrong although it is right otherwise.

    moment.py      one call of a component              sizes.py          that coincide, of 1, large
    condition.py   what is asked about it               settings.py       of layers, training, masks, decoding
    components.py  groups that a condition is for       arguments.py      what masks and tensors hold
                                                        circumstances.py  mode, precision, what came before

`python -m validity prove --conditions` puts each known fault under each of them: right code everywhere else, the fault
where the condition holds. A condition is a question about one call of a component: about the sizes of its arguments,
its settings, masks, values, mode and precision, and about what has happened to the object before.
"""

from .arguments import ARGUMENTS
from .circumstances import CIRCUMSTANCES
from .condition import Condition
from .moment import Moment
from .settings import SETTINGS
from .sizes import SIZES

CONDITIONS: dict[str, Condition] = SIZES | SETTINGS | ARGUMENTS | CIRCUMSTANCES
"""All conditions, by what holds."""

__all__ = ["CONDITIONS", "Condition", "Moment"]

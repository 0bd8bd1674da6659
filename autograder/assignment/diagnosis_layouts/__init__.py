"""Other layouts of the parameters behind the same computation.

The diagnosis asks for `readings` where a submission's parameters are not laid out as the reference's; its proof
rewrites faulty references into each of `LAYOUTS`.

    cutting.py    cuts fused or split parameters into the reference's pieces
    rewriting.py  rewrites sources
    relayout.py   moves the parameters of an object; becomes a module of the rewritten sources
"""

from .cutting import readings
from .rewriting import LAYOUTS

__all__ = ["LAYOUTS", "readings"]

"""For all of the kit's own tests."""

import os

# Before torch is imported: two threads on a busy machine run ten times slower than one.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

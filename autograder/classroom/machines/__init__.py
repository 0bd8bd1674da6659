"""Where submissions are graded: in children of this process, or on the machines of a Dask cluster.

    jobs.py       a submission, graded in a child of this process   cluster.py  on a Dask cluster
    agreement.py  what all machines have to have alike              server.py   one machine's grader
    grader_process.py  by which any thread can ask that one

Either way, whoever asks gets each job back with its record, and alone stores it. A machine learns the seed of what it
grades, but never the term's secret.
"""

from .agreement import OPENER, terms_of
from .cluster import Cluster, ClusterError, Reader
from .jobs import UnreadJob, grade_here

__all__ = ["OPENER", "Cluster", "ClusterError", "Reader", "UnreadJob", "grade_here", "terms_of"]

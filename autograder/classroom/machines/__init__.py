"""Where submissions are graded: in children of this process, or on the machines of a Dask cluster.

    jobs.py       a submission, with what is needed to grade it   here.py     in children of this process
    agreement.py  what all machines have to have alike            cluster.py  on a Dask cluster
    server.py     one machine's grader, a process of its own      grader_process.py  which any thread can ask

Either way, whoever asks gets each job back with its record, and alone stores it. A machine learns the seed of what it
grades, but never the term's secret.
"""

from .agreement import OPENER, terms_of
from .cluster import Cluster, ClusterError, Reader
from .here import grade_here
from .jobs import UnreadJob

__all__ = ["OPENER", "Cluster", "ClusterError", "Reader", "UnreadJob", "grade_here", "terms_of"]

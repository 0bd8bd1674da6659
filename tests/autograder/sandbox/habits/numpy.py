import numpy as np


def habit(x):
    return float(np.triu(np.ones((3, 3)), 1).sum() + np.random.rand())

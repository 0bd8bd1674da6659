from torch import nn


def habit(x):
    print(nn.Linear(2, 2))
    return 1

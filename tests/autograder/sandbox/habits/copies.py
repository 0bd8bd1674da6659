import copy

import torch


def habit(x):
    layer = torch.nn.Linear(3, 3)
    layers = torch.nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
    return len(layers) + len(copy.deepcopy(layers.state_dict()))

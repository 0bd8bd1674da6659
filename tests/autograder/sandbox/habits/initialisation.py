import torch


def habit(x):
    layer = torch.nn.Linear(3, 3)
    torch.nn.init.xavier_uniform_(layer.weight)
    torch.manual_seed(3)
    return float(torch.nn.utils.parameters_to_vector(layer.parameters()).sum())

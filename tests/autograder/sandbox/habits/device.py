import torch


def habit(x):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return x.to(device)

import torch


@torch.no_grad()
def habit(x):
    with torch.inference_mode():
        return x + 1

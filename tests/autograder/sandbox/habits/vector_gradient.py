import torch


def habit(x):
    x.requires_grad_()
    (x * 2).backward(torch.ones_like(x))
    torch.autograd.grad(x * 3, x, grad_outputs=torch.ones_like(x))
    return float(x.grad.sum())

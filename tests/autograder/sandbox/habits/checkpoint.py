from torch.utils.checkpoint import checkpoint


def habit(x):
    checkpoint(lambda y: y.exp(), x.requires_grad_(), use_reentrant=False).sum().backward()
    return float(x.grad.sum())

import torch
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR


def habit(x):
    model = torch.nn.Linear(3, 3)
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop):
        optimizer = kind(model.parameters(), lr=0.1)
        scheduler = LambdaLR(optimizer, lambda step: 1 / (step + 1))
        optimizer.zero_grad()
        model(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    OneCycleLR(optimizer, 0.1, total_steps=10)
    return 1

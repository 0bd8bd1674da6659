"""The gradient is clipped by hand; batches are moved to the model's device; tqdm shows progress."""

from itertools import islice

import torch
from tqdm import tqdm


def train_epoch(batches, model, optimizer, criterion, accumulate=1, scheduler=None, max_grad_norm=None):
    model.train(True)
    device = next(iter(model.parameters())).device
    pad = criterion.ignore_index
    history = []
    iterator = iter(tqdm(batches, disable=False))
    while True:
        group = [batch.to(device) for batch in islice(iterator, accumulate)]
        if not group:
            break
        n_labels = float(sum(torch.count_nonzero(batch.labels != pad) for batch in group))
        for p in model.parameters():
            p.grad = None
        for batch in group:
            with torch.enable_grad():
                memory, _ = model.encode(batch.src, batch.encoder_mask)
                out, _, _ = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)
                loss = criterion(model.get_predictions(out).flatten(end_dim=1), batch.labels.view(-1))
            share = torch.count_nonzero(batch.labels != pad) / n_labels
            loss.mul(share).backward()
            history.append(loss.item())
        if max_grad_norm is not None:
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            norm = torch.sqrt(sum(g.pow(2).sum() for g in gradients))
            if norm > max_grad_norm:
                for g in gradients:
                    g.mul_(max_grad_norm / norm)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    return float(torch.tensor(history, dtype=torch.float64).mean())

"""Training in other words."""

import torch
from tqdm import tqdm

# %% groups_in_lists
# Batches are gathered in lists; one backward pass for the whole group, whose gradient is cleared and clipped by hand.


def train_epoch(batches, model, optimizer, criterion, accumulate=1, scheduler=None, max_grad_norm=None):
    model.train(True)
    device = next(iter(model.parameters())).device
    losses, group = [], []

    def step():
        counts = [torch.count_nonzero(batch.labels != criterion.ignore_index) for batch in group]
        for p in model.parameters():
            p.grad = None
        combined = 0.0
        for batch, n in zip(group, counts, strict=True):
            memory = model.encode(batch.src, batch.encoder_mask)[0]
            output = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)[0]
            loss = criterion(model.get_predictions(output).transpose(1, 2), batch.labels)
            losses.append(float(loss.detach()))
            combined = combined + loss * n / sum(counts)
        combined.backward()
        if max_grad_norm:
            gradients = [p.grad for p in model.parameters() if p.grad is not None]
            norm = torch.sqrt(sum(g.pow(2).sum() for g in gradients))
            if norm > max_grad_norm:
                for g in gradients:
                    g.mul_(max_grad_norm / norm)
        optimizer.step()
        if scheduler:
            scheduler.step()
        group.clear()

    for batch in tqdm(batches, disable=False):
        group.append(batch.to(device))
        if len(group) == accumulate:
            step()
    if group:
        step()
    return sum(losses) / len(losses)

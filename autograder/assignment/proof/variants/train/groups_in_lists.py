"""Batches are gathered in lists; one backward pass for the whole group; predictions as (b, classes, t)."""

import torch


def train_epoch(batches, model, optimizer, criterion, accumulate=1, scheduler=None, max_grad_norm=None):
    model.train()
    losses, group = [], []

    def step():
        counts = [(batch.labels != criterion.ignore_index).sum() for batch in group]
        total = sum(counts)
        optimizer.zero_grad(set_to_none=False)
        combined = 0.0
        for batch, n in zip(group, counts, strict=True):
            memory = model.encode(batch.src, batch.encoder_mask)[0]
            output = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)[0]
            loss = criterion(model.get_predictions(output).transpose(1, 2), batch.labels)
            losses.append(float(loss.detach()))
            combined = combined + loss * n / total
        combined.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_grad_norm)
        optimizer.step()
        if scheduler:
            scheduler.step()
        group.clear()

    for batch in batches:
        group.append(batch)
        if len(group) == accumulate:
            step()
    if group:
        step()
    return sum(losses) / len(losses)

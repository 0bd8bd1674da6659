"""Sums are accumulated, and the gradients divided before the step; gradients are also cleared after each step."""

import torch


def train_epoch(batches, model, optimizer, criterion, accumulate=1, scheduler=None, max_grad_norm=None):
    model.train()
    model.zero_grad()
    total, number, pending, labels_seen = 0.0, 0, 0, 0

    def finish():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.div_(labels_seen)
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()

    for batch in batches:
        memory, _ = model.encode(batch.src, batch.encoder_mask)
        output, *_ = model.decode(batch.tgt_input, memory, batch.src_mask, batch.tgt_mask)
        predictions = model.get_predictions(output)
        loss = criterion(predictions.reshape(-1, predictions.size(-1)), batch.labels.reshape(-1))
        n = (batch.labels != criterion.ignore_index).sum().item()
        (loss * n).backward()
        labels_seen += n
        total += loss.item()
        number += 1
        pending += 1
        if pending == accumulate:
            finish()
            pending, labels_seen = 0, 0
    if pending:
        finish()
    return total / number

"""Embeddings, masks, search and training in other words."""

import math

import torch
from torch import nn
from tqdm import tqdm

# %% embedding: padding_index
# nn.Embedding with padding_idx: the vector of padding is not trained; the factor is a float32 buffer.


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model, pad_id=0):
        super().__init__()
        self.lookup = nn.Embedding(num_embeddings=vocab_size, embedding_dim=d_model, padding_idx=pad_id)
        nn.init.normal_(self.lookup.weight, mean=0, std=d_model**-0.5)
        self.register_buffer("scale", torch.tensor(math.sqrt(d_model)))

    def forward(self, tokens):
        return self.scale * self.lookup(tokens)


# %% masks: triangles
# The band is the intersection of two triangles; random cells by torch.bernoulli.


def diagonal_mask(length, width=1, random_prob=0.0, generator=None):
    everything = torch.ones((length, length), dtype=torch.bool)
    band = everything.tril(width - 1) & everything.triu(1 - width)
    drawn = torch.empty(length, length).bernoulli_(random_prob, generator=generator)
    return torch.logical_or(band, drawn.bool())


# %% masks: padding_view
# A view of the right shape.


def padding_mask(tokens, pad_id):
    b, s = tokens.shape
    return tokens.ne(pad_id).view(b, 1, 1, s)


# %% masks: causal_compared
# Positions of queries and keys, compared.


def causal_mask(length, device=None):
    positions = torch.arange(length, device=device)
    return positions[None, :] <= positions[:, None]


# %% decode: beam_in_turn
# One sentence after another, with a pool of open hypotheses in which ended ones take no place.


@torch.no_grad()
def beam_decode(
    model, src, src_mask, encoder_mask=None, *, bos_id, eos_id, pad_id, max_length, beam_size=4, length_penalty=0.6
):
    mode = model.training
    model.eval()
    memory, _ = model.encode(src, src_mask if encoder_mask is None else encoder_mask)
    results = []
    for row in range(src.size(0)):
        live, done = [([], 0.0)], []
        for step in range(1, max_length + 1):
            candidates = []
            for tokens, score in live:
                tgt = torch.tensor([[bos_id] + tokens])
                causal = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).tril()
                output, _, _ = model.decode(tgt, memory[row : row + 1], src_mask[row : row + 1], causal)
                log_probs = model.get_predictions(output)[0, -1]
                values, indices = log_probs.topk(min(2 * beam_size, log_probs.numel()))
                candidates += [
                    (tokens + [t], score + v) for v, t in zip(values.tolist(), indices.tolist(), strict=True)
                ]
            candidates.sort(key=lambda item: item[1], reverse=True)
            live = []
            for tokens, score in candidates[:beam_size]:
                if tokens[-1] == eos_id or step == max_length:
                    done.append((score / step**length_penalty, tokens))
                else:
                    live.append((tokens, score))
            if not live or len(done) >= beam_size:
                break
        best = max(done, key=lambda item: item[0])[1]
        results.append(best[:-1] if best[-1] == eos_id else best)
    model.train(mode)
    return results


# %% train: groups_in_lists
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

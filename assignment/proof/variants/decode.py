"""Beam search in other words."""

import torch

# %% beam_in_turn
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

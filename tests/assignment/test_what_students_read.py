"""What a student reads of mistakes that the catalogue lacks: what leads to each, and nothing that leads astray."""

from functools import lru_cache

import pytest

from autograder.at_home.notebook import run_task
from autograder.intake.sources import in_module, read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

AFFINE = "return self.gamma * centred / torch.sqrt(variance + self.epsilon) + self.beta"
SCALED = "return self.table(tokens) * math.sqrt(self.d_model)"
LOSS = "return criterion(model.get_predictions(output).flatten(0, 1), batch.labels.flatten())"
GROUP = "(loss * (n / sum(n_labels))).backward()"
CROSS = (
    "attended, cross_weights = self.cross_attention(x, memory, memory, src_mask)\n"
    "        x = self.cross_attention_norm("
)
DROPPED_SUM = "self.attention_norm(self.dropout(x + attended))"
DEFAULT_RATE = "self.src_positions = PositionalEncoding(d_model)"
OWN_MASK = "memory, src_mask, tgt.new_ones(tgt.size(1), tgt.size(1)).tril().bool())\n        ### END"
BY_HAND = "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)"
FORBIDDEN = "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"

READ = {  # task, file, what is replaced by what, and what is read
    "affine in train mode only": (
        *(
            "1.4",
            "layers",
            AFFINE,
            f"y = self.gamma\n        {AFFINE} if self.training else centred / torch.sqrt(variance + 1e-6)",
        ),
        "  observed: in train mode the result is right, in eval mode it is not",
    ),
    "mean over positions": (
        *("1.4", "layers", "x.mean(dim=-1, keepdim=True)", "x.mean(dim=tuple(range(1, x.dim())), keepdim=True)"),
        "  observed: a change of position 0 of x changes the result of position 1, too",
    ),
    "a mask of two axes is inverted": (
        *("1.2", "attention", FORBIDDEN, FORBIDDEN.replace("~mask", "mask if mask.dim() == 2 else ~mask")),
        *("  only:     with a mask of 2 axes: all 3 such", "  observed: this is the right result of the inverted mask"),
    ),
    "dropout on the weights": (
        *("1.2", "attention", "return weights @ value, weights", "return nn.Dropout(0.3)(weights) @ value, weights"),
        "  observed: two equal calls give different results: is dropout active?",
    ),
    "an error names shapes": (
        *("1.2", "attention", "key.transpose(-2, -1)", "key"),
        *("  attention.py, line ", "  inputs:   query (", "  sizes:    "),
    ),
    "the axis is in the shape": (
        *("1.1", "embedding", SCALED, SCALED.replace("self.table(tokens)", "self.table(tokens).squeeze()")),
        "; an axis of size 1 is missing\n…",
    ),
    "keys are not split": (
        *(
            "1.3",
            "attention",
            "split_heads(self.project_key(key))",
            "self.project_key(key).reshape(key.size(0), self.n_heads, key.size(1), -1)",
        ),
        " of key reaches position ",
    ),
    "cross-attention reads another value": (
        *("2.2", "layers", CROSS, CROSS.replace("memory, memory", "memory, x")),
        "  observed: attention 2 gets the output of LayerNorm 1 as value; it should be memory",
    ),
    "another residual": (
        *("2.2", "layers", f"{CROSS}x", f"{CROSS}memory.mean(1, keepdim=True)"),
        "  observed: LayerNorm 2 gets something else; it should be the output of LayerNorm 1 + the output of ",
    ),
    "a residual around the stack": (
        *("2.3", "model", "        return x, all_weights\n", "        return x + 0 * x + x, all_weights\n"),
        "is returned; it should be the output of encoder layer 3",
    ),
    "one attention for both sublayers": (
        *("2.2", "layers", CROSS, CROSS.replace("self.cross_attention(x", "self.self_attention(x")),
        "  observed: `self_attention` serves as attention 1 and as attention 2; each should be one of its own",
    ),
    "cross-attention keeps all": (
        *("2.2", "layers", f"{CROSS}x + self.dropout(attended)", f"{CROSS}x + attended"),
        "  observed: this is the right result if dropout does not act on the output of attention 2",
    ),
    "dropout of the sum": (
        *("2.1", "layers", "self.attention_norm(x + self.dropout(attended))", DROPPED_SUM),
        "  observed: nothing is left of x: ",
    ),
    "settings in another order": (
        *("2.3", "model", "EncoderLayer(d_model, n_heads, d_ff, ", "EncoderLayer(d_model, d_ff, n_heads, "),
        "  observed: encoder layer 1 is `layers.0`, made with n_heads = ",
    ),
    "positions drop at the default rate": (
        *("2.4", "model", "self.src_positions = PositionalEncoding(d_model, dropout)", DEFAULT_RATE),
        "  observed: PositionalEncoding is `src_positions`, made with dropout = 0.1; it should be one with dropout = 0",
    ),
    "a causal mask of its own": (
        *("2.4", "model", "memory, src_mask, tgt_mask)\n        ### END", OWN_MASK),
        "  observed: the decoder gets a causal mask as tgt_mask; it should be None",
    ),
    "parts in another order": (
        *("1.2", "attention", "return weights @ value, weights", "return weights, weights @ value"),
        "  observed: this is what weights should be",
    ),
    "keys are reshaped": (
        *("1.2", "attention", "key.transpose(-2, -1)", "key.reshape(*key.shape[:2], key.size(3), key.size(2))"),
        "  observed: this is the right result if key were reshaped, which mixes its positions, where it should be",
    ),
    "one projection for two": (
        *("1.3", "attention", "self.project_key(key)", "self.project_query(key)"),
        "  observed: the key that heads get is projected with the matrix of query",
    ),
    "queries are scaled twice": (
        *("1.3", "attention", "split_heads(self.project_query(query))", "split_heads(self.project_query(query)) / 2"),
        "  observed: the query that heads get is 0.5 times its projection",
    ),
    "the value is projected twice": (
        *("1.3", "attention", "self.project_value(value)", "self.project_value(self.project_value(value))"),
        "  observed: the value that heads get is not its projection, split into heads",
    ),
    "as many keys as queries": (
        *("1.3", "attention", "x.unflatten(-1, (self.n_heads, -1))", "x.view(len(x), query.size(1), self.n_heads, -1)"),
        *("  inputs:   query (", "  observed: the attention gets key of shape ("),
    ),
    "another epsilon": (
        *("1.4", "layers", "variance + self.epsilon", "variance + 1e-5"),
        "  observed: this is the right result with epsilon = 1e-05",
    ),
    "the gain is on both": (
        *("1.4", "layers", AFFINE, "return self.gamma * (centred / torch.sqrt(variance + self.epsilon) + self.beta)"),
        "  observed: this is the right result if the gain multiplied the shift, too",
    ),
    "no bias": (
        *("1.5", "layers", "nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)"),
        "  look at:  two maps, each with a bias; the shapes here are (9, 4) (9,) (4, 9)\n",
    ),
    "relu first": (
        *("1.5", "layers", "self.contract(torch.relu(self.expand(x)))", "self.contract(self.expand(torch.relu(x)))"),
        "  observed: relu acts on x, before both maps, not between them",
    ),
    "the factor is in the constructor": (
        *("1.1", "embedding", SCALED, "return self.table(tokens)"),
        "  observed: these are rows of the table as they are; the table is set after `__init__`",
    ),
    "large numbers": (
        *("1.2", "attention", "weights = torch.softmax(scores, dim=-1)", BY_HAND),
        "  look at:  exp(1000) is infinite",
    ),
    "each number is clipped": (
        *("3.1", "train", "nn.utils.clip_grad_norm_(", "nn.utils.clip_grad_value_("),
        "  observed: the gradient before step 1 has each number limited, not the norm of all",
    ),
    "weights by padding": (
        *("3.1", "train", "int((batch.labels != criterion.ignore_index).sum())", "batch.labels.numel()"),
        "  observed: the gradient before step 1 weights the batches of the group by all their labels, padding too",
    ),
    "padding counts": (
        *("3.1", "train", LOSS, LOSS.replace("criterion(", "nn.CrossEntropyLoss(label_smoothing=0.1)(")),
        "  observed: the criterion is not called",
    ),
    "labels are fed": (
        *("3.1", "train", "model.decode(batch.tgt_input,", "model.decode(batch.labels.clone(),"),
        "  observed: `decode` gets batch.labels as tgt; it should be batch.tgt_input",
    ),
    "labels are left out": (
        *(
            "3.1",
            "train",
            LOSS,
            LOSS.replace("flatten(0, 1)", "flatten(0, 1)[1:]").replace("labels.flatten()", "labels.flatten()[1:]"),
        ),
        "  observed: the criterion gets ",
    ),
    "gradients are not cleared": (
        *(
            "3.1",
            "train",
            "        optimizer.zero_grad()\n",
            "        if not losses:\n            optimizer.zero_grad()\n",
        ),
        "  observed: the gradient before step 2 contains that of batch 1, too, from an earlier step",
    ),
    "weights of batches": (
        *("3.1", "train", GROUP, "(loss / accumulate).backward()"),
        "the gradient before step 1 weights the batches of the group equally, however many labels they have",
    ),
    "the last group is dropped": (
        *(
            "3.1",
            "train",
            "        optimizer.step()\n",
            "        if len(group) == accumulate:\n            optimizer.step()\n",
        ),
        *("  only:     with an incomplete last group: ", "  observed: the optimizer takes 2 steps; it should take 3"),
    ),
    "the mean of labels is returned": (
        *("3.1", "train", "losses.append(loss.item())", "losses += [loss.item()] * n"),
        "  observed: this is the mean over all labels",
    ),
    "bos is returned": (
        *("E.3", "decode", "cut_sentence(max(hypotheses)[1][1:]", "cut_sentence(max(hypotheses)[1]"),
        "  observed: bos, ",
    ),
}
QUICK = ("affine in train mode only", "keys are not split", "gradients are not cleared")


@lru_cache(maxsize=1)
def reference():
    return read_sources(REFERENCE, REFERENCE)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in READ])
def test_one_block_leads_to_the_mistake(name):
    number, file, old, new, *lines = READ[name]
    path, text = reference()[file]
    assert text.count(old) >= 1
    assignment = read_assignment()
    [task] = (task for task in assignment.tasks if task.number == number)
    sources = {**reference(), file: (path, text.replace(old, new))}
    _, said = run_task(task, sources, 11, assignment, in_module)
    assert said.count("\n[test_") == 1 and ("  observed: " in said) + ("  look at: " in said) <= 1
    assert all(line in said for line in lines), said

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
        "weights the batches of the group equally, however many labels they have",
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

"""Right components keep their points however their parameters are laid out; faulty ones do not.

The layouts are drawn from a seed. Tests take a sample of them, with `--whole` all.
"""

import random
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from assignment.expected.flows import Flow
from assignment.expected.parts import heads, norm_of
from autograder.intake.sources import Sources
from autograder.running.under_test import InProcessSubmission
from autograder.testing.results import State, worst
from autograder.testing.results import tests_of as results_of
from validity.run_tests import Version, markers_of_tasks, run_versions
from validity.variants import splice

from .layouts import KINDS

SHARES = {
    "attention.MultiHeadedAttention": 130,
    "layers.EncoderLayer": 40,
    "layers.DecoderLayer": 40,
    "layers.FeedForward": 30,
    "embedding.InputEmbedding": 20,
    "layers.LayerNorm": 15,
    "model.Transformer": 15,
    "model.Encoder": 10,
}
"""How many layouts of each are drawn: 300 in all."""

ALL = [(kind, number) for kind, count in SHARES.items() for number in range(count)]
MOST_FOR_A_READER = 0.03
SIZES = {"d_model": 12, "n_heads": 4, "d_ff": 17, "n_layers": 2, "vocab_size": 13}


@dataclass(frozen=True)
class Layout:
    """A drawn component in the reference's place."""

    name: str
    component: str
    text: str
    sources: Sources


def drawn(reference, kind, number, change=lambda text: text):
    """A layout, whose text may be changed."""
    component = kind.partition(",")[0]
    module = component.partition(".")[0]
    text = change(KINDS[kind](random.Random(f"{kind}, {number}")))
    path, whole = reference[module]
    name = f"{kind}, {number}"
    sources = {**reference, module: (f"{path} {name}", splice(whole, text, Path(name))[0])}
    return Layout(name, component, text, sources)


def states_of(layouts, reference, assignment):
    """The worst state of the tasks that judge a layout, and why, by its name."""
    versions = [Version(one.name, one.sources, [0], markers_of_tasks(assignment, [one.component])) for one in layouts]
    found = {}
    for run in run_versions(versions, reference, assignment):
        results = [one for one in results_of(assignment, run.outcomes) if one.outcomes]
        found[run.version] = worst(one.state for one in results), "\n".join(one.message for one in results)
    return found


def test_drawn_layouts_compute_the_formula(reference, assignment, sampled):
    for kind, number in sampled(ALL, 20):
        layout = drawn(reference, kind, number)
        submission = InProcessSubmission(layout.sources, assignment)
        expect_formula(submission, layout)
        submission.close()


NEEDED = {
    "InputEmbedding": ("vocab_size", "d_model"),
    "LayerNorm": ("d_model",),
    "MultiHeadedAttention": ("d_model", "n_heads"),
    "FeedForward": ("d_model", "d_ff"),
    "Encoder": ("d_model", "n_heads", "d_ff", "n_layers"),
    "Transformer": ("vocab_size", "vocab_size", "d_model", "n_heads", "d_ff", "n_layers"),
}


def expect_formula(submission, layout):
    """The component computes what its class should with the parts that it names, which use all of its parameters."""
    torch.manual_seed(0)
    name = layout.component.partition(".")[2]
    sizes = [SIZES[size] for size in NEEDED.get(name, ("d_model", "n_heads", "d_ff"))]
    options = {"norm_first": True} if name == "Encoder" else {}
    module = submission.build(layout.component, *sizes, dtype=torch.float64, isolated=False, **options).eval()
    for parameter in module.parameters():
        parameter.data.normal_().mul_(0.5)
    parts = module.parts()
    sum(part.square().sum() for pair in parts.values() for part in pair if part is not None).backward()
    own = [p for key, p in module.named_parameters() if key.startswith("p") and "positions" not in key]
    assert own and all(p.grad is not None and bool(p.grad.any()) for p in own), layout.name
    x, y = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(2, 4, 12, dtype=torch.float64)
    mask = torch.rand(2, 4, 5, 5) < 0.7
    mask[..., 0] = True
    cross, tokens = mask[..., :4], torch.randint(13, (3, 4))
    pairs = {
        "InputEmbedding": lambda: (module(tokens), parts["table"][0][tokens] * 12**0.5),
        "LayerNorm": lambda: (module(x), norm_of(parts["norm"])(x)),
        "FeedForward": lambda: (module(x), plain_network(parts)(x)),
        "MultiHeadedAttention": lambda: (module(x, y, y, cross), plain_attention(parts, "")(x, y, y, cross)),
        "Transformer": lambda: (module.get_predictions(x), linear(x, parts["projection"]).log_softmax(-1)),
        "Encoder": lambda: (module(x, mask)[0], Flow.of(name, True, 2).run(plain_parts(module, parts), x, mask)[0]),
        "EncoderLayer": lambda: (module(x, mask), tuple(Flow.of(name).run(plain_parts(module, parts), x, mask))),
        "DecoderLayer": lambda: (
            module(x, y, cross, mask),
            tuple(Flow.of(name).run(plain_parts(module, parts), x, y, cross, mask)),
        ),
    }
    torch.testing.assert_close(*pairs[name](), msg=lambda text: f"{layout.name}: {text}")


def linear(x, pair):
    matrix, bias = pair
    return F.linear(x, matrix.T, bias)


def plain_network(parts):
    return lambda x: linear(linear(x, parts["first"]).relu(), parts["second"])


def plain_attention(parts, prefix):
    matrices, biases = zip(*(parts[prefix + role] for role in "qkvo"), strict=True)
    biases = [torch.zeros(12, dtype=torch.float64) if bias is None else bias for bias in biases]
    return partial(heads, matrices=matrices, biases=biases, is_stand_in=False, n_heads=4)


def plain_parts(module, parts):
    """The parts of a layer or a stack by their names in a flow, its own or the components that it holds."""
    found = {f"E{number}": layer for number, layer in enumerate(getattr(module, "layers", ()), start=1)}
    for number, name in enumerate(("self", "cross"), start=1):
        found[f"A{number}"] = (
            plain_attention(parts, f"{name}_") if f"{name}_q" in parts else getattr(module, name, None)
        )
    found["F1"] = plain_network(parts) if "first" in parts else getattr(module, "network", None)
    for number in range(3):
        name = f"norm{number}"
        found[f"N{number + 1}"] = norm_of(parts[name]) if name in parts else getattr(module, name, None)
    return found | ({"N1": norm_of(parts["norm"])} if "norm" in parts else {})


@pytest.mark.slow
def test_right_layouts_keep_all_points(reference, assignment, sampled):
    layouts = [drawn(reference, kind, number) for kind, number in sampled(ALL, 13)]
    found = states_of(layouts, reference, assignment)
    lost = {name: why for name, (state, why) in found.items() if state not in (State.PASSED, State.NEEDS_READER)}
    assert lost == {}
    readers = [name for name, (state, _) in found.items() if state is State.NEEDS_READER]
    assert len(readers) <= MOST_FOR_A_READER * len(layouts), readers


FAULTS = {  # in which modules or components, and what stands for what
    "scores are not scaled": (["attention", "layers"], r" / e\*\*0\.5", ""),
    "scores are scaled by d_model": (["attention", "layers"], r" / e\*\*0\.5", " / d**0.5"),
    "softmax over the queries": (["attention", "layers"], r"scores\.softmax\(-1\)", "scores.softmax(-2)"),
    "mask inverted": (["attention", "layers"], "~mask", "mask"),
    "value from key": (["attention"], r"(\n +v = \W*(?:\w+[(.]\w*\W*)*?)\bvalue\b", r"\1key"),
    "heads merged without transpose": (
        ["attention", "layers"],
        r"context\.transpose\(1, 2\)\.flatten\(2\)",
        "context.reshape(context.size(0), context.size(2), -1)",
    ),
    "heads split without transpose": (
        ["attention", "layers"],
        r"\.unflatten\(-1, \(h, e\)\)\.transpose\(1, 2\)",
        ".unflatten(1, (-1, 1)).reshape(query.size(0), h, -1, e)",
    ),
    "mask of the first head for all": (["attention"], r"mask\[:, i if mask\.size\(1\) > 1 else 0\]", "mask[:, 0]"),
    "output added to the query": (["attention"], r"return (.*), weights\n$", r"return query + \1, weights\n"),
    "no relu": (["layers"], r"\.relu\(\)", ""),
    "sample variance": (["layers.LayerNorm"], "unbiased=False", "unbiased=True"),  # in a layer: for task 1.4
    "epsilon outside the root": (["layers.LayerNorm"], r"\(spread \+ (\S+)\)\.sqrt\(\)", r"(spread.sqrt() + \1)"),
    "no dropout": (["layers"], r"self\.dropout\(out\)", "out"),
    "no residual connection": (["layers"], r"x = x \+ self", "x = self"),
    "no scaling": (["embedding"], r" \* d\*\*0\.5", ""),
    "softmax without logarithm": (["model"], r"log_softmax\(-1\)", "softmax(-1)"),
}


@pytest.mark.slow
def test_faults_in_unusual_layouts_are_found_or_need_a_reader(reference, assignment, sampled):
    layouts, count = [], len(sampled(range(5), 5))
    for name, (places, old, new) in FAULTS.items():
        kinds = [kind for kind in SHARES if kind.startswith(tuple(places))]
        faulty = []
        for kind, number in ((kind, number) for number in range(20) for kind in kinds):
            if len(faulty) < count:
                layout = drawn(reference, kind, number, lambda text: re.sub(old, new, text))  # noqa: B023
                if layout.text != drawn(reference, kind, number).text:
                    faulty.append(replace(layout, name=f"{name}: {layout.name}"))
        assert len(faulty) == count, name
        layouts += faulty
    found = states_of(layouts, reference, assignment)
    assert [name for name, (state, _) in found.items() if state is State.PASSED] == []

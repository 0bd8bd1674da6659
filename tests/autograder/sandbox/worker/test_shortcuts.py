"""PyTorch's own layers raise in the worker by whatever route; where they no longer would, the component is reported."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.sandbox.errors import SubmissionRefusedError
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.shortcuts import kernels_named
from foundation.assignment_file import read_assignment

from ...conftest import examples_in

EXAMPLES = examples_in("sandbox/worker/shortcuts.toml")
ROUTES, UNAVAILABLE, MODULE = EXAMPLES["routes"], EXAMPLES["unavailable"], EXAMPLES["module"]


@contextmanager
def norm_of(routes: Mapping[str, str], zygote, example_sources, more: str = "") -> Iterator[Sandbox]:
    """A submission whose LayerNorm takes the route that it is built with."""
    choice = ", ".join(f"{route!r}: lambda: {expression}" for route, expression in routes.items())
    text = MODULE.format(expression=f"{{{choice}}}[self.route]()") + more
    sources = {"__init__": example_sources["__init__"], "layers": ("layers.py", text)}
    with Sandbox(sources, read_assignment(), zygote=zygote) as submission:
        yield submission


@pytest.fixture(scope="module")
def routes(zygote, example_sources):
    with norm_of({**ROUTES, **UNAVAILABLE}, zygote, example_sources) as submission:
        yield submission


@pytest.mark.parametrize("route", ROUTES)
def test_a_shortcut_is_refused(route, routes):
    module = routes.build("layers.LayerNorm", 4, route)
    with pytest.raises(SubmissionRefusedError, match="must not be used in this assignment") as caught:
        module(torch.randn(2, 3, 4))
    assert "in forward" in caught.value.student_traceback


@pytest.mark.parametrize("route", UNAVAILABLE)
def test_kinds_of_tensors_with_operators_of_their_own_cannot_be_used(route, routes):
    module = routes.build("layers.LayerNorm", 4, route)
    with pytest.raises(ImportError, match=r"No module named 'torch\.nested\."):
        module(torch.randn(2, 3, 4))


STATIC = ("_C._jit_to_static_module", "_C.parse_ir", "_C._create_function_from_graph", "_C.Graph.create", "_C.Node.g_")


def test_what_calls_kernels_below_the_dispatcher_is_gone(zygote, example_sources):
    with norm_of({name: f"torch.{name}" for name in STATIC}, zygote, example_sources) as submission:
        for name in STATIC:
            module = submission.build("layers.LayerNorm", 4, name)
            with pytest.raises(AttributeError, match=f"no attribute '{name.rpartition('.')[2]}'"):
                module(torch.ones(4))


RULES = read_assignment().contract.forbidden
MADE_WITH = {"LayerNorm": "4", "RMSNorm": "4", "GroupNorm": "1, 3", "LocalResponseNorm": "2", "CrossMapLRN2d": "2"}
NAMED = {
    f"F.{name}": f"F.{name}({EXAMPLES['arguments'][name]})" for name in dir(F) if re.fullmatch(RULES.functions, name)
}
for name in filter(re.compile(RULES.classes).fullmatch, dir(nn)):
    size = MADE_WITH.get(name, "" if name.startswith("Lazy") else "3" if "Norm" in name else "4, 2")
    n_axes = 2 + int(name[-2]) if name.endswith("d") else 3
    arguments = ", ".join([f"torch.randn(2, 3{', 4' * (n_axes - 2)})"] * (1 if "Norm" in name or "LRN" in name else 3))
    NAMED[f"nn.{name}"] = f"nn.{name}({size}).eval()({arguments})"
STOPPED = ("torch.ao.nn.intrinsic.qat.ConvBn1d", "torch._decomp.decompositions._weight_norm_interface")
for name in (*STOPPED, *RULES.python, *RULES.always):
    NAMED[name] = f"use({name!r})"


@pytest.fixture(scope="module")
def named(zygote, example_sources):
    with norm_of(NAMED, zygote, example_sources, EXAMPLES["use"]) as submission:
        yield submission


@pytest.mark.parametrize("name", NAMED)
def test_all_that_the_assignment_forbids_is_refused(name, named):
    module = named.build("layers.LayerNorm", 4, name)
    with pytest.raises(SubmissionRefusedError, match="must not be used in this assignment"):
        module(torch.randn(2, 3, 4))


def test_a_part_of_a_layer_may_be_pytorchs_own(zygote, example_sources):
    text = MODULE.format(expression="Inside()(x)") + EXAMPLES["others"]
    sources, x = {"__init__": example_sources["__init__"], "layers": ("layers.py", text)}, torch.randn(2, 3, 4)
    assignment = read_assignment()
    with Sandbox(sources, assignment, zygote=zygote) as submission:
        norm, layer = submission.build("layers.LayerNorm", 4), submission.build("layers.EncoderLayer")
        for _ in range(2):  # what is refused in one component works in the other, again and again
            assert layer(x).shape == x.shape
            for other in (norm, submission.build("layers.FeedForward", 4, 8)):  # nothing is put aside in another call
                with pytest.raises(SubmissionRefusedError):
                    other(x)
        for way in ("whole", "taken at import"):
            with pytest.raises(SubmissionRefusedError, match="TransformerEncoderLayer"):
                layer(x, way)
    forbidden = replace(assignment.contract.forbidden, components=())
    strict = replace(assignment, contract=replace(assignment.contract, forbidden=forbidden))
    with Sandbox(sources, strict, zygote=zygote) as submission, pytest.raises(SubmissionRefusedError):
        submission.build("layers.EncoderLayer")(x)


def test_a_comparison_made_at_import_is_no_use(sandbox):
    text = MODULE.format(expression="torch.softmax(x * self.gain, -1)")
    text += "\n\nassert nn.LayerNorm(4)(torch.ones(2, 4)).shape == LayerNorm(4)(torch.ones(2, 4)).shape\n"
    submission = sandbox({"layers": text})
    for _ in range(2):
        assert submission.build("layers.LayerNorm", 4)(torch.ones(2, 4)).shape == (2, 4)
        submission.restart()


def test_who_uses_it_at_import_may_not_use_it_in_a_call(sandbox):
    submission = sandbox(
        {"layers": MODULE.format(expression="nn.LayerNorm(4)(x)") + "\n\nnn.LayerNorm(4)(torch.ones(4))\n"}
    )
    for _ in range(2):
        with pytest.raises(SubmissionRefusedError):
            submission.build("layers.LayerNorm", 4)(torch.ones(2, 4))
        submission.restart()


OTHER_NORMS = r"""linalg_\w*norm|(frobenius_|nuclear_)?norm(_except_dim)?|(embedding_)?renorm_?
    |native_norm|_sparse_\w*|norm\w*|\w*normal\w*|_foreach_norm"""


def test_every_kernel_of_these_kinds_is_replaced():
    of_these_kinds = {
        full
        for full in torch._C._dispatch_get_all_op_names()
        if re.search("norm|attention|transformer", name := full.partition("::")[2].partition(".")[0])
        and not re.fullmatch(OTHER_NORMS, name, re.VERBOSE)
    }
    replaced = {*kernels_named(read_assignment().contract.forbidden.kernels)}
    assert replaced - of_these_kinds == {"aten::corrcoef"} and of_these_kinds <= replaced
    some = ("aten::_native_batch_norm_legit.no_stats", "aten::native_layer_norm_backward", "quantized::layer_norm")
    assert {*some} <= of_these_kinds


def test_who_leaves_no_memory_is_not_said_to_have_undone_refusals(sandbox):
    submission = sandbox({"masks": EXAMPLES["hoarding"]}, memory_mb=256)
    submission.call("masks.causal_mask")
    submission.restart()
    assert submission.notices.unguarded == []


def test_kernels_refuse_after_an_ordinary_submission(sandbox):
    submission = sandbox({"decode": "def greedy_decode(x):\n    y = 2 * x\n    return y\n"})
    for _ in range(2):
        submission.build("layers.LayerNorm", 4)(torch.ones(2, 4))
        submission.build("layers.FeedForward", 4, 8)(torch.ones(2, 4))
        submission.apply("watch", "decode.greedy_decode", [torch.ones(1)], [[2, 2, "y", True]])  # as for E.6
        submission.restart()
    assert submission.notices.unguarded == [] and submission.notices.seen == []

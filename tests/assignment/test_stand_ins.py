"""The stand-ins' own laws, on which the tests of the components rely."""

import ast
import copy
import inspect
from contextlib import closing, nullcontext

import pytest
import torch

from assignment import stand_ins
from assignment.stand_ins.components import InputEmbedding
from autograder.running.in_process import InProcessSubmission
from autograder.sandbox.submission import Sandbox
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from ..conftest import examples_in

EXAMPLES = examples_in("assignment/stand_ins.toml")
ALLOWED = EXAMPLES["n_allowed"]

ARGUMENTS = {"d_model": 4, "n_heads": 2, "d_ff": 6, "n_layers": 3, "dropout": 0.25, "norm_first": True}
ARGUMENTS |= {"vocab_size": 7, "epsilon": 0.5, "max_length": 9}

CONTRACT = read_assignment().contract.modules


def given_attributes() -> list[tuple[str, str, str | None]]:
    """Class, attribute, and the argument that it is set to, of everything that the skeleton's constructors set."""
    found = []
    for module, names in CONTRACT.items():
        classes = ast.parse((ROOT / "student" / f"{module}.py").read_text(encoding="utf-8")).body
        for made in (node for node in classes if isinstance(node, ast.ClassDef) and node.name in names):
            if not issubclass(getattr(stand_ins, made.name, object), torch.nn.Module):
                continue
            [init] = [node for node in made.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
            for node in ast.walk(init):
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("self."):
                    value = node.value.id if isinstance(node.value, ast.Name) else None
                    found.append((made.name, node.targets[0].attr, value))
                elif isinstance(node, ast.Call) and ast.unparse(node.func) == "self.register_buffer":
                    found.append((made.name, node.args[0].value, None))
    return found


@pytest.mark.parametrize("kind, attribute, argument", given_attributes())
def test_a_stand_in_has_what_the_given_code_sets(kind, attribute, argument):
    """In the instance itself: an embedding's stand-in takes any other name for its table."""
    factory = getattr(stand_ins, kind)
    stand_ins.isolate("")  # as before any component is tested
    wanted = [name for name in inspect.signature(factory).parameters if name in ARGUMENTS]
    made = factory(**{name: ARGUMENTS[name] for name in wanted})
    assert attribute in {**vars(made), **made._modules, **made._buffers}
    if argument is not None:
        assert getattr(made, attribute) == ARGUMENTS[argument]


def test_a_copied_embedding_can_be_tied_to():
    for embedding in (made := InputEmbedding(5, 4), copy.deepcopy(made), copy.deepcopy(made).double()):
        tied = torch.nn.Linear(4, 5, bias=False)
        tied.weight = embedding.whatever.weight
        assert tied.weight is embedding.whatever and len(list(embedding.parameters())) == 1
        assert type(embedding(torch.tensor([1]))) is torch.Tensor


def test_what_a_component_inherits_from_stays():
    sources = {"__init__": ("", ""), "layers": ("layers.py", EXAMPLES["old_super"])}
    sources["model"] = ("model.py", "from .layers import DecoderLayer\ndef Encoder(): return DecoderLayer\n")
    submission = InProcessSubmission(sources, read_assignment())
    try:
        base, value = submission.build("layers.DecoderLayer", 4)(torch.ones(4))
        assert base is not stand_ins.EncoderLayer and value.shape == (4,)
        assert submission.call("model.Encoder") is stand_ins.DecoderLayer
    finally:
        submission.close()


@pytest.mark.parametrize("user", ALLOWED)
def test_what_is_built_of_a_component_does_not_do_its_work(zygote, user):
    """Its stand-in raises, whatever way leads to it, in the sandbox and at home."""
    names = {name.partition(".") for name in ALLOWED}
    texts = {name: f"def {own}(name):\n    from .using import use\n    use(name)\n" for name, _, own in names}
    texts |= {"using": EXAMPLES["using"], "__init__": ""}
    sources = {name: (f"{name}.py", text) for name, text in texts.items()}
    home, sandbox = InProcessSubmission(sources, read_assignment()), Sandbox(sources, read_assignment(), zygote=zygote)
    with closing(home), sandbox:
        for number, kind in enumerate(["MultiHeadedAttention", "Sub", "EncoderLayer", "Encoder"]):
            refused = f"{user} uses {kind.replace('Sub', 'MultiHeadedAttention')}, which is built of it"
            for submission in (home, sandbox):
                with nullcontext() if number < ALLOWED[user] else pytest.raises(Exception, match=refused):
                    submission.call(user, kind)

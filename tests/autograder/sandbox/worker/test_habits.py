"""Ordinary habits, some of which cost marks under other graders, work in a worker that can open no file.

A student's own run comes out the same: what a worker lacks fails there in the same words. Before a submission runs, its
imports are loaded; settings that one of its modules makes for the whole process are taken back.
"""

import textwrap

import pytest
import torch
from packaging.requirements import Requirement

from autograder.sandbox.worker.loading import PACKAGES
from foundation.places import ROOT
from release import contents
from release.packing import read_requirements

CALLED = "decode.greedy_decode"
COMPONENT = "\n\ndef greedy_decode(x):\n    return habit(x)\n"
DOUBLED = "\ndef habit(x):\n    return 2 * x\n"
IMPORTED = """
import collections, copy, dataclasses, enum, logging, os, pathlib, sys, traceback, typing, warnings
import matplotlib.pyplot as plt
import torch
from matplotlib import colormaps
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

@dataclasses.dataclass(frozen=True, order=True)
class Sizes:
    d_model: int = 4
    heads: "typing.Optional[int]" = None
"""
IN_A_CALL = {  # bodies of a function of x, a tensor
    "an optimizer and a scheduler": """
        model = nn.Linear(3, 3)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        scheduler = LambdaLR(optimizer, lambda step: 1 / (step + 1))
        model(x).sum().backward()
        optimizer.step(), scheduler.step()
    """,
    "a loader": "list(DataLoader(TensorDataset(x), batch_size=2, shuffle=True))",
    "a printed traceback": """
        try:
            x @ x.new_zeros(17, 3)
        except RuntimeError:
            traceback.print_exc()
            logging.exception("failed")
    """,
    "a printed progress bar": "sum(tqdm([1, 2, 3], desc='steps'))",
    "a traced function": "torch.jit.trace(lambda y: y + 1, x)(x)",
    "classes of its own": """
        pair = typing.NamedTuple("Pair", [("first", int)])
        kind = enum.Enum("Kind", "ENCODER DECODER")
        point = collections.namedtuple("Point", "x y", defaults=[1])
        print(Sizes(), pair(1), kind.ENCODER, point(1), hasattr(Sizes, "__doc__"))
    """,
    "parts by name": """
        model = nn.ModuleDict({f"layer_{i}": nn.Linear(2, 2) for i in range(2)})
        setattr(model, "layer_" + str(3), nn.Linear(2, 2))
        print(model, [getattr(model, f"layer_{i}") for i in range(2)], getattr(model, "none", None))
        copy.deepcopy(model).load_state_dict(model.state_dict())
    """,
    "its own file": """
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path += [here, str(pathlib.Path(__file__).resolve().parent)]
        assert (__file__, here, os.getcwd()) == ("decode.py", "/", "/")
    """,
}
AT_IMPORT = {
    "a plot's style": "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.rcParams['font.size'] = 9",
    "a picture": "import matplotlib\nmatplotlib.use('svg')\nimport matplotlib.pyplot as plt\n"
    "plt.plot([1, 2])\nplt.tight_layout()\nplt.savefig('plot.png')\nplt.close()\nmatplotlib.use('Agg')",
    "a log file": "import logging\nlogging.basicConfig(filename='debug.log', force=True)\nlogging.warning('begun')",
    "a file": "with open('notes.txt', 'w', encoding='utf-8') as file:\n    file.write('begun')",
    "a part that is asked for": "import numpy as np\nnp.typing.NDArray\nfrom json import(  # as text\n    decoder)",
    "arrays": "import numpy as np\nnp.save('a.npy', np.ones(2))\nnp.savez('b.npz', a=np.ones(2))",
    "a checkpoint": "import torch\ntorch.save({}, 'model.pt')",
    "a folder that is not there": "import os\nassert not os.path.isdir('data') and not os.access('data', os.R_OK)",
    "a file that is not there": "try:\n    open('config.json')\nexcept FileNotFoundError:\n    pass",
    "a magic": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "a display": "from IPython.display import clear_output\nimport ipywidgets\ndisplay(1)",
    "a progress bar": "from tqdm.auto import tqdm, trange\nfrom tqdm.notebook import tqdm as bar",
    "BLEU": "from sacrebleu.metrics import BLEU, CHRF\nBLEU(tokenize='none')",
    "an import as it is needed": "try:\n    import einops\nexcept ImportError:\n    einops = None",
    "a compiled function": "import torch\n@torch.compile\ndef double(x): return 2 * x\nassert double(1) == 2",
}


TOOLS = "def double(x):\n    return 2 * x\n"
HELPER = "from .tools import double as habit"
WORKS = {habit: text + DOUBLED for habit, text in AT_IMPORT.items()} | {"a helper": HELPER}
for name, body in IN_A_CALL.items():
    WORKS[name] = f"{IMPORTED}\ndef habit(x):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n    return 2 * x\n"


@pytest.mark.parametrize("text", WORKS.values(), ids=WORKS)
def test_an_ordinary_habit_works_and_is_not_listed(text: str, sandbox):
    submission = sandbox({"decode": text + COMPONENT, "tools": TOOLS})
    assert torch.equal(submission.call(CALLED, torch.ones(4, 3)), torch.full((4, 3), 2.0))
    submission.restart()
    assert [use for use in submission.notices.seen if "torch.jit" not in use[2]] == []  # the text has that, too
    assert "Permission" not in submission.output and "Operation not permitted" not in submission.output
    assert text != WORKS["a log file"] or submission.output == "(graded, files are not written: '/debug.log')\n"


REFUSED = {
    "import einops": "No module named 'einops' when graded",
    "from jaxtyping import Float": "No module named 'jaxtyping' when graded",
    "import tkinter": "No module named 'tkinter' when graded",
    "from torch.utils.tensorboard import SummaryWriter": "No module named 'torch.utils.tensorboard' when graded",
    "import layers": "write `from .layers import …`",
    "from student.layers import LayerNorm": "write `from .layers import …`",
    "exec('import einops')": "No module named 'einops' when graded",
    "from torch import no_such_name": "cannot import name 'no_such_name' from 'torch'",
}


@pytest.mark.parametrize("text, words", REFUSED.items(), ids=REFUSED)
def test_what_cannot_work_fails_in_the_same_words(text: str, words: str, ways):
    reasons = []
    for submission in ways({"decode": text + DOUBLED + COMPONENT}):
        with pytest.raises(ImportError) as caught:
            submission.call(CALLED, torch.ones(3))
        reasons.append(str(caught.value).partition(" (")[0])
    assert reasons[0] == reasons[1] and words in reasons[0]


UNIMPORTABLE = {  # a helper, and how using it fails
    "1 / 0": "division by zero$",
    "import math\nmath.nothing": "AttributeError: module 'math' has no attribute 'nothing'$",
    "raise AttributeError": "^AttributeError: $",
    "import einops": "'einops' when graded",
    "from .missing import double": r"there is no missing\.py",
}


@pytest.mark.parametrize("text, words", UNIMPORTABLE.items(), ids=UNIMPORTABLE)
def test_a_helper_that_cannot_be_imported_raises_its_own_error_where_it_is_used(text: str, words: str, ways):
    using = "from .between import *\nfrom .between import double as habit" + COMPONENT
    for submission in ways({"decode": using, "between": "from .tools import double", "tools": text}):
        for _ in range(2):
            with pytest.raises(Exception, match=words) as caught:
                submission.call(CALLED, torch.ones(3))
            paths = str([entry.path for entry in caught.traceback])
            assert "tools.py" in getattr(caught.value, "student_traceback", paths)


SETTINGS = {
    "dtype": "torch.set_default_dtype(torch.float64)",
    "gradients": "torch.set_grad_enabled(False)",
    "seed": "torch.manual_seed(0)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "device": "torch.set_default_device('meta')",
    "warnings": "import warnings; warnings.simplefilter('ignore')",
    "autocast": "torch.autocast('cpu', dtype=torch.bfloat16).__enter__()",
    "output": "import io, sys; sys.stdout = sys.stderr = io.StringIO()",
    "recursion": "import sys; sys.setrecursionlimit(150)",
}


def test_settings_of_one_module_cost_no_other_component(sandbox):
    submission = sandbox({"attention": "\n".join(["import torch", *SETTINGS.values()])})
    norm = submission.build("layers.LayerNorm", 4)
    norm(torch.randn(2, 4)).sum().backward()
    assert norm.p0.dtype == torch.float32 and norm.p0.grad is not None
    left = "torch.are_deterministic_algorithms_enabled(), torch.is_autocast_enabled('cpu'), torch.empty(0).is_meta"
    left += ", sys.getrecursionlimit() == 150, 'StringIO' in str(type(sys.stdout))"
    assert submission.call(CALLED, f"[{left}]") == [False] * 5


def test_what_is_available_is_what_students_and_gradescope_install():
    available = {name.lower() for name in PACKAGES}
    students = {Requirement(text).name for text in read_requirements(ROOT)}
    assert students - available == {"jupyter"}
    assert available - students == {"ipython", "ipywidgets", "typing_extensions"}, "jupyter and torch bring them"
    assert available - {*contents.PACKAGES} == {"typing_extensions"}, "torch brings it"

"""The package whose model is trained and used; a fresh model of it, its optimizer, and the learning rate over time."""

import math
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from autograder.intake.sources import RefusedError, decode
from foundation.command_line import UserError

from .config import Config

if TYPE_CHECKING:  # what a package has to offer
    from reference.data import Batch as Batch
    from reference.data import Pair as Pair
    from reference.model import Transformer as Transformer
    from reference.vocab import Vocabulary as Vocabulary
else:
    Batch = Pair = Transformer = Vocabulary = Any

MODULES = ("attention", "data", "decode", "embedding", "layers", "masks", "model", "train", "vocab")


class BrokenModuleError(UserError):
    """A module of the package cannot be imported; the message names file, line and reason."""


class Package:
    """The package of a model: `reference`, `student`, or any other with the contract's modules.

        package = Package("student")
        package.model.Transformer     # what its module has, as it is imported now

    Modules are looked up at each use, so that in a notebook what was changed and imported anew counts. A module that
    cannot be imported is a mistake of the user, answered in one line.
    """

    def __init__(self, name: str) -> None:
        """Takes the name by which the package is imported."""
        self.name = name

    def __getattr__(self, module: str) -> Any:
        """Imports one of MODULES. Raises: BrokenModuleError."""
        if module not in MODULES:
            raise AttributeError(module)
        try:
            return import_module(f"{self.name}.{module}")
        except (Exception, SystemExit) as error:  # whatever the file does when it is imported
            if isinstance(error, SyntaxError) and (problem := self._not_text(error)):
                raise BrokenModuleError(problem) from error
            place, problem = self.place_of(error), f"{type(error).__name__}: {error}"
            if isinstance(error, ModuleNotFoundError) and str(error.name).startswith(f"{self.name}."):
                problem = f"there is no {str(error.name).replace('.', '/')}.py"
            elif not place:
                place = f"{self.name}/{module}.py"
            raise BrokenModuleError(f"{place}: {problem}" if place else problem) from error

    def _not_text(self, error: SyntaxError) -> str:
        """Names the file that is no text in UTF-8; "" if it is. Python itself may name the file that imports it."""
        for path in [Path(error.filename)] if error.filename else sorted(self.folder.glob("*.py")):
            try:
                if "\0" in decode(path.read_bytes()):
                    return f"{self.name}/{path.name}: it has NUL characters; save it as UTF-8"
            except RefusedError as refused:
                return f"{self.name}/{path.name}: {refused}"
        return ""

    @property
    def folder(self) -> Path:
        """The folder of the package, whose `__init__.py` may be missing or broken."""
        spec = find_spec(self.name)
        if spec is None or not spec.submodule_search_locations:
            raise BrokenModuleError(f"there is no package {self.name}")
        return Path(next(iter(spec.submodule_search_locations)))

    def place_of(self, error: BaseException) -> str:
        """Returns the file and the line of the package's own code that was reached last; "" if there is none.

        A file that is no Python, such as one in `given/` that was changed, may be another's.
        """
        if isinstance(error, SyntaxError) and error.filename:
            path = Path(error.filename)
            return f"{path.parent.name}/{path.name}, line {error.lineno}"
        steps = traceback.walk_tb(error.__traceback__)
        own = [(frame, line) for frame, line in steps if frame.f_globals.get("__package__") == self.name]
        return f"{self.name}/{Path(own[-1][0].f_code.co_filename).name}, line {own[-1][1]}" if own else ""


@dataclass
class Setup:
    """All that a model needs beside its weights."""

    package: Package
    config: Config
    src_vocab: Vocabulary
    tgt_vocab: Vocabulary
    diagonal: Tensor | None  # the encoder's diagonal mask at its greatest length

    def build_model(self) -> Transformer:
        """Builds a fresh model; initialisation and tying happen here, so that they work with any layout inside it.

        All modules except `nn.Linear` and embeddings keep their default initialisation; `nn.Linear`, too, with
        "pytorch": the residual connections of post-norm layers let more through where matrices begin small.
        """
        package, config = self.package, self.config
        sizes = config.d_model, config.n_heads, config.d_ff, config.n_layers, config.dropout, config.norm_first
        model: Transformer = package.model.Transformer(len(self.src_vocab), len(self.tgt_vocab), *sizes)
        tables = embedding_tables(package, model)
        for module in model.modules():
            if isinstance(module, nn.Linear) and config.initialisation == "xavier":
                nn.init.xavier_uniform_(module.weight)
            elif isinstance(module, nn.Linear) and config.initialisation == "kaiming":
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        for table in tables:
            # Times sqrt(d_model), this gives variance 1: about that of the positions that are added.
            nn.init.normal_(table, std=config.d_model**-0.5)
        if config.share_embeddings:
            share_embeddings(model, tables)
        if config.tie_output:
            model.output_projection.weight = tables[-1]
        if config.inner_dropout:
            from .extras.reference_layers import add_inner_dropout

            add_inner_dropout(model, package, config.inner_dropout)
        return model

    def batch(self, pairs: Sequence[Pair], device: torch.device | str = "cpu") -> Batch:
        """Makes a batch of sentence pairs."""
        ids = [self.src_vocab.encode(pair[0]) for pair in pairs], [self.tgt_vocab.encode(pair[1]) for pair in pairs]
        return self.package.data.Batch.from_ids(*ids, self.diagonal).to(device)


def embedding_tables(package: Package, model: Transformer) -> list[nn.Parameter]:
    """Returns the learned tables of source and target, the target's last."""
    embeddings = [part for part in model.modules() if isinstance(part, package.embedding.InputEmbedding)]
    tables = [table for embedding in embeddings for table in embedding.parameters()]
    if hasattr(model, "tgt_embedding"):  # a model may create its parts in any order
        target = next(model.tgt_embedding.parameters())
        tables = [table for table in tables if table is not target] + [target]
    return tables


def share_embeddings(model: Transformer, tables: Sequence[nn.Parameter]) -> None:
    """Puts the last of the tables, the target's, in the place of the others; both sides need the same vocabulary."""
    *others, target = tables
    for module in list(model.modules()):
        for name, parameter in list(module.named_parameters(recurse=False)):
            if any(parameter is other for other in others):
                setattr(module, name, target)


def make_optimizer(config: Config, model: nn.Module) -> torch.optim.Adam:
    """Creates Adam (Kingma and Ba 2015), or AdamW if there is a `weight_decay`; it decays matrices, not biases.

    Both take their step in one function (`fused`), three times as fast as a loop over the parameters.
    """
    options: dict[str, Any] = {"lr": config.learning_rate, "eps": config.adam_epsilon, "fused": True}
    if config.weight_decay == 0:
        return torch.optim.Adam(model.parameters(), **options)
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, **options)


def make_scheduler(optimizer: torch.optim.Optimizer, config: Config, total_steps: int) -> LambdaLR:
    """Creates the scheduler; its `step()` is called after each step of the optimizer.

    It multiplies `learning_rate`, the highest rate, by a factor that rises linearly over `warmup_steps` steps, and then

    constant      stays 1
    inverse_sqrt  is sqrt(warmup_steps / step), the shape of Vaswani et al. 2017, equation 3
    cosine        falls to 0 along half a cosine (Loshchilov and Hutter 2017, equation 5)
    linear        falls to 0 along a straight line
    """
    warmup_steps = config.warmup_steps

    def factor(n_done: int) -> float:
        step = n_done + 1
        if step <= warmup_steps:
            return step / warmup_steps
        progress = min(1.0, (step - warmup_steps) / max(1, total_steps - warmup_steps))
        return {
            "constant": 1.0,
            "inverse_sqrt": math.sqrt(max(warmup_steps, 1) / step),
            "cosine": 0.5 * (1.0 + math.cos(math.pi * progress)),
            "linear": 1.0 - progress,
        }[config.schedule]

    return LambdaLR(optimizer, factor)

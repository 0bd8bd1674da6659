"""The package whose model is trained and used; a fresh model of it, its optimizer, and the learning rate over time."""

from __future__ import annotations

import math
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from foundation.command_line import UserError

from .config import Config, ConfigError

if TYPE_CHECKING:  # for checkers of types: what a package has to offer
    from reference.data import Batch as Batch
    from reference.data import Pair as Pair
    from reference.model import Transformer as Transformer
    from reference.vocab import Vocabulary as Vocabulary

MODULES = ("attention", "data", "decode", "embedding", "layers", "masks", "model", "train", "vocab")
NO_NAME = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")


class BrokenModuleError(UserError):
    """A module of the package cannot be imported, or lacks a name; the message names file, line and reason."""


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
        except Exception as error:  # whatever the file does when it is imported
            raise BrokenModuleError(self._explain(error, module)) from error

    @property
    def folder(self) -> Path:
        """The folder of the package, which may have lost its `__init__.py`."""
        package = import_module(self.name)
        return Path(package.__file__).parent if package.__file__ else Path(package.__path__[0])

    def _explain(self, error: Exception, module: str) -> str:
        """Returns in one line why a module cannot be imported: the file, its line, and the error."""
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(f"{self.name}."):
            return f"{str(error.name).replace('.', '/')}.py is missing{copy_of(error.name)}"
        if isinstance(error, ImportError) and (lacked := NO_NAME.match(str(error))):
            file = f"{lacked[2].replace('.', '/')}.py"
            if "most likely due to a circular import" in str(error):
                return f"{file} is imported by a file that it imports itself: {lacked[1]} does not exist yet"
            return f"{file} has no {lacked[1]}{copy_of(lacked[2])}"
        if isinstance(error, SyntaxError):
            place = f"{self.name}/{Path(error.filename or module).with_suffix('.py').name}"
            if "codec can't decode" in error.msg or "null bytes" in error.msg:
                return f"{place}: it is not UTF-8 text; save it as UTF-8"
            return f"{place}, line {error.lineno}: this is not Python: {error.msg}"
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        right = f"; write `from .{missing} import …`" if missing in MODULES else ""
        return f"{self.place_of(error) or f'{self.name}/{module}.py'}: {type(error).__name__}: {error}{right}"

    def place_of(self, error: Exception) -> str:
        """Returns the file and the line of the package's own code that was reached last; "" if there is none."""
        steps = traceback.walk_tb(error.__traceback__)
        own = [(frame, line) for frame, line in steps if frame.f_globals.get("__package__") == self.name]
        return f"{self.name}/{Path(own[-1][0].f_code.co_filename).name}, line {own[-1][1]}" if own else ""

    def without_name(self, error: AttributeError) -> str:
        """Returns in one line which file lacks a name, if one of the package's modules does; "" otherwise."""
        module = str(getattr(error.obj, "__name__", ""))
        is_ours = isinstance(error.obj, ModuleType) and module.startswith(f"{self.name}.")
        return f"{module.replace('.', '/')}.py has no {error.name}{copy_of(module)}" if is_ours else ""


def copy_of(module: str | None) -> str:
    """Returns where a student finds a file that was handed out; "" for another file."""
    is_ours = str(module).rpartition(".")[2] in MODULES
    return "; the archive that was handed out has a copy" if is_ours else ""


@dataclass
class Setup:
    """All that a model needs beside its weights."""

    package: Package
    config: Config
    src_vocab: Vocabulary
    tgt_vocab: Vocabulary
    diagonal: Tensor | None  # the encoder's diagonal mask at its greatest length

    @classmethod
    def fresh(cls, package: Package, config: Config, counts: tuple[Counter[str], Counter[str]]) -> Setup:
        """Makes the vocabularies from how often each token occurs in the sources, and in the targets."""
        if config.share_embeddings:
            counts = counts[0] + counts[1], counts[0] + counts[1]
        src_vocab, tgt_vocab = (package.vocab.Vocabulary.from_counts(side, config.min_count) for side in counts)
        diagonal = None
        if config.diagonal_width:
            length, generator = package.data.LONGEST["source"], torch.Generator().manual_seed(config.seed)
            diagonal = package.masks.diagonal_mask(length, config.diagonal_width, config.diagonal_random, generator)
        return Setup(package, config, src_vocab, tgt_vocab, diagonal)

    def build_model(self) -> Transformer:
        """Builds a fresh model."""
        return build_model(self.package, self.config, len(self.src_vocab), len(self.tgt_vocab))

    def batch(self, pairs: Sequence[Pair], device: torch.device | str = "cpu") -> Batch:
        """Makes a batch of sentence pairs."""
        ids = [self.src_vocab.encode(pair[0]) for pair in pairs], [self.tgt_vocab.encode(pair[1]) for pair in pairs]
        return self.package.data.Batch.from_ids(*ids, self.diagonal).to(device)


def build_model(package: Package, config: Config, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    """Builds a model; initialisation and tying happen here, so that they work with any layout inside the model.

    All modules except `nn.Linear` and embeddings keep their default initialisation.
    """
    sizes = config.d_model, config.n_heads, config.d_ff, config.n_layers
    model: Transformer = package.model.Transformer(
        src_vocab_size, tgt_vocab_size, *sizes, config.dropout, config.norm_first
    )
    tables = embedding_tables(package, model)
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            if config.initialisation == "xavier":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
    for table in tables:
        # Times sqrt(d_model), this gives variance 1: about that of the positions that are added.
        nn.init.normal_(table, std=config.d_model**-0.5)
    if config.share_embeddings:
        share_embeddings(model, tables)
    if config.tie_output:
        tie_output(model, tables[-1])
    if config.inner_dropout:
        extra("reference_layers", "inner_dropout").add_inner_dropout(model, package, config.inner_dropout)
    return model


def extra(module: str, setting: str) -> Any:
    """Imports a module of `extras/`, which students do not have. Raises: ConfigError naming who needs it."""
    try:
        return import_module(f"given.extras.{module}")
    except ModuleNotFoundError:
        raise ConfigError(f"{setting}: it needs given/extras/{module}.py, which only instructors have") from None


def embedding_tables(package: Package, model: Transformer) -> list[nn.Parameter]:
    """Returns the learned tables of source and target, the target's last."""
    embeddings = [part for part in model.modules() if isinstance(part, package.embedding.InputEmbedding)]
    tables = [table for embedding in embeddings for table in embedding.parameters()]
    if hasattr(model, "tgt_embedding"):  # a model may create its parts in any order
        target = next(model.tgt_embedding.parameters())
        tables = [table for table in tables if table is not target] + [target]
    return tables


def tie_output(model: Transformer, table: nn.Parameter) -> None:
    """Makes the target's table the matrix of the output projection, too.

    Raises: ConfigError if either is laid out otherwise than here.
    """
    projection = getattr(model, "output_projection", None)
    if not isinstance(projection, nn.Linear) or projection.weight.shape != table.shape:
        raise ConfigError("tie_output: needs an nn.Linear `output_projection`; train with --no-tie-output")
    projection.weight = table


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

"""Names in the text of a module that a person should know of, by `[contract.forbidden]`.

Mentions of what students must write themselves are noted at home and in grading; where one is used, the worker raises.
Uses of internals, which may be a way around that, are allowed, and listed for a reader, with what the worker has seen
of them (`sandbox/worker/shortcuts.py` and `audit.py`).
"""

import ast
import builtins
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import chain

from foundation.assignment_tables import NO_TEXT, Forbidden

from ..sandbox.worker.failures import IN_GRAPH
from .meanings import OTHERS, handed_on, imports_in, names_of, nodes_of, own_names, paths_in, public_names
from .sources import Definition, Locate, Sources, in_module, tree_of

CLASSES = "builtins", "types", "torch", "torch.nn"
"""Modules that have nearly all classes whose attributes a submission meets."""
Use = tuple[str, int, str]  # module, line, and name of what is used
EARNS_NOTHING = "{} then earns nothing"
"""Ends a note on what is forbidden in a component."""
MOST_INTERNALS, MOST_AT_HOME, MAX_CODE_SHOWN = 500, 20, 160
HARMLESS = re.compile(r"torch\._[a-z]\w*|torch\.load|.*\.vars")
"""Names that come after all others, since there are hundreds, or many of one."""
FIELD, ATTRIBUTE = re.compile(r"\{[^{}]+\}"), re.compile(r"\.\w+")
"""In a text for `str.format`, which reads attributes."""


def find_mentions(sources: Sources, forbidden: Forbidden, locate: Locate = in_module) -> Iterator[str]:
    """Notes on names that the contract forbids; `locate` has where a student finds a line, "" for lines of others."""
    pattern = re.compile("|".join(filter(None, [forbidden.classes, forbidden.functions])) or NO_TEXT)
    always = {name.rpartition(".")[2] for name in forbidden.always}
    somewhere = ", ".join(name.rpartition(".")[2] for name in forbidden.components)
    for module, (_, text) in sources.items():
        named = [(node.lineno, path) for node, path in paths_in(text, sources) if not isinstance(node, ast.Call)]
        used = {path for _, path in named}
        named += [(each.line, path) for each in imports_in(text) for path in each.wholes if path not in used]
        tops = [top for top in definitions_in(text) if f"{module}.{top.name}" in forbidden.components]
        for line, path in named:
            name = path.rpartition(".")[2]
            if path.startswith("torch.") and pattern.fullmatch(name) and (place := locate(module, line)):
                refused = f"it in {somewhere}" if somewhere and name not in always else "a task that uses it"
                for top in tops:
                    if top.lineno <= line <= (top.end_lineno or line):
                        refused = f"it here, and {EARNS_NOTHING.format(top.name)}"
                yield f"note: {place}: {path}; grading refuses {refused}"


def definitions_in(text: str) -> list[Definition]:
    """The functions and classes of a module, in order."""
    tree = tree_of(text)
    return [node for node in tree.body if isinstance(node, Definition)] if isinstance(tree, ast.Module) else []


def find_repeated(sources: Sources, locate: Locate = in_module) -> Iterator[str]:
    """Notes on functions and classes that a module has twice, of which the last one counts."""
    for module, (_, text) in sources.items():
        first = dict[str, int]()
        for top in definitions_in(text):
            if top.name in first and not top.decorator_list:
                again, before = locate(module, top.lineno), locate(module, first[top.name])
                yield f"note: {again}: {top.name} is defined again; this one counts, not that in {before}"
            first[top.name] = top.lineno


def find_internals(
    sources: Sources,
    modules: Collection[str],
    forbidden: Forbidden,
    release: Sources,
    locate: Locate = in_module,
    seen: Iterable[Use] = (),
    in_text: Iterable[Use] | None = None,
) -> list[str]:
    """The uses of internals in some modules, one for each line, with all names; in the text not those handed out.

    Such as "torch._refs.add in layers.py, line 3: x = torch._refs.add(y, 1)". `seen` has uses that a worker has seen:
    module, line, and name; they come first, and harmless ones last. Before these are names that nothing has: a flood of
    them cannot hide a true one. Of equally grave ones the first of each kind come before the others, so that many uses
    of one cannot hide another. What is left out is counted. `in_text` has what `uses_in` finds, if that has been done.
    """
    seen = [use for use in seen if use[0] in sources]
    lines = {module: sources[module][1].split("\n") for module in {*modules, *(module for module, *_ in seen)}}
    uses = defaultdict[tuple[str, int], dict[str, bool]](dict)  # names, and whether each is harmless
    in_text = uses_in(sources, modules, forbidden) if in_text is None else in_text

    @cache
    def given(module: str) -> set[str]:
        """The lines that were handed out, as far as they use internals."""
        text = release.get(module, release.get(module.rpartition(".")[2], ("", "")))[1]  # in a model of one's own, too
        return {text.split("\n")[line - 1].strip() for line, _ in internals_in(text, forbidden.listed, release)}

    # What a worker has seen is not excused: names in a line may mean something else, and another text may have run.
    new = (use for use in in_text if lines[use[0]][use[1] - 1].strip() not in given(use[0]))
    for module, line, name in (*seen, *new):
        uses[module, line].setdefault(name, bool(HARMLESS.fullmatch(name)))
    counts = Counter[str]()
    ranked: list[tuple[bool, bool, int, str]] = []
    for (module, line), names in uses.items():
        kept: list[str] = []  # without those that are a part of another one
        for name in sorted(names, key=lambda name: (names[name], -len(name), name)):
            if not any(f".{name.strip('.')}." in f".{other}." for other in kept):
                kept.append(name)
        code = lines[module][line - 1] if 0 < line <= len(lines[module]) else ""
        text = f"{', '.join(kept)} in {locate(module, line)}"
        if not kept[0].endswith(IN_GRAPH):  # of an operation nobody knows the line
            text = f"{text}: {shown(code, kept[0])}"
        kind = ".".join(kept[0].split(".")[:2])
        ranked.append((names[kept[0]], not any(map(is_known, kept)), counts[kind], text))
        counts[kind] += 1
    texts = [use[-1] for use in sorted(ranked, key=lambda use: use[:-1])]
    more = len(texts) - MOST_INTERNALS
    return [*texts[:MOST_INTERNALS], f"{more} more uses of internals"] if more > 0 else texts


def uses_in(sources: Sources, modules: Collection[str], forbidden: Forbidden) -> Iterator[Use]:
    """The uses of internals in the text of some modules."""
    for module in sorted(modules):
        yield from ((module, *use) for use in internals_in(sources[module][1], forbidden.listed, sources))


def is_known(name: str) -> bool:
    """True of what Python or PyTorch has: an attribute of a class ("." and its name), or what begins with a module."""
    first, _, rest = name.partition(".")
    second = rest.partition(".")[0]
    if not first:
        return second in attributes_of_classes()
    if not second or first not in sys.modules or second in names_of(first):
        return True
    with suppress(Exception):  # a part of a package that is not loaded, perhaps
        return find_spec(f"{first}.{second}") is not None
    return False


@cache
def attributes_of_classes() -> frozenset[str]:
    """The attributes of the classes in Python's and PyTorch's chief modules."""
    classes = [x for name in CLASSES for x in vars(sys.modules.get(name, builtins)).values() if isinstance(x, type)]
    return frozenset(chain.from_iterable([*dir(kind), *getattr(kind, "__annotations__", ())] for kind in classes))


def to_be_read(
    sources: Sources, modules: Collection[str], forbidden: Forbidden, locate: Locate = in_module
) -> Iterator[str]:
    """Notes for a student on what `find_internals` lists of modules that were not handed out complete."""
    for use in find_internals(sources, modules, forbidden, {}, locate)[:MOST_AT_HOME]:
        yield f"to be read by a person when graded: {use}"


def shown(code: str, name: str) -> str:
    """A line of code, or of a long one what is around a name."""
    code = " ".join(code.split())
    at = max(0, code.find(name.rpartition(".")[2]) - MAX_CODE_SHOWN // 2)
    start = at if len(code) > MAX_CODE_SHOWN else 0
    return "…" * (start > 0) + code[start : start + MAX_CODE_SHOWN] + "…" * (start + MAX_CODE_SHOWN < len(code))


def internals_in(text: str, pattern: str, sources: Sources) -> list[tuple[int, str]]:
    """Line and name of the internals that a module names, and of attributes that a pattern takes from what it meets.

    What a module's attribute leads to by another name, the worker tells. Of a star import only the names count that
    are used, unless other code may get a module of the submission, and with it any name in it.
    """
    is_internal = cache(re.compile(pattern).fullmatch)
    own = own_names(sources)
    may_be_asked = cache(lambda: any(handed_on(other, sources) for _, other in sources.values()))
    uses, types = set(), set[int]()
    for node, path in paths_in(text, sources):
        types |= {id(node)} if path == "builtins.type" else set()
        names = [path, f".{node.attr}"] if isinstance(node, ast.Attribute) else [path]
        # A chain of attributes may stand on several lines: the name itself is at the end of it.
        line = (node.func if isinstance(node, ast.Call) else node).end_lineno or node.lineno
        uses |= {(line, name) for name in names if name and (name == OTHERS or is_internal(name))}
    shadowed = {getattr(part, field, "") for part in nodes_of(text) for field in ("name", "asname", "arg", "rest")}
    stored = [part for part in nodes_of(text) if isinstance(getattr(part, "ctx", None), ast.Store)]
    shadowed |= {getattr(part, field, "") for part in stored for field in ("id", "attr")}  # an own module's, too
    plain = {*dir(builtins)} - shadowed if "*" not in shadowed else set()
    for part in nodes_of(text):
        match part:
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name[:2] == "__":
                uses |= {(part.lineno, f".{name}")} if is_internal(f".{name}") else set()
            case ast.Constant(value=str(words)):
                attributes = ATTRIBUTE.findall(" ".join(FIELD.findall(words)))
                uses |= {(part.lineno, name) for name in attributes if is_internal(name)}
            case ast.Call(func=called, args=[_, _, _]) if id(called) in types:
                uses.add((part.lineno, "builtins.type"))
            case ast.ClassDef(bases=bases) if types.intersection(map(id, bases)):
                uses.add((part.lineno, "builtins.type"))
            case ast.MatchClass(kwd_attrs=[_, *_] as attributes):
                uses |= {(part.lineno, f".{name}") for name in attributes}
            case ast.MatchClass(patterns=[_, *_], cls=kind) if getattr(kind, "id", "") not in plain:
                uses.add((part.lineno, ".__match_args__"))
            case ast.MatchValue(value=ast.Attribute(attr=name)):
                uses.add((part.lineno, f".{name}"))
            case ast.MatchMapping(keys=keys):
                uses |= {(part.lineno, f".{key.attr}") for key in keys if isinstance(key, ast.Attribute)}
    for imported in imports_in(text):
        uses |= {(imported.line, f".{name}") for name in imported.names if is_internal(f".{name}")}
        if not imported.level:
            are_all = "*" in imported.names and not imported.module.startswith("torch")
            public = public_names(imported.module) if are_all and may_be_asked() else []
            names = [*imported.wholes, *(f"{imported.module}.{name}" for name in public)]
            uses |= {(imported.line, name) for name in names if is_internal(name)}
    return sorted(use for use in uses if use[1].split(".")[0] not in own)

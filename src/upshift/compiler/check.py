"""Find the kind of every value of a function, or the reason and line for which it is not compiled. No LLVM is needed.

A block of operations is followed once for every set of kinds that its variables come with: `total = 0` before a loop
that adds floats gives two *versions* of the loop, one where `total` is an int and one where it is a float. So nothing
has to be merged: a variable is of one kind in each version, or not set there at all. What cells hold (items of lists,
fields, results of functions) is learnt while going over all versions, until nothing new is learnt.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .captures import Captures, Home
from .code import Block, Code, Op, Parameters, Shape
from .kinds import (
    STATUS,
    UNSET,
    Array,
    Cell,
    Closure,
    Compound,
    Either,
    Fields,
    Generator,
    Items,
    Kind,
    List,
    Literal,
    New,
    Object,
    Range,
    Refused,
    Scalar,
    Static,
    Tuple,
    items_in,
    key_of,
    matches,
    plain,
    unify,
    ways,
)
from .prelude.tables import Dict

Emit = Callable[..., Any]
OPERATIONS: dict[str, Callable[[Walk, Op], None]] = {}
"""What each operation does to kinds, by its word."""
FORCING: dict[str, Callable[[Walk, Op], None]] = {}
"""What computes arrays that were put off, before an operation that cannot wait for them."""
KEEP_NEW = frozenset({"move", "attr", "setattr", "method", "call", "super", "truth", "branch", "const", "jump"})
"""What does not put an object that is being made where others find it, or looks itself whether it does."""
TAKES_ALL = frozenset({"move", "tuple", "list", "append"})
"""What can be done with a value before it is known which of several kinds it is of."""
MOST_VERSIONS_OF_BLOCK = 64
MOST_ALIKE = 8
"""So many versions of a block differ in nothing but the kinds of plain values."""
MOST_VERSIONS = 1500
MOST_FRAMES = 40
MOST_OPEN = 4
"""So many calls of a function inside each other are followed with lists that nothing is known of yet."""
MOST_SWEEPS = 60
RUNNING = ("running", 0)
"""The position of a generator that is being followed."""
FIRST_MEMO, MOST_MEMOS = 16, 16
"""Words of the context for the dicts of cached functions."""


class Defer(Exception):
    """A kind that is not known yet: it depends on something that is being looked at."""


class Recursive(Exception):
    """A class whose objects hold others of the same class: all is followed once more, with one kind for them."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls)
        self.cls = cls


class TakesLonger(Exception):
    """A check has taken longer than it was allowed to; it may be begun again."""


class Leaves(Exception):
    """Every lane that comes here raises, or is left to the plain function where `cls` is None."""

    def __init__(self, cls: type | None, reason: str) -> None:
        super().__init__(reason)
        self.cls, self.reason = cls, reason


class Patience:
    """So many seconds of a thread's own work: what others do meanwhile on a busy machine is not counted."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.began = seconds, time.thread_time() if seconds < math.inf else 0.0
        self.until = time.perf_counter() + seconds

    def is_over(self) -> bool:
        """Whether they are used up; the thread's own clock, a slow one, is looked at only where they may be."""
        if time.perf_counter() <= self.until:
            return False
        left = self.seconds - (time.thread_time() - self.began)
        self.until = time.perf_counter() + left
        return left <= 0


class Unit:
    """All that is compiled together: a function with what it calls."""

    def __init__(self, captures: Captures, patience: Patience | None = None) -> None:
        self.captures, self.patience = captures, patience or Patience(math.inf)
        self.given: list[Kind] = []
        """The kinds of the elements, as they come."""
        self.specs: dict[Any, Spec] = {}
        self.by_code: dict[Code, list[Spec]] = {}
        self.changed = False
        self.round = 0
        self.classes: list[type] = []
        """Exception classes, by number; what is left to the plain function without one has number 0."""
        self.recursive: set[Code] = set()
        self.inlined: set[Code] = set()
        self.catches = False
        """Whether there is anything that catches exceptions."""
        self.class_paths: dict[type, Any] = {}
        """How the classes are reached whose objects are made."""
        self.classes_fields: dict[type, Fields] = {}
        """The fields of classes whose objects hold others of the same class: one kind for all of them."""
        self.doubts: list[tuple[str, int, str]] = []
        """What is left to the plain function because there is no row for it: reason, line and file."""
        self.making: set[Block] = set()
        """Blocks in which arrays are made."""
        self.calls_python = False
        """Whether machine code may call functions in Python: not where lanes run by the thousand, on threads."""
        self.fuses = False
        """Whether arithmetic of whole arrays is put off anywhere."""
        self.given_back: frozenset[Cell] = frozenset()
        """The cells of arrays that are results and are made where they stay: in memory that Python frees."""
        self.memos: dict[Any, tuple[Object, int, Spec]] = {}
        """Dicts of what cached functions gave: their kind, word of the context, and how an empty one is made."""

    def spec(self, home: Home, code: Code, kinds: list[Kind], around: dict[str, Kind] | None = None) -> Spec:
        """The function for arguments of these kinds; `around`: of the variables of the function around it."""
        kinds = [plain(kind) for kind in kinds]
        names = around or {}
        key = (home.fn, code, tuple(map(key_of, kinds)), tuple((n, key_of(k)) for n, k in names.items()))
        found = self.specs.get(key) or self._open(home, code, kinds, names)
        if found is None:
            found = self.specs[key] = Spec(self, home, code, kinds, names, f"f{len(self.specs)}")
            self.by_code.setdefault(code, []).append(found)
        else:
            for own, given in zip((*found.kinds, *found.around.values()), (*kinds, *names.values())):
                self.changed |= unify(own, given)
        return found

    def _open(self, home: Home, code: Code, kinds: list[Kind], around: dict[str, Kind]) -> Spec | None:
        """Where a function calls itself again and again, one of those calls whose kinds may become the same ones:
        `f([])` inside of `f` has a list of its own every time."""
        given = (*kinds, *around.values())
        active = [spec for spec in self.by_code.get(code, ()) if spec.active and spec.home.fn is home.fn]
        if len(active) < MOST_OPEN:
            return None
        for spec in active:
            own = (*spec.kinds, *spec.around.values())
            if len(own) == len(given) and all(map(matches, own, given)):
                return spec
        if len(active) > MOST_FRAMES:
            raise Refused("calls itself with arguments of ever new kinds")
        return None

    def root(
        self, f: Any, kinds: list[Kind], shared: dict[str, Any] | None = None, whole: WholeCall | None = None
    ) -> Spec:
        """The call of a function with elements of these kinds, and with keywords that all of them share. `whole`: how
        it is called where it is not mapped: its arguments are the caller's own, and may be changed."""
        words = shared or {}
        self.calls_python = whole is not None
        names = tuple(f"x{i}" for i in range(len(kinds)))
        for kind in kinds:
            for inner in items_in(kind):
                if isinstance(inner, List | Array):
                    inner.cell.find().borrowed = True
        code = Code("<call>", Parameters(names), getattr(getattr(f, "__code__", None), "co_filename", ""), 0)
        block = Block(0, None)
        block.ops.append(Op("captured", "%f", (), (f, (("f", None),)), 0))
        for word, value in words.items():
            block.ops.append(Op("captured", f"%{word}", (), (value, (("shared", word),)), 0))
        given = list(names)
        for i, (name, kind) in enumerate(zip(names, kinds)):
            if whole is not None and i in whole.fixed:
                given[i] = f"%fixed{i}"
                block.ops.append(Op("const", given[i], (), whole.fixed[i], 0))
            elif isinstance(kind, Array) and whole is None:
                block.ops.append(Op("own", name, (name,), None, 0))
        shape = Shape((False,) * len(names), tuple(words)) if whole is None else whole.shape
        given = given if whole is None else [given[i] for i in whole.order]
        block.ops.append(Op("call", "%r", ("%f", *given, *(f"%{word}" for word in words)), shape, 0))
        block.ops.append(Op("give", "%s", ("%r",), whole is None, 0))
        block.ops.append(Op("return", None, ("%s",), None, 0))
        code.blocks.append(block)
        return self.spec(Home(_nothing, None), code, kinds)  # type: ignore[arg-type]

    def class_number(self, cls: type) -> int:
        """The number by which machine code names a class of exceptions."""
        if cls not in self.classes:
            self.classes.append(cls)
            if len(self.classes) > 250:
                raise Refused("raises too many classes of exceptions")
        return self.classes.index(cls) + 1

    def memo(self, key: Any, home: Callable[[], Home]) -> tuple[Object, int, Spec]:
        """The dict in which a lane keeps what a cached function gave."""
        found = self.memos.get(key)
        if found is None:
            made = home()
            spec = self.specs[key, "memo"] = Spec(self, made, made.code, [], {}, f"f{len(self.specs)}")
            found = self.memos[key] = Object(Dict, Fields()), FIRST_MEMO + len(self.memos), spec
            if len(self.memos) > MOST_MEMOS:
                raise Refused("calls too many cached functions")
        return found

    def fields_of(self, cls: type, walk: Walk) -> Fields:
        """The fields of an object that is made here."""
        found = self.classes_fields.get(cls)
        return found if found is not None else walk.cell("object", Fields)

    def settle(self, root: Spec) -> None:
        """Go over all functions until nothing new is learnt."""
        for _ in range(MOST_SWEEPS):
            self.changed = False
            self.round += 1
            self.doubts.clear()
            root.sweep()
            if not self.changed:
                return
        raise Refused("its kinds do not settle")


@dataclass(frozen=True, slots=True)
class WholeCall:
    """How a function is called that is not mapped."""

    shape: Shape
    """How its arguments are passed."""
    order: tuple[int, ...]
    """Where each of them, as they are passed, stands among all."""
    fixed: dict[int, Any]
    """Values that are built in, by their positions."""


def settled(
    f: Any,
    kinds: list[Kind],
    shared: dict[str, Any] | None = None,
    whole: WholeCall | None = None,
    limit: float = math.inf,
) -> tuple[Unit, Spec]:
    """A function for elements of these kinds, followed until nothing new is learnt; `TakesLonger` after `limit`
    seconds."""
    recursive: set[type] = set()
    patience = Patience(limit)
    while True:
        unit = Unit(Captures(), patience)
        unit.classes_fields = {cls: Fields() for cls in recursive}
        unit.given = kinds
        root = unit.root(f, copy.deepcopy(kinds), shared, whole)
        try:
            unit.settle(root)
        except Recursive as found:
            recursive.add(found.cls)
        else:
            return unit, root


def _nothing() -> None:
    """The home of a call that stands in no function."""


class Version:
    """One block for one set of kinds: what it does, step by step, and where it leads."""

    __slots__ = ("at", "block", "exit", "frame", "id", "is_wide", "kinds", "sites", "steps", "to")

    def __init__(self, id: int, frame: Frame, block: Block, at: int, kinds: dict[str, Kind]) -> None:
        self.id, self.frame, self.block, self.at, self.kinds = id, frame, block, at, kinds
        self.steps: list[Step] = []
        self.exit: tuple[Any, ...] = ("defer",)
        self.is_wide = False
        """Whether its variables may be of several kinds."""
        self.to: Version | None = None
        """The wide version that it only leads to."""
        self.sites: dict[Any, Any] = {}
        """Cells of what is made here, which stay the same from sweep to sweep."""

    def following(self) -> list[Version]:
        """The versions that this one leads to."""
        found = [v for v in self.exit if isinstance(v, Version)]
        found += [v for part in self.exit if type(part) is list for _, v in part]
        return found + [step.handler for step in self.steps if step.handler is not None]


class Step:
    """`dst = emit(args)`; without `emit`, the same value under another name."""

    __slots__ = ("args", "dst", "emit", "frame", "handler", "line")

    def __init__(self, emit: Emit | None, dst: str | None, args: tuple[str, ...], line: int, frame: Frame,
                 handler: Version | None) -> None:  # fmt: skip
        self.emit, self.dst, self.args, self.line, self.frame, self.handler = emit, dst, args, line, frame, handler


class Frame:
    """A function that is being followed inside another: its code, and the prefix of its variables' names."""

    __slots__ = (
        "around",
        "at",
        "block",
        "code",
        "depth",
        "dst",
        "home",
        "live",
        "mode",
        "names",
        "outside",
        "parent",
        "prefix",
    )

    def __init__(
        self, home: Home, code: Code, prefix: str, around: str, parent: Frame | None = None,
        block: Block | None = None, at: int = 0, dst: str | None = None, mode: str = "call",
    ) -> None:  # fmt: skip
        self.home, self.code, self.prefix, self.around = home, code, prefix, around
        self.parent, self.block, self.at, self.dst, self.mode = parent, block, at, dst, mode
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.names: dict[str, str] = {}
        self.live: dict[tuple[Block, int], tuple[str, ...]] = {}
        """What is read from an operation on, here and where this frame returns to."""
        self.outside: frozenset[str] | None = None

    def codes(self) -> Iterator[Code]:
        """Its code, then that of the function it is followed in, and so on outwards."""
        frame: Frame | None = self
        while frame is not None:
            yield frame.code
            frame = frame.parent


def circling(versions: Collection[Version]) -> set[Version]:
    """Those of some versions that lead back to themselves, and what lies between such."""
    left = set(versions)
    to = {version: [v for v in version.following() if v in left] for version in left}
    back: dict[Version, list[Version]] = {version: [] for version in left}
    for version, following in to.items():
        for v in following:
            back[v].append(version)
    for there, here in ((to, back), (back, to)):
        waits = {version: sum(v in left for v in here[version]) for version in left}
        free = [version for version in left if not waits[version]]
        while free:
            version = free.pop()
            left.discard(version)
            for v in left.intersection(there[version]):
                waits[v] -= there[version].count(v)
                if not waits[v]:
                    free.append(v)
    return left


class Spec:
    """A function for arguments of certain kinds."""

    def __init__(self, unit: Unit, home: Home, code: Code, kinds: list[Kind], around: dict[str, Kind],
                 name: str) -> None:  # fmt: skip
        self.unit, self.home, self.code, self.kinds, self.around, self.name = unit, home, code, kinds, around, name
        self.result = Cell()
        self.round = 0
        self.versions: dict[Any, list[Version]] = {}
        self.all: list[Version] = []
        self.bridges: dict[Version, list[Version]] = {}
        """What leads to each wide version."""
        self.frames: dict[Any, Frame] = {}
        self.prefixes: dict[Any, str] = {}
        self.arounds: dict[str, str] = {"": "^.", "^.": "^.^", "^.^": "^.^^", "^.^^": "^.^^^"}
        """For every prefix, that of the variables around."""
        self.homes: dict[str, Home] = {}
        """For every generator's prefix, the function that it stands in."""
        self.active = False
        self.allocates = False
        self.root = Frame(home, code, "", "^.")
        parameters = code.parameters
        names = [*parameters.positional, *parameters.keyword_only]
        if parameters.variadic is not None:
            names.append(parameters.variadic)
        if parameters.keywords is not None:
            names.append(parameters.keywords)
        self.names = names
        entry = dict(zip(names, kinds)) | {f"^.{name}": kind for name, kind in around.items()}
        self.entry = Version(0, self.root, code.blocks[0], 0, entry)
        self.all.append(self.entry)

    def sweep(self) -> None:
        """Follow all versions once more."""
        if self.active or self.round == self.unit.round:
            return
        self.round, self.active = self.unit.round, True
        try:
            seen = {self.entry}
            todo = [self.entry]
            while todo:
                if self.unit.patience.is_over():
                    raise TakesLonger
                version = todo.pop()
                walk = Walk(self, version)
                walk.run()
                for following in walk.found:
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)
        finally:
            self.active = False

    def reachable(self) -> list[Version]:
        """The versions that the entry leads to, as they were last followed."""
        seen: dict[Version, None] = {self.entry: None}
        todo = [self.entry]
        while todo:
            version = todo.pop()
            for v in version.following():
                if v not in seen:
                    seen[v] = None
                    todo.append(v)
        return list(seen)

    def loops(self) -> bool:
        """Whether a version leads back to itself."""
        return bool(circling(self.reachable()))

    # ---- names

    def full(self, frame: Frame, name: str) -> str:
        """The name that a variable of a frame has among all variables of this function."""
        found = frame.names.get(name)
        if found is None:
            prefix, rest = frame.prefix, name
            if rest[0] == "^":
                prefix, rest = frame.around, rest[1:]
                while rest[0] == "^":
                    prefix, rest = self.arounds[prefix], rest[1:]
            found = frame.names[name] = prefix + rest
        return found

    def frame(self, key: Any, make: Callable[[], Frame]) -> Frame:
        """The frame of a call that is followed in place: one for every key, so that a second pass finds it again."""
        found = self.frames.get(key)
        if found is None:
            found = self.frames[key] = make()
        return found

    def prefix(self, key: Any) -> str:
        """What the names of variables begin with that belong to one call followed in place."""
        found = self.prefixes.get(key)
        if found is None:
            found = self.prefixes[key] = f"{len(self.prefixes) + 1}."
        return found

    # ---- versions

    def live(self, frame: Frame, block: Block, at: int, env: dict[str, Kind]) -> dict[str, Kind]:
        """The variables that are read from here on, with their kinds."""
        names = frame.live.get((block, at))
        if names is None:
            known = frame.names
            own = [known.get(name) or self.full(frame, name) for name in frame.code.live_at(block, at)]
            names = frame.live[block, at] = (*own, *self._outside(frame))
        return self._reached(names, env)

    def reach(self, names: list[str], frame: Frame, env: dict[str, Kind]) -> dict[str, Kind]:
        """Some variables, those that functions around will read, and all that these hold on to."""
        return self._reached((*names, *self._outside(frame)), env)

    def _reached(self, names: tuple[str, ...], env: dict[str, Kind]) -> dict[str, Kind]:
        found: dict[str, Kind] = {}
        todo = list(names)
        while todo:
            name = todo.pop()
            kind = env.get(name, UNSET)
            if kind is UNSET or name in found:
                continue
            if type(kind) is Scalar:
                found[name] = kind
                continue
            if isinstance(kind, _NOT_PLAIN):
                kind = plain(kind)
            found[name] = kind
            if isinstance(kind, _HOLDS_NAMES):
                for inner in items_in(kind):
                    todo += self._names_of(inner, env)
        return found

    def _names_of(self, kind: Kind, env: dict[str, Kind]) -> list[str]:
        """The variables that a closure or generator will read."""
        if isinstance(kind, Closure):
            if kind.is_free:
                return []
            return [self.outer(kind.around, name) for name in kind.code.around]
        if isinstance(kind, New):
            return [f"{kind.prefix}$set"]
        if isinstance(kind, Items):
            return [f"{kind.prefix}$at", f"{kind.prefix}items"]
        if isinstance(kind, Generator):
            position = env.get(f"{kind.prefix}$at")
            if not isinstance(position, Static) or not isinstance(position.value[0], Block):
                return [f"{kind.prefix}$at"]
            block, at = position.value
            names = kind.code.live_at(block, at)
            frame = Frame(None, kind.code, kind.prefix, self.arounds[kind.prefix])  # type: ignore[arg-type]
            return [f"{kind.prefix}$at", *(self.full(frame, name) for name in names)]
        return []

    def outer(self, prefix: str, name: str) -> str:
        """The full name of a variable of a function around: `^x` is the x of the next one outwards."""
        while name[0] == "^":
            prefix, name = self.arounds[prefix], name[1:]
        return prefix + name

    def _outside(self, frame: Frame) -> frozenset[str]:
        """What the functions read that this frame returns to."""
        if frame.parent is None:
            return frozenset()
        if frame.outside is None:
            parent, block = frame.parent, frame.block
            assert block is not None
            if block.ops[frame.at].code == "next":
                live = frozenset().union(*(parent.code.live_at(target, 0) for target in block.targets))
            else:
                live = parent.code.live_at(block, frame.at + 1)
            names = {self.full(parent, name) for name in live}
            if frame.mode != "init":
                names.discard(frame.dst or "")
            names |= {self.full(parent, name) for name in block.ops[frame.at].args if frame.mode == "next"}
            if block.handler is not None:
                names |= {self.full(parent, name) for name in parent.code.live_at(block.handler, 0)}
            frame.outside = frozenset(names) | self._outside(parent)
        return frame.outside

    def version(self, frame: Frame, block: Block, at: int, env: dict[str, Kind], told: bool = False) -> Version:
        """The version of a block for the kinds that are there now. `told`: a variable was just told apart for it."""
        kinds = self.live(frame, block, at, env)
        known = self.versions.setdefault((frame, block, at), [])
        for version in known:
            if self._takes(version.kinds, kinds):
                return version
        alike = [version for version in known if _are_alike(version.kinds, kinds)]
        if len(alike) >= MOST_ALIKE and not told:
            return self._bridge(frame, block, at, kinds, alike)
        return self._new(frame, block, at, kinds)

    def _takes(self, own: dict[str, Kind], kinds: dict[str, Kind]) -> bool:
        """Whether a version is for these kinds, which are made its own where they may become the same."""
        if own.keys() != kinds.keys():
            return False
        others = []
        for name, kind in kinds.items():
            one = own[name]
            if one is not kind:
                if not matches(one, kind):
                    return False
                others.append((one, kind))
        for one, kind in others:
            self.unit.changed |= unify(one, kind)
        return True

    def _new(self, frame: Frame, block: Block, at: int, kinds: dict[str, Kind]) -> Version:
        known = self.versions[frame, block, at]
        if len(known) >= MOST_VERSIONS_OF_BLOCK or len(self.all) >= MOST_VERSIONS:
            line = block.ops[0].line if block.ops else frame.code.first_line
            raise Refused("its variables are of too many kinds", line, "", frame.code.filename)
        version = Version(len(self.all), frame, block, at, _in_order(kinds))
        known.append(version)
        self.all.append(version)
        return version

    def _bridge(self, frame: Frame, block: Block, at: int, kinds: dict[str, Kind], alike: list[Version]) -> Version:
        """A version that does nothing but turn variables into what the wide one has them as, which is for all kinds
        that are still to come: there a variable may be of several kinds, and is told apart when it is read."""
        wide = next((version for version in alike if version.is_wide), None)
        if wide is None:
            wide = self._new(frame, block, at, dict(alike[-1].kinds))
            wide.is_wide = True
        for name in {**wide.kinds, **kinds}:
            cell = Cell(*ways(wide.kinds.get(name, UNSET)))
            if cell.add(kinds.get(name, UNSET)) and cell.kind is not None:
                wide.kinds[name] = cell.kind
                self.unit.changed = True
        bridges = self.bridges.setdefault(wide, [])
        for bridge in bridges:
            if self._takes(bridge.kinds, kinds):
                return bridge
        bridge = Version(len(self.all), frame, block, at, _in_order(kinds))
        bridge.to = wide
        bridges.append(bridge)
        self.all.append(bridge)
        return bridge


def _wrapping(kind: Kind, into: Kind) -> Emit:
    return lambda w, *value: w.wrap(kind, value[0] if value else "", into)


def _in_order(kinds: dict[str, Kind]) -> dict[str, Kind]:
    """The same in every process, so that object code is found again on disk: sets of names are in another order."""
    return dict(sorted(kinds.items()))


def _are_alike(a: dict[str, Kind], b: dict[str, Kind]) -> bool:
    """Whether variables differ in nothing but the kinds of plain values."""
    for name in {**a, **b}:
        x, y = a.get(name, UNSET), b.get(name, UNSET)
        if not (_is_plain(x) and _is_plain(y)) and not matches(x, y):
            return False
    return True


def _is_plain(kind: Kind) -> bool:
    """Whether a value can be kept where values of other kinds may be."""
    if isinstance(kind, Either):
        return all(map(_is_plain, kind.kinds))
    if isinstance(kind, Tuple):
        return all(_is_plain(item) for item in kind.items)
    return (isinstance(kind, Scalar) and kind is not STATUS) or type(kind) in (List, Object, Range)


_NOT_PLAIN = (Literal, Compound)
"""What a variable may hold otherwise than it was given."""
_LOOKED_AT = (New, Either)
"""What is looked at before an operation."""
_HOLDS_CELLS = (List, Object, Array, Compound, Either)
"""Kinds whose values have cells of their own."""
_HOLDS_NAMES = (Compound, Generator, Items, New)
"""Kinds whose values hold on to variables."""


class Walk:
    """Follows one version: from the kinds that it begins with to the versions that it leads to."""

    def __init__(self, spec: Spec, version: Version) -> None:
        self.spec, self.unit, self.version = spec, spec.unit, version
        self.frame, self.block, self.at = version.frame, version.block, version.at
        self.env = dict(version.kinds)
        self.steps: list[Step] = []
        self.found: list[Version] = []
        self.done = False
        self.made = 0
        self.displays: dict[str, list[str]] = {}
        """Lists that were written item by item right before they are used, such as the shape in `np.zeros([n, m])`."""

    def run(self) -> None:
        """Follow the block of this version, operation by operation, to where it leads."""
        version = self.version
        if version.to is not None:
            return self._cross(version.to)
        if version.block.handler is not None and not self.unit.catches:
            self.unit.catches = self.unit.changed = True
        try:
            while not self.done:
                op = self.block.ops[self.at]
                try:
                    if self._look_at(op):
                        OPERATIONS[op.code](self, op)
                except Leaves as leaves:
                    self.leave(leaves.cls, leaves.reason)
                except Refused as refused:
                    line, frame = self.place()
                    if refused.line or frame is None:
                        raise
                    raise Refused(refused.reason, line, refused.remedy, frame.code.filename) from None
        except Defer:
            self.exit("defer")
        version.steps = self.steps

    def _cross(self, wide: Version) -> None:
        """Lead on to a wide version: each variable as it is kept there."""
        for name, into in wide.kinds.items():
            kind = self.version.kinds.get(name, UNSET)
            given = (name,) if kind is not UNSET else ()
            if kind is not into and (isinstance(into, Either) or not matches(into, kind)):
                self.steps.append(Step(_wrapping(kind, into), name, given, 0, self.frame, None))
        self.exit("jump", wide)
        self.version.steps = self.steps

    def _look_at(self, op: Op) -> bool:
        """Whether an operation can be followed as it is: not where one of its arguments is of several kinds."""
        if self.unit.fuses:
            FORCING["before"](self, op)
        names, env = self.frame.names, self.env
        for name in op.args:
            kind = env.get(names.get(name, "")) or self.kind(name)
            if type(kind) is Scalar or not isinstance(kind, _LOOKED_AT):
                continue
            if isinstance(kind, New) and op.code not in KEEP_NEW:
                self.complete(kind)
            elif isinstance(kind, Either) and (op.code not in TAKES_ALL or UNSET in kind.kinds):
                self.split(self.name(name), kind, self.at)
                return False
        return True

    def exit(self, *parts: Any) -> None:
        """Ends the version: how control goes on, such as `("jump", version)`."""
        self.version.exit = parts
        self.found += [part for part in parts if isinstance(part, Version)]
        self.found += [version for part in parts if type(part) is list for _, version in part]
        self.done = True

    # ---- what operations use

    def name(self, name: str) -> str:
        """The full name of a variable of the function that is being followed."""
        frame = self.frame
        return frame.names.get(name) or self.spec.full(frame, name)

    def kind(self, name: str) -> Kind:
        """The kind of a variable of the present frame."""
        frame = self.frame
        found = self.env.get(frame.names.get(name) or self.spec.full(frame, name))
        if found is None:
            cls = NameError if name[0] == "^" else UnboundLocalError
            raise Leaves(cls, f"{name.lstrip('^')} is not set")
        return found

    def place(self) -> tuple[int, Frame | None]:
        """The line that is being followed, in a function that is not of our library."""
        frame, line = self.frame, self.block.ops[self.at].line if self.at < len(self.block.ops) else 0
        while frame.home.path is None:
            if frame.parent is None or frame.block is None:
                return 0, None
            line, frame = frame.block.ops[frame.at].line, frame.parent
        return line, frame

    def next_op(self) -> None:
        """Goes on behind the operation that is done."""
        self.at += 1

    def handler(self) -> Version | None:
        """Where an exception that is raised here is caught; None where it leaves the function."""
        frame, block = self.frame, self.block
        env = self.env
        while block.handler is None:
            if frame.parent is None or frame.block is None:
                return None
            if frame.mode == "next":  # a generator that has raised is exhausted
                env = {**env, f"{frame.prefix}$at": Static((None, 0))}
            block = frame.block
            frame = frame.parent
        env = {**env, f"{frame.prefix}$status": STATUS}
        version = self.spec.version(frame, block.handler, 0, env)
        self.found.append(version)
        return version

    def step(self, emit: Emit | None, dst: str | None, args: tuple[str, ...], kind: Kind | None = None) -> None:
        """Add one step; names are those of the whole function."""
        handler, line, frame = None, 0, self.frame
        if emit is not None and not hasattr(emit, "safe"):
            handler = self.handler() if self._is_guarded() else None
            line, found = self.place()
            frame = found or frame
        self.steps.append(Step(emit, dst, args, line, frame, handler))
        if dst is not None:
            assert kind is not None
            self.env[dst] = kind

    def _is_guarded(self) -> bool:
        frame: Frame | None = self.frame
        block: Block | None = self.block
        while frame is not None:
            if block is not None and block.handler is not None:
                return True
            block, frame = frame.block, frame.parent
        return False

    def put(self, op: Op, kind: Kind, emit: Emit, *args: str) -> None:
        """The result of an operation whose arguments are variables of the present frame."""
        full = self.spec.full
        self.give(op, kind, emit, *[full(self.frame, name) for name in args])

    def give(self, op: Op, kind: Kind, emit: Emit | None, *args: str) -> None:
        """The result of an operation, from variables by their full names; several kinds are told apart at once."""
        dst = self.name(op.dst) if op.dst is not None else None
        if isinstance(kind, Either) and dst is not None:
            self.step(emit, dst, args, kind)
            self.split(dst, kind, self.at + 1)
            return
        self.step(emit, dst, args, kind if dst is not None else None)
        self.at += 1

    def give_name(self, op: Op, name: str) -> bool:
        """The result of an operation is the value of a variable."""
        if op.dst is not None:
            self.alias(self.name(op.dst), name)
        self.next_op()
        return True

    def split(self, dst: str, kind: Either, at: int) -> None:
        """Go on with one version for each of the kinds that a value may be."""
        ways = []
        for i, one in enumerate(kind.kinds):
            env = {**self.env, dst: one}
            ways.append((i, self.spec.version(self.frame, self.block, at, env, told=True)))
        self.exit("split", dst, kind, ways)

    def alias(self, dst: str, source: str) -> None:
        """The same value under another name, both full."""
        self.steps.append(Step(None, dst, (source,), 0, self.frame, None))
        self.env[dst] = self.env[source]

    def temporary(self, kind: Kind, emit: Emit | None, *args: str) -> str:
        """A value of our own, which lives up to the next jump."""
        self.made += 1
        name = f"{self.frame.prefix}~{self.block.id}.{self.at}.{self.made}"
        self.step(emit, name, args, kind)
        return name

    def cell(self, key: Any = "", make: Callable[[], Any] = Cell) -> Any:
        """The cell of what is made here, the same in every sweep."""
        key = (self.frame, self.block, self.at, key)
        found = self.version.sites.get(key)
        if found is None:
            found = self.version.sites[key] = make()
        return found

    def makes_arrays(self) -> None:
        """Note that arrays are made here, for the loops around."""
        block: Block | None = self.block
        frame: Frame | None = self.frame
        while frame is not None and block is not None:
            if block not in self.unit.making:
                self.unit.making.add(block)
                self.unit.changed = True
            block, frame = frame.block, frame.parent

    def learn(self, cell: Cell, kind: Kind) -> None:
        """Something is put into a cell. Where that is a list or an object, its own cells may have learnt, too."""
        if cell.add(kind) and (isinstance(kind, _HOLDS_CELLS) or cell.find().seen):
            self.unit.changed = True

    def hold(self, owner: Object, kind: Kind) -> None:
        """An object is put into a field of another: of the same class, where it is a list or a tree."""
        if not isinstance(kind, Object | List | Compound | Either) or owner.cls in self.unit.classes_fields:
            return
        own = owner.fields.find()
        for inner in items_in(kind):
            if isinstance(inner, Object) and inner.cls is owner.cls and inner.fields.find() is not own:
                raise Recursive(inner.cls)

    def writes(self, cell: Cell) -> None:
        """The object that a cell is a part of is changed."""
        if cell.write():
            self.unit.changed = True

    def read(self, cell: Cell) -> Kind:
        """The kind of what a cell holds; `Defer` where nobody has put anything into it yet."""
        kind = cell.kind
        if kind is None:
            raise Defer
        return kind

    def leave(self, cls: type | None, reason: str) -> None:
        """The lane raises here, or is the plain function's."""
        number = self.unit.class_number(cls) if cls is not None else 0
        handler = self.handler() if number and self._is_guarded() else None
        line, frame = self.place()
        self.steps.append(Step(None, None, (), line, frame or self.frame, handler))
        self.exit("leave", number, reason)

    def doubt(self, reason: str) -> Leaves:
        """There is no row for this: the lanes that come here are the plain function's."""
        line, frame = self.place()
        self.unit.doubts.append((reason, line, frame.code.filename if frame is not None else ""))
        return Leaves(None, reason)

    def claim(self, prefix: str, given: Iterable[str] = ()) -> None:
        """The variables under a prefix are about to be set anew: nothing that lives on may hold on to the old ones."""
        if not any(name.startswith(prefix) for name in self.env):
            return
        op = self.block.ops[self.at]
        names = [self.name(name) for name in self.frame.code.live_at(self.block, self.at + 1) if name != op.dst]
        for name in self.spec.reach([*names, *given], self.frame, self.env):
            if name.startswith(prefix):
                raise self.doubt("a function or generator that was made here before is still in use")

    # ---- objects that are being made

    def is_set(self, made: New, name: str) -> bool:
        """Whether a field of an object that is being made is set for certain."""
        known = self.env[f"{made.prefix}$set"]
        assert isinstance(known, Static)
        return name in known.value

    def sets(self, made: New, *names: str) -> None:
        """Fields of an object that is being made are set from here on."""
        known = self.env[f"{made.prefix}$set"]
        assert isinstance(known, Static)
        self.env[f"{made.prefix}$set"] = Static(tuple(sorted({*known.value, *names})))

    def complete(self, made: New) -> None:
        """From here on an object may be anywhere: fields that are not set by now may be found not to be."""
        for name, cell in made.fields.find().cells.items():
            if not self.is_set(made, name):
                self.learn(cell, UNSET)
        for name, kind in self.env.items():
            if isinstance(kind, New) and kind.prefix == made.prefix:
                self.env[name] = Object(made.cls, made.fields)

    # ---- jumps

    def go(self, block: Block) -> None:
        """On to another block: in this version where nothing else leads there."""
        if block.sources == 1 and block.handler is self.block.handler:
            self.block, self.at = block, 0
        else:
            self.exit("jump", self.spec.version(self.frame, block, 0, self.env))

    def branch(self, flag: str, yes: Block, no: Block) -> None:
        """Ends the version: to one block or another, by a flag."""
        ways = [self.spec.version(self.frame, block, 0, self.env) for block in (yes, no)]
        self.exit("branch", flag, *ways)

    # ---- frames

    def enter(self, frame: Frame, block: Block, at: int = 0) -> None:
        """Goes on in a block of a function that is followed in place."""
        if frame.depth > MOST_FRAMES:
            raise Refused("calls too deeply")
        self.frame, self.block, self.at = frame, block, at

    def back(self, value: str | None) -> None:
        """Return from a frame with the value of a variable, given by its full name."""
        frame = self.frame
        parent, block = frame.parent, frame.block
        assert parent is not None and block is not None
        if frame.mode == "next":
            return self._exhausted(frame)
        if frame.mode == "init":
            assert frame.dst is not None
            made = self.env[frame.dst]
            if isinstance(made, New):
                self.complete(made)
        elif frame.dst is not None and value is not None:
            self.alias(frame.dst, value)
        self.frame, self.block, self.at = parent, block, frame.at + 1
        return None

    def _exhausted(self, frame: Frame) -> None:
        parent, block = frame.parent, frame.block
        assert parent is not None and block is not None
        self.position(frame.prefix, None, 0)
        self.frame, self.block, self.at = parent, block, frame.at
        op = block.ops[frame.at]
        if op.code == "next":
            return self.go(block.targets[1])
        if len(op.args) > 2:  # next(iterator, default)
            assert op.dst is not None
            self.alias(self.name(op.dst), self.name(op.args[2]))
            return self.next_op()
        raise Leaves(StopIteration, "a generator is exhausted")

    def position(self, prefix: str, block: Block | None, at: int) -> None:
        """Where a generator goes on."""
        name = f"{prefix}$at"
        self.env[name] = Static((block, at))

    def yields(self, value: str) -> None:
        """Back to where the next item was asked for."""
        frame = self.frame
        if frame.mode != "next":
            raise Refused("yields outside of a generator")
        parent, block = frame.parent, frame.block
        assert parent is not None and block is not None
        self.position(frame.prefix, self.block.targets[0], 0)
        if frame.dst is not None:
            self.alias(frame.dst, value)
        self.frame, self.block, self.at = parent, block, frame.at
        if block.ops[frame.at].code == "next":
            self.go(block.targets[0])
        else:
            self.next_op()

    def resume(self, op: Op, generator: Generator) -> None:
        """Run a generator up to its next item."""
        position = self.env[f"{generator.prefix}$at"]
        assert isinstance(position, Static)
        block, at = position.value
        if position.value == RUNNING:
            raise Leaves(ValueError, "a generator asks itself for an item")
        if block is None:
            frame = Frame(self.frame.home, generator.code, generator.prefix, "", self.frame, self.block, self.at)
            return self._exhausted(frame)
        dst = self.name(op.dst) if op.dst is not None else None
        parent, site, where = self.frame, self.block, self.at
        home = self.spec.homes[generator.prefix]
        around = self.spec.arounds[generator.prefix]
        frame = self.spec.frame(
            ("next", parent, site, where, generator.prefix),
            lambda: Frame(home, generator.code, generator.prefix, around, parent, site, where, dst, "next"),
        )
        self.env[f"{generator.prefix}$at"] = Static(RUNNING)
        return self.enter(frame, block, at)

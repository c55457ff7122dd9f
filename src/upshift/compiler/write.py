"""Write LLVM IR, as text, for functions whose kinds are known: one block for every version, phi nodes for variables."""

from __future__ import annotations

import re
import struct
from collections import Counter
from typing import Any

from .check import Spec, Step, Unit, Version
from .kinds import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    Array,
    Either,
    Kind,
    Scalar,
    Tuple,
    accepts,
    ll_of,
    matches,
    plain,
)

POLL_EVERY = 4096
INLINED_LINES = 40
"""Functions of so few lines of IR become a part of every caller."""
MOST_DEPTH = 900
"""Python's own limit is 1,000 calls, some of which are made already."""


class Reason:
    """Why a lane is left: the class of the exception that the plain function raises, if it is known, and where."""

    __slots__ = ("cls", "filename", "line", "text")

    def __init__(self, cls: type | None, text: str, filename: str, line: int) -> None:
        self.cls, self.text, self.filename, self.line = cls, text, filename, line

    def __repr__(self) -> str:
        name = f"{self.cls.__name__}: " if self.cls is not None else ""
        return f"{name}{self.text} ({self.filename}:{self.line})"


class Module:
    """The IR of one unit: functions, what they declare, and why lanes are left."""

    def __init__(self, unit: Unit, for_gpu: bool = False, team: bool = False) -> None:
        self.unit, self.for_gpu, self.team = unit, for_gpu, team
        self.declared: dict[str, str] = {}
        self.functions: list[str] = []
        self.specs: list[Spec] = []
        self.texts: dict[str, str] = {}
        self.reasons: list[Reason] = []
        self.numbers: dict[Any, int] = {}
        self.caught: dict[tuple[type, ...], str] = {}
        """Tables of the exceptions that a handler catches, by its classes."""
        self.symbols: dict[str, int] = {}
        """Addresses that the code calls, besides C's own functions."""
        self.calls: Counter[str] = Counter()
        """How often each function is called."""
        self.watches = False
        """Whether the processor's flags are looked at."""
        self.at: Version | None = None
        """The version that is being written."""
        self.items: set[Version | None] = set()
        """Versions in which items of arrays are read or written one by one."""
        self.nests: set[Version | None] = set()
        """Versions that have loops over whole arrays."""
        self.may_underflow = False
        """Whether NumPy's numbers are computed with one by one: whether one is too small for its dtype is not seen."""
        self.notes: list[str] = []
        """Nodes of metadata."""

    def declare(self, name: str, text: str) -> None:
        """Declares a function or constant from outside, once."""
        self.declared[name] = text

    def metadata(self, text: str) -> str:
        """A node of metadata, by its name; SELF in it stands for the node."""
        name = f"!{FIRST_NOTE + len(self.notes)}"
        self.notes.append(f"{name} = {text.replace('SELF', name)}")
        return name

    def status(self, cls: type | None, text: str, filename: str, line: int) -> int:
        """The number of a reason; its lowest byte is that of the exception's class."""
        key = (cls, text, filename, line)
        found = self.numbers.get(key)
        if found is None:
            number = self.unit.class_number(cls) if cls is not None else 0
            self.reasons.append(Reason(cls, text, filename, line))
            found = self.numbers[key] = len(self.reasons) * 256 + number
        return found

    def text(self, value: str) -> str:
        """The name of a constant with these characters."""
        name = self.texts.get(value)
        if name is None:
            name = self.texts[value] = f"@text{len(self.texts)}"
            escaped = "".join(f"\\{b:02X}" for b in value.encode("ascii"))
            self.declared[name] = f'{name} = private unnamed_addr constant [{len(value)} x i8] c"{escaped}"'
        return name

    def is_one_of(self, w: Any, status: str, classes: tuple[type, ...]) -> str:
        """Whether the number of an exception's class is that of one of these, or of a class derived from one: looked
        up in a table that is written last, when all classes have their numbers."""
        name = self.caught.get(classes)
        if name is None:
            name = self.caught[classes] = f"@caught{len(self.caught)}"
        low = w.new(f"and i32 {status}, 255")
        place = w.new(f"getelementptr inbounds [256 x i8], ptr {name}, i64 0, i32 {low}")
        return str(w.new(f"trunc i8 {w.new(f'load i8, ptr {place}')} to i1"))

    def _tables_of_classes(self) -> list[str]:
        made = []
        for classes, name in self.caught.items():
            flags = [0] + [int(issubclass(cls, classes)) for cls in self.unit.classes]
            flags += [0] * (256 - len(flags))
            items = ", ".join(f"i8 {flag}" for flag in flags)
            made.append(f"{name} = private unnamed_addr constant [256 x i8] [{items}]")
        return made

    def constant(self, kind: Scalar, value: Any) -> str:
        """A Python number or text as LLVM IR spells it."""
        if kind is INT:
            return str(value)
        if kind is FLOAT:
            return _hex_of(value)
        if kind is BOOL:
            return "true" if value else "false"
        if kind is COMPLEX:
            return f"{{ double {_hex_of(value.real)}, double {_hex_of(value.imag)} }}"
        if kind is STR:
            return f"{{ ptr {self.text(value)}, i64 {len(value)} }}"
        return ""

    def assembled(self) -> str:
        """The whole module; small functions, and those called once, become a part of their callers."""
        functions = []
        for spec, text in zip(self.specs, self.functions):
            small = self.calls[spec.name] <= 1 or text.count("\n") < INLINED_LINES
            inlined = small and spec.code not in self.unit.recursive
            functions.append(text.replace("nounwind {", "alwaysinline nounwind {" if inlined else "nounwind {", 1))
        return "\n".join([*self.declared.values(), *self._tables_of_classes(), PRELUDE_IR, *functions, METADATA,
                          *self.notes])  # fmt: skip


def _hex_of(value: float) -> str:
    """A double as LLVM reads it."""
    return "0x" + struct.pack(">d", value).hex().upper()


FIRST_NOTE = 10
METADATA = """!0 = !{!"branch_weights", i32 1, i32 100000}
!1 = !{!"branch_weights", i32 100000, i32 1}
!2 = !{}"""
PRELUDE_IR = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal ptr @up_alloc(ptr %context, i64 %bytes) alwaysinline nounwind {
  %some = icmp ult i64 %bytes, 1099511627776
  %size = select i1 %some, i64 %bytes, i64 1099511627776
  %more = add i64 %size, 15
  %whole = and i64 %more, -16
  %at = load i64, ptr %context
  %endp = getelementptr i64, ptr %context, i64 1
  %end = load i64, ptr %endp
  %after = add i64 %at, %whole
  %fits = icmp ule i64 %after, %end
  br i1 %fits, label %yes, label %no, !prof !1
yes:
  store i64 %after, ptr %context
  %p = inttoptr i64 %at to ptr
  ret ptr %p
no:
  ret ptr null
}

define internal i1 @up_poll(ptr %context) noinline nounwind {
entry:
  %turnsp = getelementptr i64, ptr %context, i64 5
  %turns = load i64, ptr %turnsp
  %left = sub i64 %turns, 1
  store i64 %left, ptr %turnsp
  %over = icmp slt i64 %left, 0
  %p = getelementptr ptr, ptr %context, i64 3
  %flag = load ptr, ptr %p
  %value = load volatile i32, ptr %flag
  %asked = icmp ne i32 %value, 0
  %stop = or i1 %asked, %over
  %signalsp = getelementptr ptr, ptr %context, i64 14
  %signals = load ptr, ptr %signalsp
  %none = icmp eq ptr %signals, null
  br i1 %none, label %end, label %ask
ask:
  %came = call i32 %signals(ptr %context)
  %pending = icmp ne i32 %came, 0
  br label %end
end:
  %signalled = phi i1 [ false, %entry ], [ %pending, %ask ]
  %any = or i1 %stop, %signalled
  ret i1 %any
}

"""


class Aggregates:
    """Values that are made of others: how they are taken apart, put together, and kept where several kinds may be."""

    def new(self, text: str) -> str:
        """The name of what an instruction gives, which is written here."""
        raise NotImplementedError

    def choose(self, flag: str, ll: str, yes: str, no: str) -> str:
        """One value or another, by a flag."""
        return self.new(f"select i1 {flag}, {ll} {yes}, {ll} {no}")

    parts: dict[str, dict[tuple[int, ...], str]]
    """What values are made of that were put together here: their parts need not be taken out of them again."""
    rowwise: set[str]
    """Arrays whose axes are known to lie in memory in their order."""

    def extract(self, ll: str, value: str, *at: int) -> str:
        """A part of a value that is made of others; no instruction where the part is known from its making."""
        found = self.parts.get(value)
        for n in range(1, len(at) + 1) if found is not None else ():
            part = found.get(at[:n])  # type: ignore[union-attr]
            if part is not None:
                return part if n == len(at) else self._inner(ll, value, part, at, n)
        return self.new(f"extractvalue {ll} {value}, {', '.join(map(str, at))}")

    def _inner(self, ll: str, value: str, part: str, at: tuple[int, ...], n: int) -> str:
        inner = self.parts.get(part, {}).get(at[n:])
        return inner or self.new(f"extractvalue {ll} {value}, {', '.join(map(str, at))}")

    def build(self, ll: str, *parts: tuple[str, str]) -> str:
        """A struct of these typed values."""
        made = "undef"
        for i, (t, v) in enumerate(parts):
            made = self.new(f"insertvalue {ll} {made}, {t} {v}, {i}")
        self.parts[made] = {(i,): v for i, (_, v) in enumerate(parts)}
        return made

    def take_apart(self, kind: Array, value: str) -> None:
        """Take an array apart where its value comes into being: its parts are wanted in many places."""
        ll = kind.ll
        found: dict[tuple[int, ...], str] = {(0,): self.new(f"extractvalue {ll} {value}, 0")}
        for which in (1, 2):
            for i in range(kind.ndim):
                found[which, i] = self.new(f"extractvalue {ll} {value}, {which}, {i}")
        self.parts[value] = found

    def wrap(self, kind: Kind, value: str, into: Kind) -> str:
        """A value as it is kept where several kinds may be."""
        if isinstance(into, Tuple) and isinstance(kind, Tuple) and not matches(into, kind):
            parts = []
            for i, (item, place) in enumerate(zip(kind.items, into.items)):
                part = self.extract(kind.ll or "", value, i) if item.ll is not None else ""
                parts.append((ll_of(place), self.wrap(item, part, place) or "0"))
            return self.build(into.ll or "", *parts)
        if isinstance(kind, Either):
            return self._rewrap(kind, value, into)
        if not isinstance(into, Either):
            return value
        tag = next(i for i, one in enumerate(into.kinds) if accepts(one, plain(kind)))
        assert into.ll is not None
        made = self.new(f"insertvalue {into.ll} undef, i8 {tag}, 0")
        if kind.ll is not None:
            inside = self.wrap(kind, value, into.kinds[tag])
            made = self.new(f"insertvalue {into.ll} {made}, {ll_of(into.kinds[tag])} {inside}, {tag + 1}")
        return made

    def _rewrap(self, kind: Either, value: str, into: Kind) -> str:
        """A value of several kinds where more may be, the same in another order, or fewer that they became."""
        if kind.ll == into.ll and matches(kind, into):
            return value
        made = "undef"
        tag = self.extract(kind.ll or "", value, 0)
        for i, one in enumerate(kind.kinds):
            part = self.extract(kind.ll or "", value, i + 1) if one.ll is not None else ""
            whole = self.wrap(one, part, into)
            is_it = self.new(f"icmp eq i8 {tag}, {i}")
            made = whole if made == "undef" else self.choose(is_it, into.ll or "", whole, made)
        return made


class Writer(Aggregates):
    """Writes one function."""

    def __init__(self, module: Module, spec: Spec) -> None:
        self.module, self.spec = module, spec
        self.result = ll_of(spec.result.kind or NONE)
        self.lines: list[str] = []
        self.count = 0
        self.label = "entry"
        self.env: dict[str, str] = {}
        self.incoming: dict[Version, list[tuple[str, dict[str, str]]]] = {}
        self.found: list[Version] = []
        """Versions that a block leads to, and that are not written yet."""
        self.exits: dict[int, str] = {}
        self.entry: list[str] = []
        self.slots: dict[str, str] = {}
        self.filename, self.line = "", 0
        self.handler: Version | None = None
        self.parts = {}
        self.rowwise = set()
        self.quiet = spec.code.quiet
        """Whether NumPy would warn of nothing."""
        self._arena = ""

    # ---- what rows use

    def new(self, text: str) -> str:
        """A new value: `w.new("fadd double 1.0, 2.0")`."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Writes an instruction without a result."""
        self.lines.append(f"  {text}")

    def fresh(self, hint: str = "b") -> str:
        """A label that is not in use."""
        self.count += 1
        return f"{hint}{self.count}"

    def start(self, label: str) -> None:
        """Begins a block."""
        self.lines.append(f"{label}:")
        self.label = label

    def local(self, ll: str) -> str:
        """Room for a value in this function's own frame."""
        self.count += 1
        name = f"%a{self.count}"
        self.entry.append(f"  {name} = alloca {ll}")
        return name

    @property
    def arena(self) -> str:
        """Where the arena went on when this function began."""
        if not self._arena:
            self._arena = "%arena.start"
            self.entry.append(f"  {self._arena} = load i64, ptr %context")
        return self._arena

    def kept(self, key: str) -> str:
        """A slot of the stack for an int, by name; zero when this function begins."""
        found = self.slots.get(key)
        if found is None:
            found = self.slots[key] = self.local("i64")
            self.entry.append(f"  store i64 0, ptr {found}")
        return found

    def leave_if(self, flag: str, cls: type | None, reason: str) -> None:
        """Where the flag is set, the lane raises such an exception, or is left where the class is None."""
        if flag == "false":
            return
        target = self._exit_for(cls, reason)
        go_on = self.fresh("on")
        self.do(f"br i1 {flag}, label %{target}, label %{go_on}, !prof !0")
        self.start(go_on)

    def leave(self, cls: type | None, reason: str) -> None:
        """The lane raises such an exception, or is left where the class is None."""
        self.do(f"br label %{self._exit_for(cls, reason)}")

    def _exit_for(self, cls: type | None, reason: str) -> str:
        number = self.module.status(cls, reason, self.filename, self.line)
        if cls is not None and self.handler is not None:
            return self._to_handler(str(number))
        label = self.exits.get(number)
        if label is None:
            label = self.exits[number] = f"leave{number}"
        return label

    def _to_handler(self, status: str) -> str:
        """A block that hands an exception to its handler."""
        handler = self.handler
        assert handler is not None
        label = self.fresh("raise")
        self._leads(handler, label, {**self.env, f"{handler.frame.prefix}$status": status})
        self.after.append(f"{label}:\n  br label %v{handler.id}")
        return label

    def checked(self, value: str, status: str) -> None:
        """Go on where a call's status is 0; else its exception goes to the handler, or out of this function."""
        bad = self.new(f"icmp ne i32 {status}, 0")
        go_on, other = self.fresh("on"), self.fresh("failed")
        self.do(f"br i1 {bad}, label %{other}, label %{go_on}, !prof !0")
        self.start(other)
        if self.handler is not None:
            low = self.new(f"and i32 {status}, 255")
            known = self.new(f"icmp ne i32 {low}, 0")
            out = self.fresh("out")
            self.do(f"br i1 {known}, label %{self._to_handler(status)}, label %{out}")
            self.start(out)
        self._return_status(status)
        self.start(go_on)

    def _return_status(self, status: str) -> None:
        made = self.new(f"insertvalue {{ {self.result}, i32 }} undef, i32 {status}, 1")
        self.do(f"ret {{ {self.result}, i32 }} {made}")

    def call_c(self, name: str, ll: str, *args: tuple[str, str]) -> str:
        """C's own function, which LLVM must not think it knows."""
        self.module.declare(f"@{name}", f"declare {ll} @{name}({', '.join(t for t, _ in args)})")
        given = ", ".join(f"{t} {v}" for t, v in args)
        return self.new(f"call {ll} @{name}({given}) nobuiltin nounwind")

    def intrinsic(self, name: str, ll: str, *args: tuple[str, str]) -> str:
        """A call of a function of LLVM's or C's, which is declared; arguments come with their types."""
        self.module.declare(f"@{name}", f"declare {ll} @{name}({', '.join(t for t, _ in args)})")
        return self.new(f"call {ll} @{name}({', '.join(f'{t} {v}' for t, v in args)})")

    def overflowing(self, op: str, a: str, b: str, reason: str = "an int goes beyond 64 bits") -> str:
        """`op` of two i64, left where it goes beyond 64 bits."""
        name = f"llvm.{op}.with.overflow.i64"
        both = self.intrinsic(name, "{ i64, i1 }", ("i64", a), ("i64", b))
        value = self.new(f"extractvalue {{ i64, i1 }} {both}, 0")
        self.leave_if(self.new(f"extractvalue {{ i64, i1 }} {both}, 1"), None, reason)
        return value

    def alloc(self, size: str) -> str:
        """So many bytes of the arena."""
        p = self.new(f"call ptr @up_alloc(ptr %context, i64 {size})")
        self.leave_if(self.new(f"icmp eq ptr {p}, null"), None, "needs more memory than a lane is given")
        return p

    def size_of(self, ll: str) -> str:
        """The bytes of a value, as a constant that LLVM works out."""
        return f"ptrtoint (ptr getelementptr ({ll}, ptr null, i64 1) to i64)"

    def captured(self, slot: int, ll: str) -> str:
        """A captured value, read from the block that every call is given."""
        p = self.new("getelementptr ptr, ptr %context, i64 2")
        block = self.new(f"load ptr, ptr {p}, !invariant.load !2")
        at = self.new(f"getelementptr i8, ptr {block}, i64 {slot}")
        return self.new(f"load {ll}, ptr {at}, !invariant.load !2")

    def poll(self) -> None:
        """Look now and then whether the caller wants an end; a GPU's kernels run to theirs."""
        if self.module.for_gpu:
            return
        if not hasattr(self, "turns"):
            self.turns = self.local("i32")
            self.entry.append(f"  store i32 {POLL_EVERY}, ptr {self.turns}")
        left = self.new(f"add i32 {self.new(f'load i32, ptr {self.turns}')}, -1")
        self.do(f"store i32 {left}, ptr {self.turns}")
        self._poll_if(self.new(f"icmp eq i32 {left}, 0"), self.turns)

    def _poll_if(self, due: str, counter: str) -> None:
        look, on = self.fresh("poll"), self.fresh("on")
        self.do(f"br i1 {due}, label %{look}, label %{on}, !prof !0")
        self.start(look)
        self.do(f"store i32 {POLL_EVERY}, ptr {counter}")
        self.poll_now()
        self.do(f"br label %{on}")
        self.start(on)

    def poll_now(self) -> None:
        """Leaves the lane where somebody wants the function to stop."""
        stop = self.new("call i1 @up_poll(ptr %context)")
        self.leave_if(stop, None, INTERRUPTED)

    def call(self, spec: Spec, args: list[str]) -> str:
        """Call another function of this unit."""
        result = ll_of(spec.result.kind or NONE)
        given = ["ptr %context"]
        for kind, value in zip((*spec.kinds, *spec.around.values()), args):
            if kind.ll is not None:
                given.append(f"{kind.ll} {value}")
        self.module.calls[spec.name] += 1
        both = self.new(f"call {{ {result}, i32 }} @{spec.name}({', '.join(given)})")
        self.checked(both, self.extract(f"{{ {result}, i32 }}", both, 1))
        return self.extract(f"{{ {result}, i32 }}", both, 0)

    # ---- the whole function

    def write(self) -> str:
        """The IR of the function, beginning with its entry."""
        spec = self.spec
        self.after: list[str] = []
        bodies: dict[Version, str] = {spec.entry: self._version(spec.entry)}
        while self.found:  # only what a written edge leads to: a row that never raises has no use for its handler
            version = self.found.pop()
            bodies[version] = self._version(version)
        blocks = []
        for version, body in bodies.items():
            if version is not spec.entry:
                blocks.append(self._phis(version) + body)
        leaves = [
            f"{label}:\n  ret {{ {self.result}, i32 }} {{ {self.result} undef, i32 {number} }}"
            for number, label in self.exits.items()
        ]
        names = [*spec.names, *(f"^.{name}" for name in spec.around)]
        given = ["ptr %context"]
        for i, (_, kind) in enumerate(zip(names, (*spec.kinds, *spec.around.values()))):
            if kind.ll is not None:
                given.append(f"{kind.ll} %p{i}")
        apart = " noinline" if getattr(spec.home.fn, "apart", False) else ""
        head = f"define internal {{ {self.result}, i32 }} @{spec.name}({', '.join(given)}) nounwind{apart} {{\nentry:\n"
        entry = "\n".join(self.entry)
        text = head + entry + "\n" + bodies[spec.entry] + "\n" + "\n".join([*blocks, *self.after, *leaves]) + "\n}\n"
        return _without_dead(text) if self.parts else text

    def _phis(self, version: Version) -> str:
        lines = [f"v{version.id}:"]
        for i, (name, kind) in enumerate(version.kinds.items()):
            if kind.ll is not None:
                edges = ", ".join(f"[ {env[name]}, %{label} ]" for label, env in self.incoming[version])
                lines.append(f"  %v{version.id}.{i} = phi {kind.ll} {edges}")
        return "\n".join(lines) + "\n"

    def _version(self, version: Version) -> str:
        self.lines = []
        if version is self.spec.entry:
            self.label = "entry"
            self.env = {}
            for i, (name, kind) in enumerate(version.kinds.items()):
                self.env[name] = f"%p{i}" if kind.ll is not None else ""
            self._count_depth()
        else:
            self.label = f"v{version.id}"
            self.env = {
                name: f"%v{version.id}.{i}" if kind.ll is not None else ""
                for i, (name, kind) in enumerate(version.kinds.items())
            }
        for name, kind in version.kinds.items():
            if isinstance(kind, Array):
                self.take_apart(kind, self.env[name])
        self.module.at = version
        for step in version.steps:
            self._step(step)
        getattr(self, f"_exit_{version.exit[0]}")(version, *version.exit[1:])
        return "\n".join(self.lines)

    def _count_depth(self) -> None:
        """Functions that call themselves count how deep they are."""
        self.depth = None
        if self.spec.code not in self.spec.unit.recursive:
            return
        p = self.new("getelementptr i64, ptr %context, i64 4")
        depth = self.new(f"load i64, ptr {p}")
        self.filename, self.line, self.handler = self.spec.code.filename, self.spec.code.first_line, None
        self.leave_if(self.new(f"icmp sgt i64 {depth}, {MOST_DEPTH}"), None, "recursion is too deep")
        self.do(f"store i64 {self.new(f'add i64 {depth}, 1')}, ptr {p}")
        turns = self.new("getelementptr i32, ptr %context, i64 18")
        left = self.new(f"add i32 {self.new(f'load i32, ptr {turns}')}, -1")
        self.do(f"store i32 {left}, ptr {turns}")
        self._poll_if(self.new(f"icmp slt i32 {left}, 0"), turns)
        self.depth = p, depth

    def _step(self, step: Step) -> None:
        if step.emit is None:
            if step.dst is not None:
                self.env[step.dst] = self.env[step.args[0]]
            else:
                self.filename, self.line, self.handler = step.frame.code.filename, step.line, step.handler
            return
        self.filename, self.line, self.handler = step.frame.code.filename, step.line, step.handler
        env = self.env
        value = step.emit(self, *[env[name] for name in step.args])
        if step.dst is not None:
            env[step.dst] = value if value is not None else ""

    def edge(self, version: Version) -> str:
        """The label of a version that this block leads to with the variables as they are."""
        self._leads(version, self.label, dict(self.env))
        return f"v{version.id}"

    def _leads(self, version: Version, label: str, env: dict[str, str]) -> None:
        edges = self.incoming.get(version)
        if edges is None:
            edges = self.incoming[version] = []
            self.found.append(version)
        edges.append((label, env))

    def _exit_jump(self, version: Version, to: Version) -> None:
        self.do(f"br label %{self.edge(to)}")

    def _exit_branch(self, version: Version, flag: str, yes: Version, no: Version) -> None:
        value = self.env[flag]
        if yes is no:
            self.do(f"br label %{self.edge(yes)}")
        else:
            self.do(f"br i1 {value}, label %{self.edge(yes)}, label %{self.edge(no)}")

    def _exit_split(self, version: Version, name: str, kind: Either, ways: list[tuple[int, Version]]) -> None:
        value = self.env[name]
        assert kind.ll is not None
        tag = self.extract(kind.ll, value, 0)
        labels = [self.fresh("kind") for _ in ways]
        cases = " ".join(f"i8 {i}, label %{label}" for (i, _), label in zip(ways[1:], labels[1:]))
        self.do(f"switch i8 {tag}, label %{labels[0]} [ {cases} ]")
        for (i, to), label in zip(ways, labels):
            self.start(label)
            own = kind.kinds[i]
            self.env[name] = self.extract(kind.ll, value, i + 1) if own.ll is not None else ""
            self.do(f"br label %{self.edge(to)}")

    def _exit_return(self, version: Version, name: str, kind: Kind) -> None:
        result = self.spec.result.kind or NONE
        value = self.wrap(kind, self.env[name], result) if result.ll is not None else ""
        if self.depth is not None:
            p, depth = self.depth
            self.do(f"store i64 {depth}, ptr {p}")
        if not value:
            self.do(f"ret {{ {self.result}, i32 }} zeroinitializer")
            return
        made = self.new(
            f"insertvalue {{ {self.result}, i32 }} {{ {self.result} undef, i32 0 }}, {self.result} {value}, 0"
        )
        self.do(f"ret {{ {self.result}, i32 }} {made}")

    def _exit_leave(self, version: Version, number: int, reason: str) -> None:
        cls = self.module.unit.classes[number - 1] if number else None
        self.leave(cls, reason)

    def _exit_defer(self, version: Version) -> None:
        self.filename, self.handler = version.frame.code.filename, None
        self.leave(None, "something is read that is never set")

    def _exit_reraise(self, version: Version, name: str) -> None:
        status = self.env[name]
        if self.handler is not None:
            self.do(f"br label %{self._to_handler(status)}")
        else:
            self._return_status(status)


def _without_dead(text: str) -> str:
    """The text of a function without values that are put together, or taken apart, and that nobody needs."""
    uses = Counter(_NAMES.findall(text))
    kept = []
    for line in reversed(text.split("\n")):
        if " = insertvalue " in line or " = extractvalue " in line:
            names = _NAMES.findall(line)
            if uses[names[0]] == 1:
                uses.subtract(names)
                continue
        kept.append(line)
    return "\n".join(reversed(kept))


_NAMES = re.compile(r"%[\w.]+")
INTERRUPTED = "it was interrupted"


def write_unit(unit: Unit, for_gpu: bool = False, team: bool = False) -> Module:
    """The IR of all functions that a unit needs. `for_gpu`: for a processor without flags, vectors and C's functions,
    where whoever compiles it adds what tells of warnings (`gears/cuda/checks.py`); `team`: for several threads that
    share the loops over an element's items (`rows/teams.py`)."""
    module = Module(unit, for_gpu, team)
    for spec in unit.specs.values():
        if spec.round == unit.round:
            module.functions.append(Writer(module, spec).write())
            module.specs.append(spec)
    return module

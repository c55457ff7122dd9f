"""Names, blocks and operations: what all of lowering stands on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..code import Block, Code, Op, Parameters
from ..kinds import Refused

FunctionNode = ast.FunctionDef | ast.Lambda | ast.GeneratorExp


@dataclass(slots=True)
class Loop:
    """Where `continue` and `break` lead, and how many of the endings are outside of the loop."""

    again: Block
    after: Block
    depth: int


@dataclass(slots=True)
class Ending:
    """What a jump out of a `try` or `with` has to do: `finally`, in the surroundings of the whole statement."""

    run: Callable[[], None]
    handler: Block | None
    loops: list[Loop]
    caught: list[str]


class Names:
    """Which variable a name stands for; blocks that are being filled."""

    def __init__(self, node: FunctionNode, name: str, filename: str, outer: Names | None, free: frozenset[str]) -> None:
        self.outer, self.free, self.filename = outer, free, filename
        self.line = node.lineno
        self.temporaries = 0
        self.around: set[str] = set()
        self.scopes: list[dict[str, str]] = []
        """Names of the comprehensions that are being lowered, innermost last."""
        self.loops: list[Loop] = []
        self.endings: list[Ending] = []
        self.handler: Block | None = None
        self.caught: list[str] = []
        self.code = Code(name, _parameters(node), filename, node.lineno)
        nodes = _nodes_of(node)
        self.rebinds: bool = outer.rebinds if outer is not None else _rebinds(nodes)
        self.nonlocals: set[str] = set()
        self.locals = self._local_names(node)
        self.code.locals = frozenset(self.locals)
        self.lasting = _lasting(node, nodes, self.code.parameters)
        """Parameters that are never set anew."""
        self.boxed = _boxed(node, nodes) & self.locals
        """Variables that a nested function sets which calls itself: they are kept in memory."""
        self.block = self._new_block()
        for variable in sorted(self.boxed):
            given = (variable,) if variable in _all_parameters(self.code.parameters) else ()
            self._emit("box", *given, dst=variable)
        self._lower_body(node)
        self.code.around = frozenset(self.around)
        self.code.size = sum(len(block.ops) for block in self.code.blocks)
        for block in self.code.blocks:
            for target in block.targets:
                target.sources += 1

    def _lower_body(self, node: FunctionNode) -> None:
        raise NotImplementedError

    # ---- names

    def _local_names(self, node: FunctionNode) -> set[str]:
        names = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)} if hasattr(node, "args") else set()
        if isinstance(node, ast.GeneratorExp):
            return {".0"} | {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Lambda):
            if any(isinstance(child, ast.Yield | ast.YieldFrom) for child in inside(node.body)):
                raise self.refuse("uses the value of a yield")
            return names | {n.target.id for n in inside(node.body) if isinstance(n, ast.NamedExpr)}
        outside: set[str] = set()
        for statement in node.body:
            for child in inside(statement):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store | ast.Del):
                    names.add(child.id)
                elif isinstance(child, _NAMING) and child.name:
                    names.add(child.name)
                elif isinstance(child, ast.alias):
                    names.add((child.asname or child.name).split(".")[0])
                elif isinstance(child, ast.MatchMapping) and child.rest:
                    names.add(child.rest)
                elif isinstance(child, ast.Global):
                    outside |= set(child.names)
                elif isinstance(child, ast.Nonlocal):
                    self.nonlocals |= set(child.names)
                elif isinstance(child, ast.Yield | ast.YieldFrom):
                    self.code.generator = True
        return names - outside - self.nonlocals

    def _find(self, name: str) -> str | None:
        """The variable that a name stands for, None where it is not one of a function's."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.locals:
            return name
        found = self.outer._find(name) if self.outer is not None else None
        if found is not None:
            self.around.add(found)
            return f"^{found}"
        return None

    def _is_boxed(self, found: str) -> bool:
        lowerer: Names | None = self
        while found[0] == "^":
            found = found[1:]
            assert lowerer is not None
            lowerer = lowerer.outer
        return lowerer is not None and found in lowerer.boxed

    def _is_lasting(self, found: str) -> bool:
        """Whether a variable is never set anew."""
        lowerer: Names | None = self
        while found[0] == "^":
            found = found[1:]
            assert lowerer is not None
            lowerer = lowerer.outer
        return lowerer is not None and found in lowerer.lasting

    def _load(self, name: str) -> str:
        found = self._find(name)
        if found is not None:
            if self._is_boxed(found):
                return self._emit("unbox", found)
            return self._emit("move", found) if self.rebinds else found
        return self._emit("cell" if self._is_free(name) else "global", extra=name)

    def _is_free(self, name: str) -> bool:
        """Whether a name is a variable of a function that has run already."""
        lowerer: Names = self
        while lowerer.outer is not None:
            lowerer = lowerer.outer
        return name in lowerer.free

    def _store(self, name: str, value: str) -> None:
        found = self._find(name)
        if found is None:
            raise self.refuse(f"sets {name}, which is not its own variable", "return the value instead")
        if self._is_boxed(found):
            self._emit("setbox", found, value, dst=None)
        else:
            self._emit("move", value, dst=found)

    # ---- blocks and operations

    def _new_block(self) -> Block:
        block = Block(len(self.code.blocks), self.handler)
        self.code.blocks.append(block)
        return block

    def _adopt(self, block: Block) -> None:
        """Go on in a block that was made before."""
        block.id = len(self.code.blocks)
        self.code.blocks.append(block)
        self.block = block

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"%{self.temporaries}"

    def _emit(self, code: str, *args: str, extra: Any = None, dst: str | None = "") -> str:
        if dst == "":
            dst = self._temporary()
        if self.block is not None:
            self.block.ops.append(Op(code, dst, args, extra, self.line))
        return dst or ""

    def _end(self, code: str, args: tuple[str, ...] = (), targets: tuple[Block, ...] = (), extra: Any = None,
             dst: str | None = None) -> None:  # fmt: skip
        if self.block is not None:
            self.block.ops.append(Op(code, dst, args, extra, self.line))
            self.block.targets = targets
        self.block = None  # type: ignore[assignment]

    def _jump(self, target: Block) -> None:
        self._end("jump", targets=(target,))

    def _jump_on(self) -> None:
        """A new block, whose handler is the present one."""
        if self.block is not None:
            following = self._new_block()
            self._jump(following)
            self.block = following

    def _branch(self, flag: str, yes: Block, no: Block) -> None:
        self._end("branch", (flag,), (yes, no))

    def _require(self, flag: str, no: Block) -> None:
        """Go on where a flag is set, to `no` where it is not."""
        yes = self._new_block()
        self._branch(flag, yes, no)
        self.block = yes

    def _constant(self, value: Any) -> str:
        return self._emit("const", extra=value)

    def refuse(self, reason: str, remedy: str = "") -> Refused:
        """A reason why the function is not compiled, with the line that is being lowered, to be raised."""
        return Refused(reason, self.line, remedy, self.filename)


def _parameters(node: FunctionNode) -> Parameters:
    if isinstance(node, ast.GeneratorExp):
        return Parameters((".0",))
    args = node.args
    return Parameters(
        tuple(a.arg for a in (*args.posonlyargs, *args.args)),
        len(args.posonlyargs),
        args.vararg.arg if args.vararg else None,
        tuple(a.arg for a in args.kwonlyargs),
        args.kwarg.arg if args.kwarg else None,
        len(args.defaults),
        frozenset(a.arg for a, default in zip(args.kwonlyargs, args.kw_defaults) if default is not None),
    )


def _all_parameters(parameters: Parameters) -> set[str | None]:
    return {*parameters.positional, *parameters.keyword_only, parameters.variadic, parameters.keywords}


def _children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, but for marks of how a name is used."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif name != "ctx" and isinstance(value, ast.AST):
            found.append(value)
    return found


def _nodes_of(node: ast.AST) -> list[ast.AST]:
    """A node and all below it."""
    found = [node]
    for one in found:  # which grows
        found += _children_of(one)
    return found


def inside(node: ast.AST) -> list[ast.AST]:
    """A node and all below it that belong to the same function; comprehensions' own names do not."""
    found = [node]
    for one in found:  # which grows
        if isinstance(one, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found += [child.target for child in _nodes_of(one) if isinstance(child, ast.NamedExpr)]
        elif not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            found += _children_of(one)
    return found


def _rebinds(nodes: list[ast.AST]) -> bool:
    """Whether a variable may be set in the middle of an expression that has read it."""
    return any(isinstance(n, ast.NamedExpr | ast.Nonlocal) for n in nodes)


def _lasting(node: FunctionNode, nodes: list[ast.AST], parameters: Parameters) -> set[str]:
    if isinstance(node, ast.GeneratorExp):
        return set()
    names = {name for name in _all_parameters(parameters) if name is not None}
    for child in nodes:
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store | ast.Del):
            names.discard(child.id)
        elif isinstance(child, _NAMING) and child.name and child is not node:
            names.discard(child.name)
        elif isinstance(child, ast.Nonlocal):
            names -= set(child.names)
        elif isinstance(child, ast.alias):
            names.discard((child.asname or child.name).split(".")[0])
        elif isinstance(child, ast.MatchMapping) and child.rest:
            names.discard(child.rest)
    return names


def _boxed(node: FunctionNode, nodes: list[ast.AST]) -> set[str]:
    """Variables that are set by nested functions which call themselves, or each other in a circle."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    nested = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef) and n is not node}
    if not any(isinstance(n, ast.Nonlocal) for one in nested.values() for n in ast.walk(one)):
        return set()
    lambdas = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)]
    bodies: dict[str, ast.AST] = dict(nested)
    bodies |= {t.id: n.value for n in lambdas for t in n.targets if isinstance(t, ast.Name)}
    names = {f: {n.id for n in ast.walk(b) if isinstance(n, ast.Name)} & bodies.keys() for f, b in bodies.items()}
    found: set[str] = set()
    for name, one in nested.items():
        reached: set[str] = set()
        todo = list(names[name])
        while todo:
            following = todo.pop()
            if following not in reached:
                reached.add(following)
                todo += names[following]
        if name in reached:
            found |= {x for n in ast.walk(one) if isinstance(n, ast.Nonlocal) for x in n.names}
    return found


_NAMING = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
"""Nodes that set the variable of their name."""
_WORDS = {
    "With": "with", "AsyncFunctionDef": "async def", "ClassDef": "class", "Await": "await", "AsyncFor": "async for",
    "TryStar": "except*", "YieldFrom": "yield from", "AsyncWith": "async with",
}  # fmt: skip


def word_for(node: ast.AST) -> str:
    """What a node of the syntax tree is in the user's words: `with` for `With`."""
    return _WORDS.get(type(node).__name__, type(node).__name__)

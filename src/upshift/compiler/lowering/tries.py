"""`try`, `with`, `raise` and `assert`: where exceptions go, and what is done on the way."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from ..code import Block
from .names import Ending
from .patterns import Patterns


class Tries(Patterns):
    """Lowers what has to do with exceptions."""

    # ---- raising

    def s_Assert(self, s: ast.Assert) -> None:
        if sys.flags.optimize:
            return
        yes, no = self._new_block(), self._new_block()
        self.condition(s.test, yes, no)
        self.block = no
        call = ast.Call(ast.Name("AssertionError", ast.Load()), [s.msg] if s.msg is not None else [], [])
        self._throw(self._constant(AssertionError), ast.copy_location(call, s))
        self.block = yes

    def s_Raise(self, s: ast.Raise) -> None:
        if s.exc is None:
            if not self.caught:
                raise self.refuse("raises without an exception")
            return self._end("reraise", (self.caught[-1],))
        if s.cause is not None and not isinstance(s.cause, ast.Name | ast.Constant):
            raise self.refuse("raises from something else than an exception at hand")
        if isinstance(s.exc, ast.Call):
            return self._throw(self.value(s.exc.func), s.exc)
        return self._end("raise", (self.value(s.exc),))

    def _throw(self, cls: str, call: ast.Call) -> None:
        """`raise cls(...)`: the arguments are only made where somebody may catch what making them raises."""
        for name in (n for a in call.args if self._is_harmless([a]) for n in ast.walk(a) if isinstance(n, ast.Name)):
            if self._find(name.id) is not None:
                self._load(name.id)
        plain, full = self._new_block(), self._new_block()
        harmless = self._is_harmless([*call.args, *(keyword.value for keyword in call.keywords)])
        self._branch(self._emit("may skip making", cls, extra=harmless), plain, full)
        self.block = plain
        self._end("raise", (cls,))
        self.block = full
        args, shape = self._arguments(call)
        self._end("raise", (self._emit("call", cls, *args, extra=shape),))

    # ---- catching

    def s_Try(self, s: ast.Try) -> None:
        if not s.finalbody:
            return self._try_except(s)

        def inner() -> None:
            if s.handlers:
                self._try_except(s)
            else:
                self.body(s.body)

        def caught(_: str) -> str | None:
            self.body(s.finalbody)
            return None

        return self._around(inner, lambda: self.body(s.finalbody), caught)

    def _around(
        self, inner: Callable[[], None], ending: Callable[[], None], caught: Callable[[str], str | None]
    ) -> None:
        """`inner`, then `ending`, whichever way it is left; after an exception `caught`, which may give a flag that
        says whether the exception ends there."""
        outer = self.handler
        catch = Block(-1, outer)
        self.endings.append(Ending(ending, outer, list(self.loops), list(self.caught)))
        self.handler = catch
        self._jump_on()
        inner()
        self.endings.pop()
        self.handler = outer
        if self.block is not None:
            self._jump_on()
            ending()
        after = self.block
        self._adopt(catch)
        status = self._emit("move", "$status")
        self._jump_on()
        self.caught.append(status)
        ended = caught(status)
        self.caught.pop()
        if self.block is not None and ended is not None:
            following = self._new_block()
            if after is not None:
                kept, self.block = self.block, after
                self._jump(following)
                self.block = kept
            on = self._new_block()
            self._branch(ended, following, on)
            self.block, after = on, following
        if self.block is not None:
            self._end("reraise", (status,))
        self.block = after

    def _run_endings(self, down_to: int) -> None:
        """What has to be done on the way out, each outside of its own statement."""
        kept = self.endings, self.handler, self.loops, self.caught
        for depth in range(len(kept[0]) - 1, down_to - 1, -1):
            one = kept[0][depth]
            if self.block is not None:
                self.endings, self.handler, self.loops, self.caught = (
                    kept[0][:depth],
                    one.handler,
                    one.loops,
                    one.caught,
                )
                self._jump_on()
                one.run()
        self.endings, self.handler, self.loops, self.caught = kept

    def _try_except(self, s: ast.Try) -> None:
        outer = self.handler
        catch = Block(-1, outer)
        after: Block | None = None

        def on() -> None:
            nonlocal after
            if self.block is not None:
                after = after or self._new_block()
                self._jump(after)

        self.handler = catch
        self._jump_on()
        self.body(s.body)
        self.handler = outer
        if self.block is not None:
            self._jump_on()
            self.body(s.orelse)
        on()
        self._adopt(catch)
        caught = self._emit("move", "$status")
        for clause in s.handlers:
            inside = self._new_block()
            other = self._new_block()
            if clause.type is None:
                self._jump(inside)
            else:
                self.line = clause.lineno
                flag = self._emit("is caught by", caught, self.value(clause.type))
                self._branch(flag, inside, other)
            self.block = inside
            self._clause(clause, caught)
            on()
            self.block = other
        if self.block is not None:
            self._end("reraise", (caught,))
        self.block = after  # type: ignore[assignment]

    def _clause(self, clause: ast.ExceptHandler, caught: str) -> None:
        self.caught.append(caught)
        if clause.name is not None:
            name = clause.name
            self._store(name, caught)
            unset = Ending(lambda: self._unset(name), self.handler, list(self.loops), list(self.caught))
            self.endings.append(unset)
            self.body(clause.body)
            self.endings.pop()
            if self.block is not None:
                self._unset(name)
        else:
            self.body(clause.body)
        self.caught.pop()

    def _unset(self, name: str) -> None:
        """The name of an exception is gone after its clause."""
        found = self._find(name)
        if found is not None and not self._is_boxed(found):
            self._emit("unset", dst=None, extra=found)

    # ---- with

    def s_With(self, s: ast.With) -> None:
        self._with(s.items, s.body)

    def _with(self, items: list[ast.withitem], body: list[ast.stmt]) -> None:
        if not items:
            return self.body(body)
        item = items[0]
        manager = self._copied(item.context_expr)
        entered = self._emit("enter", manager)

        def inner() -> None:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered)
            self._with(items[1:], body)

        def ending() -> None:
            self._emit("exit", manager, dst=None)

        return self._around(inner, ending, lambda status: self._emit("exit with", manager, status))

"""`match`: every pattern is a test of the subject, which binds names as it goes."""

from __future__ import annotations

import ast

from ..code import Block, Shape
from .expressions import Expressions


class Patterns(Expressions):
    """Lowers `match`."""

    def body(self, statements: list[ast.stmt]) -> None:
        """Lowers statements; see `statements.py`, where it is written."""
        raise NotImplementedError

    def s_Match(self, s: ast.Match) -> None:
        subject = self._copied(s.subject)
        after = self._new_block()
        for case in s.cases:
            self.line = case.pattern.lineno
            inside, other = self._new_block(), self._new_block()
            self._pattern(case.pattern, subject, other)
            if case.guard is not None and self.block is not None:
                self.condition(case.guard, inside, other)
            elif self.block is not None:
                self._jump(inside)
            self.block = inside
            self.body(case.body)
            if self.block is not None:
                self._jump(after)
            self.block = other
        if self.block is not None:
            self._jump(after)
        self.block = after

    def _pattern(self, p: ast.pattern, subject: str, no: Block) -> None:
        """Go on in this block where a pattern is met, to `no` where it is not."""
        if isinstance(p, ast.MatchValue):
            flag = self._emit("compare", subject, self.value(p.value), extra="Eq")
            self._require(self._truth(flag), no)
        elif isinstance(p, ast.MatchSingleton):
            self._require(self._emit("compare", subject, self._constant(p.value), extra="Is"), no)
        elif isinstance(p, ast.MatchAs):
            if p.pattern is not None:
                self._pattern(p.pattern, subject, no)
            if p.name is not None and self.block is not None:
                self._store(p.name, subject)
        elif isinstance(p, ast.MatchOr):
            self._one_of(p, subject, no)
        elif isinstance(p, ast.MatchSequence):
            self._sequence(p, subject, no)
        elif isinstance(p, ast.MatchClass):
            self._class(p, subject, no)
        elif isinstance(p, ast.MatchMapping):
            self._mapping_pattern(p, subject, no)
        else:
            raise self.refuse("uses an unusual pattern")

    def _one_of(self, p: ast.MatchOr, subject: str, no: Block) -> None:
        inside = self._new_block()
        for one in p.patterns:
            following = self._new_block()
            self._pattern(one, subject, following)
            if self.block is not None:
                self._jump(inside)
            self.block = following
        self._jump(no)
        self.block = inside

    def _sequence(self, p: ast.MatchSequence, subject: str, no: Block) -> None:
        stars = [i for i, one in enumerate(p.patterns) if isinstance(one, ast.MatchStar)]
        self._require(self._emit("is sequence", subject, extra=(len(p.patterns), bool(stars))), no)
        parts = self._emit("unpack", subject, extra=(len(p.patterns), stars[0] if stars else None))
        for i, one in enumerate(p.patterns):
            part = self._emit("pick", parts, extra=i)
            if not isinstance(one, ast.MatchStar):
                self._pattern(one, part, no)
            elif one.name is not None:
                self._store(one.name, part)

    def _class(self, p: ast.MatchClass, subject: str, no: Block) -> None:
        """`Point(1.0, y=b)`: an instance, whose attributes meet patterns of their own."""
        cls = self.value(p.cls)
        flag = self._emit("call", self._constant(isinstance), subject, cls, extra=Shape((False, False)))
        self._require(flag, no)
        places = [*range(len(p.patterns)), *p.kwd_attrs]
        for place, one in zip(places, [*p.patterns, *p.kwd_patterns]):
            self._require(self._emit("has part", subject, cls, extra=place), no)
            self._pattern(one, self._emit("part", subject, cls, extra=place), no)

    def _mapping_pattern(self, p: ast.MatchMapping, subject: str, no: Block) -> None:
        self._require(self._emit("is mapping", subject), no)
        keys = [self.value(key) for key in p.keys]
        for key, one in zip(keys, p.patterns):
            self._require(self._emit("compare", key, subject, extra="In"), no)
            self._pattern(one, self._emit("item", subject, key), no)
        if p.rest is not None:
            rest = self._emit("call", self._constant(dict), subject, extra=Shape((False,)))
            for key in keys:
                self._emit("delitem", rest, key, dst=None)
            self._store(p.rest, rest)

"""Writes expressions: a kind in, a random expression of that kind out, over the variables that are set."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass, field

from fuzz.grammar import ALWAYS, CONSTANTS, FAMILIES, Form, forms_of
from fuzz.kinds import Bound, filled, parsed, unify

HOLE = re.compile(r"\{\{|\}\}|\{([^{}]*?)\}")
OTHER = tuple(name for name in FAMILIES if name not in ALWAYS)
SHARE = 0.45
"""Of all families, as many are used in one program: what a program is about differs, and rare things meet."""


@dataclass
class Writer:
    """One program being written: its dice, its variables with their kinds, and the families it draws from."""

    dice: random.Random
    families: frozenset[str] = frozenset()
    scope: dict[str, str] = field(default_factory=dict)
    """Variables that are set, and their kinds; the latest last."""
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    loops: int = 0
    """How many loops are around what is being written."""

    def __post_init__(self) -> None:
        if not self.families:
            self.families = frozenset(ALWAYS) | {name for name in OTHER if self.dice.random() < SHARE}

    # ---- choices

    def chance(self, of: float) -> bool:
        return self.dice.random() < of

    def fresh(self, hint: str = "v") -> str:
        return f"{hint}{next(self.numbers)}"

    def variables(self, kind: str) -> list[str]:
        return [name for name, own in self.scope.items() if own == kind]

    # ---- expressions

    def expression(self, kind: str, depth: int) -> str:
        """An expression of a kind, with at most so many forms inside each other."""
        names = self.variables(kind)
        if names and self.chance(0.35 if depth > 0 else 0.8):
            return self.dice.choice(names)
        if depth <= 0:
            return self.leaf(kind)
        form = self.form(kind, statement=False)
        if form is None:
            return self.leaf(kind)
        bound = unify(form.kind, kind, {})
        assert bound is not None
        return self.fill(form.text, bound, depth)

    def form(self, kind: str, statement: bool) -> Form | None:
        """One of the forms for a kind, drawn by weight."""
        fitting = [
            form
            for form in forms_of(parsed(kind)[0], self.families, statement)
            if unify(form.kind, kind, {}) is not None and not self.is_too_much(form, kind)
        ]
        if not fitting:
            return None
        return self.dice.choices(fitting, [self.weight(form) for form in fitting])[0]

    def weight(self, form: Form) -> float:
        """Forms for any kind at all are less frequent than a kind's own."""
        return form.weight * (0.3 if form.kind in "TKU" else 1.0)

    def is_too_much(self, form: Form, kind: str) -> bool:
        """What grows without end in nested loops, and what has no meaning for a kind."""
        if form.kind in ("T", "K") and parsed(kind)[0] in HELPERS_OF_GRAMMAR:
            return True
        return self.loops > 1 and form.statement and any(sign in form.text for sign in ("*=", "extend", "+= {list"))

    def leaf(self, kind: str) -> str:
        names = self.variables(kind)
        if names and self.chance(0.7):
            return self.dice.choice(names)
        if kind in CONSTANTS:
            return self.constant(kind)
        return self.made(kind)

    def constant(self, kind: str) -> str:
        """A number near zero more often than one that is far away."""
        known = CONSTANTS[kind]
        if len(known) > 12 and self.chance(0.75):
            known = known[:8]
        text = self.dice.choice(known)
        return f"({text})" if text[0] == "-" or "*" in text or "+" in text else text

    def made(self, kind: str) -> str:
        """The shortest expression of a kind that has no constants."""
        head, parts = parsed(kind)
        if head == "()":
            return f"({', '.join(self.leaf(part) for part in parts)},)"
        if head in ("list", "set", "tuple", "deque", "counter"):
            items = ", ".join(self.leaf(parts[0]) for _ in range(self.dice.randrange(1, 4)))
            signs = {"set": "{%s}", "tuple": "(%s,)", "deque": "deque([%s])", "counter": "Counter([%s])"}
            return signs.get(head, "[%s]") % items
        if head == "dict":
            return f"{{{self.leaf(parts[0])}: {self.leaf(parts[1])}}}"
        if head == "defaultdict":
            return "defaultdict(list)" if parts[1].startswith("list") else f"defaultdict({parts[1]})"
        if head == "opt":
            return self.leaf(parts[0]) if self.chance(0.6) else "None"
        if head == "num":
            return self.leaf(self.dice.choice(("int", "float", "int", "bool")))
        simple = {"bit": "0", "offset": "1", "base": "10", "step": "1", "bound": "2", "small": "3",
                  "finite": "2.5", "unit": "0.25"}  # fmt: skip
        return simple[head]

    # ---- forms

    def fill(self, text: str, bound: Bound, depth: int, self_name: str = "") -> str:
        """The form with its holes filled: expressions, and names of new variables."""
        names: dict[str, str] = {}
        parts, at = [], 0
        for hole in HOLE.finditer(text):
            parts.append(text[at : hole.start()])
            at = hole.end()
            inside = hole.group(1)
            if inside is None:
                parts.append(hole.group()[0])
            elif inside == "self":
                parts.append(self_name)
            elif inside.endswith("!"):
                parts.append(self._named(inside[:-1], names))
            else:
                made = self._hole(inside, bound, names, depth)
                parts.append(f"({made})" if made.isdigit() and text[at : at + 1] == "." else made)
        return "".join(parts) + text[at:]

    def _named(self, name: str, names: dict[str, str]) -> str:
        if name not in names:
            names[name] = self.fresh(name)
        return names[name]

    def _hole(self, inside: str, bound: Bound, names: dict[str, str], depth: int) -> str:
        pattern, _, given = inside.partition("|")
        kind = filled(pattern, bound, self.dice)
        if not given:
            return self.expression(kind, depth - 1)
        before = dict(self.scope)
        for one in given.split(","):
            name, _, of = one.partition(":")
            self.scope[self._named(name, names)] = filled(of, bound, self.dice)
        made = self.expression(kind, depth - 1)
        self.scope = before
        return made


HELPERS_OF_GRAMMAR = frozenset(
    {"finite", "unit", "small", "bit", "offset", "base", "step", "bound", "digits", "decimals", "letter"}
)
"""Kinds that only the grammar knows: ints and texts within bounds."""

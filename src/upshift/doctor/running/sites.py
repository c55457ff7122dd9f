"""Which places of a script are measured (calls, comprehensions, loops), found from the findings about it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from ..finding import Finding, Span
from ..names import names_in
from ..walk import File

CALLS = frozenset({"UPS101", "UPS102", "UPS103", "UPS104", "UPS106", "UPS122", "UPS131", "UPS133"})
FUNCTIONS = frozenset({"UPS110", "UPS111", "UPS120"})
EXPRESSIONS = frozenset({"UPS123", "UPS134"})
"""Calls that are replayed with the names that they mention."""
LOOPS = frozenset({"UPS112", "UPS123", "UPS132", "UPS114", "UPS109", "UPS141"})


@dataclass
class Site:
    """One place that is measured."""

    number: int
    sort: Literal["call", "function", "vectorized", "comprehension", "loop", "expression"]
    span: Span
    findings: list[Finding] = field(default_factory=list)
    name: str = ""
    """The function that is called, for the sorts function and vectorized."""
    reads: frozenset[str] = frozenset()
    """For a loop or an expression that may be replayed: every name that it mentions."""
    writes: tuple[str, ...] = ()
    """And those that hold its results."""


def find_sites(file: File, findings: list[Finding], first: int = 0) -> dict[Span, Site]:
    """The places to measure, by span; their numbers begin with `first`."""
    sites: dict[Span, Site] = {}
    places = {f.place: f for f in findings}
    wanted = {f.code for f in findings}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            _add_call(file, node, findings, sites)
        elif isinstance(node, ast.ListComp | ast.For) and wanted & LOOPS:
            _add_loop(file, node, places, sites)
    for site in sites.values():
        site.number += first
    return sites


def _add_call(file: File, node: ast.Call, findings: list[Finding], sites: dict[Span, Site]) -> None:
    span = file.span(node)
    here = [f for f in findings if f.code in CALLS and f.place == span]
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    whole = [f for f in findings if f.code in EXPRESSIONS and f.place == span]
    if whole and not _is_traced(file, node):
        texts = [ast.parse(edit.text) for f in whole for fix in f.fixes for edit in fix.edits]
        reads = names_in(node, *texts)
        sites[span] = Site(len(sites), "expression", span, whole, reads=reads)
        return
    if here and not _is_traced(file, node):
        sites[span] = Site(len(sites), "call", span, here)
        return
    if file.compiled.get(called) == "tensorflow.function" and not _is_traced(file, node):
        about = [f for f in findings if f.function == called or (f.code in FUNCTIONS and _names(file, f, called))]
        about += [f for f in findings if f.code == "UPS110" and f.place == span]
        if about:
            unique = list({(f.place, f.code): f for f in about}.values())
            sites[span] = Site(len(sites), "function", span, unique, called)
        return
    made = [f for f in findings if f.code == "UPS121" and _makes(file, f, node, called)]
    if made and not _is_traced(file, node):
        sites[span] = Site(len(sites), "vectorized", span, made, called)


def _names(file: File, finding: Finding, called: str) -> bool:
    """Whether a finding is about the definition of a function."""
    function = file.functions.get(called)
    if function is None:
        return False
    first, _, last, _ = file.span(function)
    top = min([first, *(d.lineno for d in function.decorator_list)])
    return top <= finding.place[0] and finding.place[2] <= last


def _makes(file: File, finding: Finding, node: ast.Call, called: str) -> bool:
    """Whether a call is one of the function that np.vectorize made at the finding."""
    function = file.functions.get(called)
    if function is not None:
        return any(file.span(getattr(d, "func", d)) == finding.place for d in function.decorator_list)
    if isinstance(node.func, ast.Call):
        return file.span(node.func.func) == finding.place
    return bool(called) and any(
        target == called and file.span(call.func) == finding.place for target, call in file.outline.wrapped
    )


def _is_traced(file: File, node: ast.AST) -> bool:
    """Whether a place is inside a function that something else than Python may run: compiled, decorated or mapped."""
    at: ast.AST | None = node
    while at is not None:
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {getattr(decorator, "id", "") for decorator in at.decorator_list}
            if (
                not decorators <= {"staticmethod", "classmethod", "property"}
                or at.name in file.compiled
                or at.name in file.traced
                or at.name in file.outline.mapped
            ):
                return True
        elif isinstance(at, ast.Lambda) or (isinstance(at, ast.ClassDef) and not _is_plain(file, at)):
            return True
        at = file.parents.get(at)
    return False


def _is_plain(file: File, cls: ast.ClassDef) -> bool:
    """Whether a class has no base but those of this file: a layer of Keras, say, has its methods run in graphs."""
    own = [node for node in ast.walk(file.tree) if isinstance(node, ast.ClassDef)]
    names = {"object", *(node.name for node in own)}
    bases, around = {cls.name}, [cls]
    while around:
        at = around.pop()
        found = {getattr(base, "id", "") for base in at.bases}
        if at.keywords or not found <= names:
            return False
        around += [node for node in own if node.name in found - bases]
        bases |= found
    return True


def _add_loop(file: File, node: ast.ListComp | ast.For, places: dict[Span, Finding], sites: dict[Span, Site]) -> None:
    span = file.span(node)
    found = [f for f in places.values() if f.code in LOOPS and _is_about(file, node, f, span)]
    if not found or _is_traced(file, node):
        return
    if isinstance(node, ast.ListComp):
        sites[span] = Site(len(sites), "comprehension", span, found)
        return
    site = sites[span] = Site(len(sites), "loop", span, found)
    texts = [ast.parse(edit.text) for f in found for fix in f.fixes for edit in fix.edits if edit.action == "block"]
    if texts:
        site.reads = names_in(node, *texts)
        site.writes = tuple(sorted(_results(node)))


def _results(node: ast.For) -> set[str]:
    """The names that hold what a loop has made: sums, lists that it appends to, arrays that it writes into."""
    found = set()
    for n in ast.walk(node):
        target: ast.AST | None = None
        if isinstance(n, ast.AugAssign):
            target = n.target
        elif isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            target = n
        elif isinstance(n, ast.Attribute) and n.attr == "append":
            target = n.value
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def _is_about(file: File, node: ast.ListComp | ast.For, finding: Finding, span: Span) -> bool:
    if finding.place == span:
        return True
    if finding.code == "UPS132":
        iterable = node.iter if isinstance(node, ast.For) else node.generators[0].iter
        return file.span(iterable) == finding.place
    inside = span[:2] <= finding.place[:2] and finding.place[2:] <= span[2:]
    return isinstance(node, ast.For) and finding.code in ("UPS114", "UPS109", "UPS141") and inside

"""Run recorded calls again with each alternative: what it costs, and whether the result is the same."""

from __future__ import annotations

import ast
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..finding import Edit, Finding, Fix
from ..kinds import argument
from ..rewrite import CannotRewrite, apply
from ..sources import remember
from ..walk import File
from .compare import Verdict, compare
from .purity import LIBRARIES, why_not_again
from .recorder import Kept, Record
from .sites import Site

AGAIN = 2.0
"""Seconds: what takes longer is not run a second time to see what it costs when warm."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One alternative, tried on one recorded call."""

    name: str
    cold: float
    warm: float
    verdict: Verdict | str
    """equal, close, differs, or the error that it raised."""
    saved: float = 0.0
    """Seconds that the run would have saved: measured costs, times the number of calls."""

    @property
    def is_good(self) -> bool:
        """Whether it gave the same, at least up to rounding."""
        return self.verdict in ("equal", "close")


Alternative = Callable[..., Any]
_MADE = "__made__"


def try_all(file: File, site: Site, record: Record, names: dict[str, Any]) -> tuple[list[Trial], str]:
    """Every alternative at a site, those that give the same first, the fastest first; or why there is none."""
    if not record.kept:
        return [], "nothing was recorded" if record.calls == 0 else ""
    reason = _why_not_text(file, site) if site.sort in ("loop", "expression") else _why_not(file, site)
    if reason:
        return [], reason
    found = alternatives(file, site, names)
    trials = [_try(name, run, record) for name, run in found.items()]
    return sorted(trials, key=lambda t: (not t.is_good, -t.saved)), ""


def _why_not(file: File, site: Site) -> str:
    """Why the function at a site must not be called again."""
    node = next(
        (n for n in ast.walk(file.tree) if isinstance(n, ast.Call | ast.ListComp) and file.span(n) == site.span), None
    )
    if node is None:
        return ""
    if isinstance(node, ast.ListComp):
        reason = why_not_again(file, ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.elt))
        return f"not replayed: the element's expression {reason}" if reason else ""
    for given in _called_at(file, site, node):
        function = file.function_of(given)
        name = getattr(given, "id", "the function")
        if function is not None:
            reason = why_not_again(file, function)
        else:
            reason = "" if file.dotted(given).startswith(LIBRARIES) else "is defined elsewhere, and may do anything"
        if reason:
            return f"not replayed: {name} {reason}"
    return ""


def _why_not_text(file: File, site: Site) -> str:
    """Why the functions of what would stand in place of a loop or an expression must not be called."""
    for _, edit in _texts(site):
        for node in ast.walk(ast.parse(edit.text)):
            function = file.functions.get(node.id) if isinstance(node, ast.Name) else node
            if isinstance(function, ast.FunctionDef | ast.Lambda) and (reason := why_not_again(file, function)):
                return f"not replayed: the {site.sort} {reason}"
    return ""


def _texts(site: Site) -> list[tuple[Fix, Edit]]:
    """What would stand in place of a loop or an expression."""
    return [
        (fix, e)
        for f in site.findings
        for fix in f.fixes
        if fix.tier != "whole"
        for e in fix.edits
        if e.action in ("block", "expression")
    ]


def _called_at(file: File, site: Site, node: ast.Call) -> list[ast.expr]:
    """The functions that a replay would call."""
    if site.name:
        if site.name in file.functions and site.name not in {target for target, _ in file.outline.wrapped}:
            return [ast.Name(site.name, ast.Load())]
        return [call.args[0] for target, call in file.outline.wrapped if target == site.name]
    if isinstance(node.func, ast.Call):
        return node.func.args[:1]
    given = [k.value for k in node.keywords if k.arg in ("fn", "func1d", "func", "map_func")]
    return node.args[:1] or given


def _try(name: str, run: Alternative, record: Record) -> Trial:
    kept = record.kept[0]
    verdict: Verdict | str = "equal"
    cold = warm = 0.0
    for i, call in enumerate(record.kept):
        try:
            call = call.fresh()
            start = time.perf_counter()
            made = run(call)
            seconds = time.perf_counter() - start
        except Exception as error:  # an alternative that raises is one that does not work: that is what is asked
            return Trial(name, 0.0, 0.0, f"{type(error).__name__}: {_gist(error)}")
        found = compare(call.result, made)
        verdict = found if found == "differs" or (found == "close" and verdict == "equal") else verdict
        cold = seconds if i == 0 else cold
        warm = seconds
    if cold < AGAIN:
        kept = kept.fresh()
        start = time.perf_counter()
        run(kept)
        warm = min(warm, time.perf_counter() - start)
    saved = record.seconds - (cold + (record.calls - 1) * warm)
    return Trial(name, cold, warm, verdict, saved if verdict != "differs" else 0.0)


def _gist(error: Exception) -> str:
    """The line of an error's text that says what is wrong: the first, but for AutoGraph's, which end with it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return lines[-1 if lines[0] == "in user code:" else 0][:100]


def alternatives(file: File, site: Site, names: dict[str, Any]) -> dict[str, Alternative]:
    """What may stand at a site, by name: the names of fixes, and others for comparison."""
    fixes = {fix.name for finding in site.findings for fix in finding.fixes}
    codes = {finding.code for finding in site.findings}
    found: dict[str, Alternative] = {}
    if site.sort == "comprehension":
        if "vectorised" in fixes:
            found["vectorised"] = _unstacked if "UPS112" in codes else _listed
        if "up.map" in fixes:
            found["up.map"] = lambda call: list(_load("upshift").map(call.fn, call.args[0]))
        if "up.map, tolist" in fixes:
            found["up.map, tolist"] = lambda call: _load("upshift").map(call.fn, call.args[0]).tolist()
    elif site.sort == "loop":
        found |= {fix.name: _in_place_of(fix, edit, names) for fix, edit in _texts(site) if edit.action == "block"}
    elif site.sort == "expression":
        found |= {fix.name: _in_place_of(fix, edit, names) for fix, edit in _texts(site)}
    elif site.sort == "function":
        found |= _rewritten(file, site, names)
    elif site.sort == "vectorized":
        found["up.vectorize"] = _with_upshift_vectorize()
    elif codes & {"UPS101", "UPS102", "UPS103"}:
        found |= _of_map(fixes, "map_fn") | _over_numpy(file, site, names)
    elif "UPS104" in codes:
        found |= _of_map(fixes, "vectorized_map")
    elif "UPS122" in codes and "up.map" in fixes:
        found["up.map"] = _along_axis
    elif codes & {"UPS131", "UPS133"}:
        if "vectorised" in fixes:
            found["vectorised"] = lambda call: call.args[0](call.fn.__self__)
        if "up.map" in fixes:
            found["up.map"] = _over_rows if "UPS131" in codes else _over_column
    return found


def _load(name: str) -> Any:
    """A library that an alternative is made of; the script has loaded most of them."""
    return importlib.import_module(name)


def _of_map(fixes: set[str], name: str) -> dict[str, Alternative]:
    tf, ut = _load("tensorflow"), _load("upshift.tensorflow")
    graphs: dict[int, Any] = {}

    def in_graph(call: Kept) -> Any:
        graph = graphs.setdefault(id(call.fn), tf.function(lambda e: call.fn(_fn(call), e, **_rest(call))))
        return graph(_elems(call))

    found: dict[str, Alternative] = {}
    if "vectorised" in fixes:
        found["vectorised"] = lambda call: _fn(call)(tf.convert_to_tensor(_elems(call)))
    found[f"ut.{name}"] = lambda call: getattr(ut, name)(*call.args, **call.keywords)
    found[f"tf.function({name})"] = in_graph
    return found


def _over_numpy(file: File, site: Site, names: dict[str, Any]) -> dict[str, Alternative]:
    """What stands in place of a map whose elements have a name, run with these elements."""
    texts = [(fix, edit) for fix, edit in _texts(site) if fix.name == "up.map"]
    if not texts:
        return {}
    node = next(n for n in ast.walk(file.tree) if isinstance(n, ast.Call) and file.span(n) == site.span)
    elems = argument(node, 1, "elems")
    assert isinstance(elems, ast.Name)
    own, run = elems.id, _in_place_of(*texts[0], names)
    return {"up.map": lambda call: run(replace(call, keywords={own: _elems(call)}))}


def _fn(call: Kept) -> Any:
    return call.args[0] if call.args else call.keywords["fn"]


def _elems(call: Kept) -> Any:
    return call.args[1] if len(call.args) > 1 else call.keywords["elems"]


def _rest(call: Kept) -> dict[str, Any]:
    return {k: v for k, v in call.keywords.items() if k not in ("fn", "elems")}


def _unstacked(call: Kept) -> Any:
    tf = _load("tensorflow")
    return tf.unstack(call.fn(call.args[0]))


def _listed(call: Kept) -> Any:
    return list(call.fn(call.args[0]))


def _with_upshift_vectorize() -> Alternative:
    """The same function, arguments of np.vectorize included; made once, as in the script."""
    up = _load("upshift")
    made: dict[int, Any] = {}

    def run(call: Kept) -> Any:
        fn = call.fn
        if id(fn) not in made:
            otypes = fn.otypes or None
            made[id(fn)] = up.vectorize(fn.pyfunc, otypes=otypes, excluded=fn.excluded or None, signature=fn.signature)
        return made[id(fn)](*call.args, **call.keywords)

    return run


def _along_axis(call: Kept) -> Any:
    up = _load("upshift")
    fn, axis, arr = (call.args + (None,) * 3)[:3]
    fn, axis = call.keywords.get("func1d", fn), call.keywords.get("axis", axis)
    arr = call.keywords.get("arr", arr)
    return up.map(fn, arr if axis else arr.T)


def _over_rows(call: Kept) -> Any:
    return _load("upshift").map(call.args[0] if call.args else call.keywords["func"], call.fn.__self__)


def _over_column(call: Kept) -> Any:
    up, pd = _load("upshift"), _load("pandas")
    column = call.fn.__self__
    return pd.Series(up.map(call.args[0], column.tolist()), column.index, name=column.name)


def _in_place_of(fix: Fix, edit: Edit, names: dict[str, Any]) -> Alternative:
    """A text in place of a loop or an expression, run with the names that it had; what it makes."""
    place = f"<{edit.action} with {fix.name}>"
    made = "" if edit.action == "block" else f"{_MADE} = "
    text = "".join(f"{line}\n" for line in fix.imports) + made + edit.text
    remember(place, text)
    code = compile(text, place, "exec", dont_inherit=True)

    def run(call: Kept) -> Any:
        own = {**names, **call.keywords}
        exec(code, own)
        return own[_MADE] if made else {name: own[name] for name in call.result}

    return run


def _rewritten(file: File, site: Site, names: dict[str, Any]) -> dict[str, Alternative]:
    """The function of a site, as each fix would write it."""
    found: dict[str, Alternative] = {}
    for finding in site.findings:
        for fix in finding.fixes:
            if finding.code == "UPS110":
                found.setdefault(fix.name, _with_tensors)
                continue
            made = _rebuild(file, finding, fix, site.name, names)
            if made is not None:
                found.setdefault(fix.name, lambda call, made=made: made(*call.args, **call.keywords))
    return found


def _with_tensors(call: Kept) -> Any:
    tf = _load("tensorflow")
    return call.fn(*[tf.constant(a) if isinstance(a, int | float) else a for a in call.args], **call.keywords)


def _rebuild(file: File, finding: Finding, fix: Fix, name: str, names: dict[str, Any]) -> Any:
    """A function of the script after a fix, with the script's names; None where the fix does not touch it."""
    try:
        tree = ast.parse(apply(file.source, [fix]))
    except CannotRewrite:
        return None
    wanted = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(wanted) != 1:
        return None
    text = "\n".join([*fix.imports, ast.unparse(wanted[0])]) + "\n"
    place = f"<{name} with {fix.name}>"
    remember(place, text)
    own = dict(names)
    exec(compile(text, place, "exec", dont_inherit=True), own)
    return own[name]

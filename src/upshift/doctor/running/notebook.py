"""The notebook magic `%%upshift`: runs a cell in the notebook's names and says what its slow lines cost."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
import textwrap
import time
import types
from collections.abc import Callable
from typing import Any

from ..kinds import NUMBER, Kind, dtype_family
from ..sources import remember, without_magics
from ..walk import File
from .instrument import RECORDER, instrument
from .measure import Measured, Run
from .recorder import Recorder
from .replay import try_all
from .report import tell
from .sites import find_sites


def run_cell(text: str, names: dict[str, Any], show: Callable[[str], Any] = lambda report: None) -> tuple[Any, str]:
    """The value of the cell's last expression, and the report, which is shown, whether the cell raises or not."""
    source = "\n".join(without_magics(text)) + "\n"
    file = File("<cell>", source, ast.parse(source))
    seed(file, names)
    findings = file.examine()
    sites = find_sites(file, findings)
    recorder = Recorder(sites.values())
    tree = instrument(file, sites)
    made = Run(findings=findings)
    start = time.perf_counter()
    value = None
    try:
        value = execute(tree, source, names, recorder)
    except Exception as error:
        made.error = f"{type(error).__name__}: {error}"
        raise
    finally:
        made.seconds = time.perf_counter() - start
        recorder.finish(made.seconds)
        for site in sites.values():
            record = recorder.records[site.number]
            trials, note = try_all(file, site, record, names) if record.calls else ([], "not reached")
            made.measured.append(Measured(site, record, tuple(trials), note))
        made.measured.sort(key=lambda m: -m.record.seconds)
        report = tell(made, "the cell")
        show(report)
    return value, report


_numbers = itertools.count(1)


def execute(tree: ast.Module, source: str, names: dict[str, Any], recorder: Recorder) -> Any:
    """Run a cell in the notebook's names, which it leaves as it would have; its functions have their source."""
    place = f"<cell {next(_numbers)} of %%upshift>"
    remember(place, source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    names[RECORDER] = recorder
    try:
        exec(compile(tree, place, "exec", dont_inherit=True), names)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), place, "eval", dont_inherit=True), names)
    finally:
        names.pop(RECORDER, None)
    return None


def seed(file: File, names: dict[str, Any]) -> None:
    """Tell the checks what the names of earlier cells are."""
    for name, value in names.items():
        if isinstance(value, types.ModuleType):
            file.imports[name] = value.__name__
        elif isinstance(value, types.FunctionType):
            _add_function(file, name, value)
        elif (kind := kind_of(value)) is not None:
            file.scope.names[name] = kind


def _add_function(file: File, name: str, value: types.FunctionType) -> None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError, SyntaxError):
        return
    if tree.body and isinstance(tree.body[0], ast.FunctionDef):
        file.functions.setdefault(name, tree.body[0])


def kind_of(value: Any) -> Kind | None:
    """What a live value is, in the words of the checks."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return NUMBER
    np, pd, tf = (sys.modules.get(name) for name in ("numpy", "pandas", "tensorflow"))
    if np is not None and isinstance(value, np.ndarray):
        return Kind("array", dtype_family(value.dtype.name), value.ndim, value.size)
    if pd is not None and isinstance(value, pd.DataFrame | pd.Series):
        return Kind("frame" if isinstance(value, pd.DataFrame) else "series")
    if tf is not None and isinstance(value, tf.Tensor):
        return Kind("tensor", value.dtype.name, value.shape.rank, value.shape.num_elements())
    return None


def load(shell: Any) -> None:
    """Make `%%upshift` known to IPython."""

    def upshift(line: str, cell: str) -> Any:
        """Run the cell; say which of its lines are slow, and what alternatives cost."""
        return run_cell(shell.transform_cell(cell), shell.user_ns, lambda report: print(report, end=""))[0]

    shell.register_magic_function(upshift, "cell", "upshift")

"""The source of upshift: a failure for each import that goes upward, in a circle or out of sight."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from upshift.compiler.parsing import parsed

PACKAGE = Path(__file__).parents[1] / "src" / "upshift"

# Top to bottom. A file imports from the layers above its own, or from its own layer, never in a circle.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("remedies",),
    ("errors",),
    ("config",),
    ("folder", "loading", "libraries"),
    ("views",),
    ("profiling",),
    ("columns",),
    ("rules",),
    ("trace",),
    ("emit",),
    ("compiler",),
    ("gears",),
    ("verify",),
    ("plan",),
    ("frames",),
    ("files",),
    ("words", "api", "partials", "unboxed", "axes", "broadcast", "map_batches"),
    ("adaptive",),
    ("report", "adapters", "doctor", "tensorflow", "pandas", "polars", "torch"),
    ("cli",),
    ("__init__",),
    ("__main__",),
)

# Touched only when a user's data or choice asks for them: `import upshift` must stay cheap.
FRAMEWORKS = frozenset({"numba", "jax", "tensorflow", "ray", "pandas", "polars", "pyarrow", "torch", "zarr"})

# Folders whose files stand on a framework, and the one file that loads them, when a job asks for it.
STAND_ON = {
    "upshift.gears.jax": ("jax",),
    "upshift.gears.ray": ("ray",),
    "upshift.gears.cuda": ("llvmlite",),
    "upshift.gears.torch": ("torch",),
    "upshift.tensorflow": ("tensorflow",),
}
DOOR = "upshift.gears.frameworks"

# (module, what it imports inside a function): why it may. "*" is an import whose name is computed.
ALLOWED_LAZY: dict[tuple[str, str], str] = {
    ("upshift.gears.frameworks", "upshift.gears.cuda.arrays"): "only for arrays on a GPU",
    ("upshift.gears.frameworks", "upshift.gears.jax.columns"): "only for arrays of JAX",
    ("upshift.gears.frameworks", "upshift.gears.cuda.driver"): "only where a GPU is asked for",
    ("upshift.gears.frameworks", "upshift.gears.cuda.function"): "only where the user names the gear",
    ("upshift.gears.frameworks", "upshift.gears.jax.gear"): "JAX takes a second to load",
    ("upshift.gears.frameworks", "upshift.gears.jax.context"): "JAX takes a second to load",
    ("upshift.gears.frameworks", "upshift.gears.jax.whole"): "only for arrays of JAX",
    ("upshift.gears.frameworks", "upshift.gears.torch.columns"): "only for tensors of PyTorch",
    ("upshift.gears.frameworks", "upshift.gears.ray.gear"): "only where the user names the gear",
    ("upshift.gears.frameworks", "upshift.tensorflow.elements"): "only for tensors",
    ("upshift.gears.frameworks", "upshift.tensorflow.whole"): "only for tensors",
    ("upshift", "*"): "plug-ins, which load their framework, when they are named",
    ("upshift.pandas", "pandas"): "the user asks for the plug-in",
    ("upshift.polars", "polars"): "the user asks for the plug-in",
    ("upshift.tensorflow.framework", "tensorflow"): "in a thread of its own, when the package is loaded",
    (
        "upshift.loading",
        "*",
    ): "`Later`: what it stands for is imported beside it, for the type checker",
    ("upshift.trace.capture", "*"): "runs the import statements of the user's function, as they stand",
    ("upshift.doctor.rotation", "tensorflow"): "called by scripts that have loaded it",
    ("upshift.doctor.running.replay", "*"): "alternatives are made of what the measured script uses",
    ("upshift.report.profile", "*"): "what is watched has to be loaded, by the names of the places",
    ("upshift.report.bench", "*"): "the benchmarks are a package of their own, in one of two places",
}


@dataclass(frozen=True)
class Import:
    """One import in the source: who, what, where, and whether it runs when the module is loaded."""

    importer: str
    imported: str
    place: str
    lazy: bool = False
    typing_only: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.importer, self.imported

    @property
    def framework(self) -> bool:
        return self.imported.split(".")[0] in FRAMEWORKS

    @property
    def internal(self) -> bool:
        return self.imported.split(".")[0] == "upshift"


class ImportFinder(ast.NodeVisitor):
    """Collects the imports of one module, resolved to the modules that they load."""

    def __init__(self, module: str, path: Path, modules: frozenset[str]) -> None:
        self.module, self.path, self.modules = module, path, modules
        self.lazy = self.typing_only = False
        self.found: list[Import] = []

    def add(self, imported: str, node: ast.AST) -> None:
        place = f"{self.path.relative_to(PACKAGE.parent)}:{getattr(node, 'lineno', 0)}"
        self.found.append(Import(self.module, imported, place, self.lazy, self.typing_only))

    def inside_function(self, node: ast.AST) -> None:
        before, self.lazy = self.lazy, True
        self.generic_visit(node)
        self.lazy = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = inside_function

    def visit_If(self, node: ast.If) -> None:
        before = self.typing_only
        self.typing_only = before or "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body:
            self.visit(child)
        self.typing_only = before
        for child in node.orelse:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        source = self.absolute(node)
        for alias in node.names:
            name = f"{source}.{alias.name}"
            self.add(name if name in self.modules else source, node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if called.split(".")[-1] in ("import_module", "__import__") and node.args:
            name = node.args[0]
            literal = isinstance(name, ast.Constant) and isinstance(name.value, str)
            # Such an import is out of sight wherever it stands.
            before, self.lazy = self.lazy, True
            self.add(name.value if literal and not name.value.startswith(".") else "*", node)
            self.lazy = before
        self.generic_visit(node)

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.module if self.path.name == "__init__.py" else self.module.rpartition(".")[0]
        for _ in range(node.level - 1):
            package = package.rpartition(".")[0]
        return f"{package}.{node.module}" if node.module else package


def name_module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_imports() -> list[Import]:
    paths = {name_module(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    found: list[Import] = []
    for module, path in paths.items():
        finder = ImportFinder(module, path, frozenset(paths))
        finder.visit(parsed(path.read_text(encoding="utf-8")))
        found += finder.found
    return found


IMPORTS = find_imports()


def layer_of(module: str) -> int:
    """The position of a module's layer in LAYERS; further down is a larger number."""
    parts = module.split(".")
    name = parts[1] if len(parts) > 1 else "__init__"
    for depth, names in enumerate(LAYERS):
        if name in names:
            return depth
    raise KeyError(f"{module} has no layer: add {name!r} to LAYERS in {Path(__file__).name}")


def complain(broken: Iterator[str] | list[str]) -> None:
    lines = list(broken)
    assert not lines, "\n".join(["", *lines])


def test_every_file_has_a_layer() -> None:
    for path in PACKAGE.rglob("*.py"):
        layer_of(name_module(path))


def test_no_import_goes_upward() -> None:
    complain(
        f"{i.place}: {i.importer} must not know {i.imported}, which is in a lower layer"
        for i in IMPORTS
        if i.internal and not i.lazy and layer_of(i.imported) > layer_of(i.importer)
    )


def test_no_import_is_hidden() -> None:
    complain(
        f"{i.place}: {i.importer} imports {i.imported} out of sight: "
        f"{'' if i.framework else 'move it to the top, or '}add it to ALLOWED_LAZY with the reason"
        for i in IMPORTS
        if i.lazy and (i.internal or i.framework or i.imported == "*") and i.key not in ALLOWED_LAZY
    )


def test_no_framework_is_imported_at_the_top() -> None:
    complain(
        f"{i.place}: {i.imported} is imported when {i.importer} is loaded: import it where it is used"
        for i in IMPORTS
        if i.framework and not i.lazy and not i.typing_only and not is_its_own(i)
    )


def is_its_own(i: Import) -> bool:
    """Whether a file imports the framework that its folder stands on."""
    return i.imported.split(".")[0] in STAND_ON.get(i.importer.rpartition(".")[0], ())


def test_what_stands_on_a_framework_is_loaded_through_one_door() -> None:
    complain(
        f"{i.place}: {i.importer} loads {i.imported}, which stands on a framework: go through {DOOR}"
        for i in IMPORTS
        if i.imported.startswith(tuple(STAND_ON))
        and not i.importer.startswith(tuple(STAND_ON))
        and not (i.importer == DOOR and i.lazy)
    )


def test_allowed_lazy_imports_exist_and_have_a_reason() -> None:
    lazy = {i.key for i in IMPORTS if i.lazy}
    complain(f"ALLOWED_LAZY{key}: there is no such import any more" for key in ALLOWED_LAZY if key not in lazy)
    complain(f"ALLOWED_LAZY{key}: say why" for key, reason in ALLOWED_LAZY.items() if not reason.strip())


def test_no_circles_within_a_layer() -> None:
    graph: dict[str, set[str]] = {}
    for i in IMPORTS:
        if i.internal and not i.lazy and i.imported != i.importer:
            graph.setdefault(i.importer, set()).add(i.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("modules import each other in a circle: " + " -> ".join(error.args[1]))


def test_importing_upshift_loads_no_framework() -> None:
    code = "import sys, upshift; print(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = FRAMEWORKS.intersection(done.stdout.split())
    assert not loaded, f"import upshift also imports {', '.join(sorted(loaded))}"

"""What the site has beside docs/: pages of the root, the reference of functions, links that stay inside."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {"architecture.md": "ARCHITECTURE.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages of the site that lie beside docs/."""
OUTSIDE = {**{there: here for here, there in PAGES.items()}, "README.md": "index.md", "SECURITY.md": "threats.md"}
_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+|(?=[A-Za-z]))([^)#:\s]+)(#[^)]*)?\)")

REFERENCE = {
    "Mapping": (
        "upshift",
        [("api.py", "map"), ("axes.py", "vmap"), ("broadcast.py", "vectorize"), ("map_batches.py", "batched")],
    ),
    "Whole functions": ("upshift", [("adaptive/decorate.py", "function")]),
    "Seeing": ("upshift", [("api.py", "explain"), ("api.py", "source"), ("report/profile.py", "profile")]),
    "Settings": ("upshift", [("config.py", "config")]),
    "Errors": ("upshift", [("errors.py", name) for name in ("UpshiftError", "LengthError", "GearRefused", "Refusal")]),
    "TensorFlow": (
        "upshift.tensorflow",
        [
            ("tensorflow/mapping.py", "map_fn"), ("tensorflow/mapping.py", "vectorized_map"),
            ("tensorflow/datasets.py", "map_dataset"), ("tensorflow/datasets.py", "map"),
            ("tensorflow/numpy_function.py", "numpy_function"), ("tensorflow/numpy_function.py", "py_function"),
            ("tensorflow/native.py", "native_form"), ("tensorflow/layer.py", "MapLayer"),
            ("tensorflow/saved.py", "save"), ("tensorflow/explain.py", "explain"),
            ("tensorflow/value.py", "NotNative"), ("tensorflow/saved.py", "NotSaved"),
        ],
    ),
}  # fmt: skip
"""Public names by heading: what to import, and (file, name)."""


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name, there in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / there).read_text(encoding="utf-8")))
    files.append(File.generated(config, "api.md", content=reference()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return linked(markdown, page.file.src_uri)


def linked(markdown: str, page: str) -> str:
    """Links as the repository has them, as the site has them: what lies outside of it is named, and not linked."""
    here = ROOT / PAGES[page] if page in PAGES else ROOT / "docs" / page

    def link(found: re.Match[str]) -> str:
        text, up, path, anchor = found.groups()
        there = (here.parent / f"{up}{path}").resolve()
        if not there.is_relative_to(ROOT):
            return found[0]
        name = there.relative_to(ROOT).as_posix()
        to = OUTSIDE.get(name) or (name.removeprefix("docs/") if name.startswith("docs/") else "")
        return f"[{text}]({'../' * page.count('/')}{to}{anchor or ''})" if to else text

    return _LINK.sub(link, markdown)


# ---- the reference of functions


def reference() -> str:
    """Every public name with its signature and docstring, read from the source."""
    lines = ["# Functions", "", "`import upshift as up`, and `import upshift.tensorflow as ut`.", ""]
    for heading, (module, names) in REFERENCE.items():
        lines += [f"## {heading}", ""]
        for file, name in names:
            lines += [*_entry(module, file, name), ""]
    return "\n".join(lines)


def _entry(module: str, file: str, name: str) -> Iterator[str]:
    tree = ast.parse((ROOT / "src" / "upshift" / file).read_text(encoding="utf-8"))
    node = [one for one in tree.body if getattr(one, "name", None) == name][-1]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef), name
    yield f"### {'up' if module == 'upshift' else 'ut'}.{name}"
    yield ""
    if isinstance(node, ast.FunctionDef):
        yield from ["```python", _signature(node), "```", ""]
    yield from as_markdown(inspect.cleandoc(ast.get_docstring(node) or ""))


def _signature(node: ast.FunctionDef) -> str:
    given = node.args
    defaults = dict(zip([one.arg for one in reversed(given.args)], reversed(given.defaults), strict=False))
    words = [one.arg + (f"={ast.unparse(defaults[one.arg])}" if one.arg in defaults else "") for one in given.args]
    words += [f"*{given.vararg.arg}"] if given.vararg else ["*"] if given.kwonlyargs else []
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        words.append(one.arg + (f"={ast.unparse(default)}" if default else ""))
    words += [f"**{given.kwarg.arg}"] if given.kwarg else []
    whole = f"{node.name}({', '.join(words)})"
    return whole if len(whole) <= 100 else f"{node.name}(\n    " + ",\n    ".join(words) + ",\n)"


def as_markdown(text: str) -> Iterator[str]:
    """A docstring: its examples, which are run as tests, as code."""
    inside = False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            yield from ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            yield "```"
            inside = False
        yield line
    if inside:
        yield "```"

"""Files as they are: broken, huge, in other encodings, notebooks with magics; and that a fix is all or nothing."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from doctor.programs import make_program
from upshift.cli import main
from upshift.doctor.fixing import fix, look
from upshift.doctor.sources import Source, read

SLOW = "import numpy as np\nxs = np.linspace(0, 1, 1000)\nys = [x * x for x in xs]\n"


@pytest.mark.parametrize(
    "data",
    [
        b"def f(:\n",
        b"\xff\xfe\x00",
        b"x = '\xe4'\n",
        b"# -*- coding: nonsense -*-\n",
        b"a\0b",
        b"print 'two'\n",
        b"\tx\n  y\n",
    ],
)
def test_a_file_that_is_no_python_is_named(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(data)
    (tmp_path / "y.py").write_text(SLOW)
    for extra in ([], ["--fix"], ["--diff"]):
        assert main(["doctor", str(tmp_path), *extra]) == 2
        told = capsys.readouterr()
        assert f"error: {path}" in told.out + told.err
    assert path.read_bytes() == data
    assert "list(xs * xs)" in (tmp_path / "y.py").read_text(), "the others are looked at all the same"


def test_empty_and_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.py").write_text("")
    assert main(["doctor", str(tmp_path)]) == 0
    assert main(["doctor", str(tmp_path / "no.py")]) == 2
    (tmp_path / "x.ipynb").write_text("{}")
    assert main(["doctor", str(tmp_path)]) == 2
    assert "save it with Jupyter" in capsys.readouterr().out


def test_other_encodings_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(("# coding: latin-1\nname = 'Jürgen'  # schön\n" + SLOW).encode("latin-1"))
    assert main(["doctor", "--fix", str(path)]) == 0
    text = path.read_bytes().decode("latin-1")
    assert "list(xs * xs)" in text and "schön" in text


def test_columns_after_other_letters(tmp_path: Path) -> None:
    text = "import numpy as np\nxs = np.linspace(0, 1, 1000)\nä = 'ü🙂'; ys = [x * x for x in xs]\n"
    (found,) = look(Source("x.py", text))
    assert found.column == text.splitlines()[2].index("[")
    assert "ä = 'ü🙂'; ys = list(xs * xs)\n" in fix(Source("x.py", text)).text


def test_line_ends_comments_and_format_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    before = SLOW.replace("\n", "\r\n") + "z = ( 1,\r\n      2 )   # odd\r\nd={ 'a' :1}\r\n"
    path.write_bytes(before.encode())
    main(["doctor", "--fix", str(path)])
    assert path.read_bytes().decode() == before.replace("[x * x for x in xs]", "list(xs * xs)")


def test_huge_and_deep_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "huge.py").write_text("import numpy as np\n" + "def f(x):\n    return np.sin(x) + 1\n" * 20_000 + SLOW)
    assert main(["doctor", str(tmp_path / "huge.py")]) == 1
    (tmp_path / "deep.py").write_text("import numpy as np\nx = " + "(" * 150 + "1" + ")" * 150 + "\n")
    assert main(["doctor", str(tmp_path / "deep.py")]) == 0
    for number in ("-" * 200_000 + "1", "+".join("1" * 100_000)):
        (tmp_path / "deep.py").write_text(f"import numpy as np\nx = {number}\n")
        assert main(["doctor", str(tmp_path / "deep.py")]) == 2
        assert "nested too deeply" in capsys.readouterr().out
    (tmp_path / "long.py").write_text("import numpy as np\nx = " + "+".join(["1"] * 3000) + "\n")
    assert main(["doctor", str(tmp_path / "long.py")]) in (0, 2)


def test_a_fix_touches_only_the_named_file_and_keeps_its_mode(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(SLOW)
    two.write_text(SLOW)
    one.chmod(0o755)
    assert main(["doctor", "--fix", str(one)]) == 0
    assert two.read_text() == SLOW
    assert stat.S_IMODE(one.stat().st_mode) == 0o755
    assert sorted(os.listdir(tmp_path)) == ["one.py", "two.py"]
    text = one.read_text()
    assert main(["doctor", "--fix", str(one)]) == 0 and one.read_text() == text


def test_diff_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.py"
    path.write_text(SLOW)
    assert main(["doctor", "--diff", str(path)]) == 1
    assert "+ys = list(xs * xs)" in capsys.readouterr().out
    assert path.read_text() == SLOW


def test_names_that_are_taken_are_not_imported_over() -> None:
    text = "import numpy as np\nup = 3\nf = np.vectorize(len)\nprint(up)\n"
    source = Source("x.py", text)
    assert fix(source, choice=lambda f: f.fixes[-1] if f.fixes else None).text == text


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": c.splitlines(keepends=True), "outputs": [], "metadata": {}} for c in cells]
    made.insert(1, {"cell_type": "markdown", "source": ["# np.vectorize"], "metadata": {}})
    return json.dumps(
        {"cells": made, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    )


CELLS = (
    "%matplotlib inline\nimport numpy as np\nxs = np.linspace(0, 1, 1000)",
    "!pip install numpy\nfiles = !ls\nnp.vectorize?",
    "%%bash\nfor x in *; do echo $x; done",
    "%%time\nys = [x * x for x in xs]  # squares\nif True:\n    %timeit sum(ys)\nprint(len(ys))",
)


def test_notebooks_with_magics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(notebook(*CELLS))
    assert main(["doctor", str(path)]) == 1
    assert f"{path}:cell 4:2:6: UPS123" in capsys.readouterr().out
    assert main(["doctor", "--fix", str(path)]) == 0
    made = ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert made == [*CELLS[:3], CELLS[3].replace("[x * x for x in xs]", "list(xs * xs)")]


def test_places_in_a_notebook_count_within_their_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(notebook(*CELLS))
    main(["doctor", "--format", "json", str(path)])
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["cell"] == 4 and found["range"]["start"] == {"line": 1, "character": 5}
    assert found["fixes"][0]["edits"][0]["range"] == found["range"]
    path.write_text(notebook(*CELLS, "def f(:"))
    assert main(["doctor", str(path)]) == 2
    assert f"{path}:cell 5:1: invalid syntax" in capsys.readouterr().out


@pytest.mark.parametrize("style", [{"indent": 1, "ensure_ascii": False}, {"indent": 2}, {}])
def test_a_notebook_is_written_as_it_was(style: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    cells = json.loads(notebook("# é", *CELLS))
    path.write_text(json.dumps(cells, **style) + "\n", encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    assert main(["doctor", "--fix", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == before.replace("[x * x for x in xs]", "list(xs * xs)")


def test_without_libcst_nothing_is_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.py"
    path.write_text(SLOW)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for words in (["--fix", str(path)], ["--diff", str(path)], ["--fix", "--run", str(path)]):
        assert main(["doctor", *words]) == 2
        assert 'rewriting needs libcst: pip install "upshift[doctor]"' in capsys.readouterr().err
    assert main(["doctor", str(path)]) == 1 and path.read_text() == SLOW


def printed(text: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.filterwarnings("ignore")
def test_fuzz_numpy_programs_print_the_same_after_a_fix() -> None:
    changed = 0
    for seed in range(250):
        text = make_program("numpy", seed)
        fixed = fix(Source("x.py", text)).text
        changed += fixed != text
        assert printed(fixed) == printed(text), f"seed {seed}:\n{text}\n{fixed}"
    assert changed >= 40


def test_reading_gives_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"\xef\xbb\xbfimport numpy\r\n")
    assert read(str(path)).encoding == "utf-8-sig"


TENSORS = "import numpy as np\nimport tensorflow as tf\n"
MAPPED = "ys = tf.map_fn(lambda x: x * x, xs)\n"


@pytest.mark.parametrize(
    "text",
    [
        TENSORS + "xs = np.ones(3)\nif len(xs) > 2:\n    xs = tf.range(3.0)\n" + MAPPED,
        TENSORS + "try:\n    xs = tf.range(3.0)\nexcept ValueError:\n    xs = np.ones(3)\n" + MAPPED,
        TENSORS
        + "xs = tf.range(3.0)\nfor i in range(2):\n    ys = tf.map_fn(lambda x: x * x, xs)\n    xs = np.ones(3)\n",
        TENSORS
        + "xs = tf.range(3.0)\ndef f():\n    return tf.map_fn(lambda x: x * x, xs)\nf()\nxs = np.ones(3)\nf()\n",
        TENSORS + "def g():\n    global xs\n    xs = np.ones(3)\nxs = tf.range(3.0)\ng()\n" + MAPPED,
        TENSORS + "def f(xs):\n    return tf.map_fn(lambda x: x * x, xs)\nf(np.ones(3))\n",
        TENSORS
        + "xs = tf.range(3.0)\nw = tf.ones(2)\nys = tf.map_fn(lambda x: x * w, xs, fn_output_signature=tf.float32)\n",
    ],
)
def test_nothing_is_called_safe_that_may_be_something_else(text: str) -> None:
    made = fix(Source("x.py", text)).text
    assert made == text or "convert_to_tensor(xs)" in made


ARRAY = "import numpy as np\nxs = np.linspace(0, 1, 200)\n"


@pytest.mark.parametrize(
    "text",
    [
        "if (xs := [1, 2]):\n    pass\n",
        "print([y for y in range(2) if (xs := [1, 2])])\n",
        "try:\n    xs = [1, 2]\n    int('a')\n    xs = np.linspace(0, 1, 200)\nexcept ValueError:\n    pass\n",
        "try:\n    pass\nexcept ValueError as xs:\n    pass\nelse:\n    xs = [1, 2]\n",
        "for i in range(3):\n    xs = [1, 2]\n    if i == 1:\n        break\n    xs = np.linspace(0, 1, 200)\n",
        "while True:\n    xs = [1, 2]\n    if len(xs) == 2:\n        break\n    xs = np.ones(200)\n",
        "match [1, 2]:\n    case xs:\n        pass\n",
        "match len(xs):\n    case 200:\n        xs = [1, 2]\n    case _:\n        xs = np.ones(200)\n",
        "match {'a': 1}:\n    case {'b': 1, **xs}:\n        pass\n    case _:\n        xs = [1, 2]\n",
        "class xs:\n    pass\nxs = iter([1, 2])\n",
    ],
)
def test_a_name_that_was_bound_anew_is_not_what_it_was(text: str) -> None:
    program = f"{ARRAY}{text}print([x * x for x in xs])\n"
    assert fix(Source("x.py", program)).text == program
    assert printed(program)


def test_what_is_bound_in_vain_stays_what_it_was() -> None:
    text = "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n"
    text += "xs = np.ones(200)\nys = [x * x for x in xs]\n"
    assert "list(xs * xs)" in fix(Source("x.py", text)).text
    text = ARRAY + "try:\n    n = int('1')\nfinally:\n    n = 2\nys = [x * x for x in xs]\n"
    assert "list(xs * xs)" in fix(Source("x.py", text)).text


@pytest.mark.parametrize("act", ["tf.print(x)", "total.assign_add(x)", "tf.summary.scalar('x', x)"])
def test_pipelines_that_act_keep_their_order(act: str) -> None:
    text = (
        f"import tensorflow as tf\ntotal = tf.Variable(0)\ndef f(x):\n    {act}\n    return x\n"
        "ds = tf.data.Dataset.range(9).map(f).batch(2)\nfor x in ds:\n    print(x)\n"
    )
    source = Source("x.py", text)
    assert {"UPS106", "UPS108"} <= {f.code for f in look(source)} and fix(source).text == text


@pytest.mark.parametrize(
    ("body", "elementwise"),
    [
        ("    y = x * 2.0\n    z = y + x\n    return z * y\n", True),
        ("    x = x * 2.0\n    x = x + 1.0\n    return x\n", True),
        ("    y = print(x)\n    return x * 2.0\n", False),
        ("    y = print(x)\n    z = y\n    return x * 2.0\n", False),
        ("    y = print(x)\n    y = x\n    return y * 2.0\n", False),
        ("    y = tf.reduce_sum(x)\n    return x * y\n", False),
        ("    x += 1.0\n    return x\n", False),
        ("    y = x\n", False),
        ("".join(f"    x = x * x + x{i % 2 * ' * 2.0'}\n" for i in range(40)) + "    return x\n", False),
    ],
)
def test_functions_of_several_lines(body: str, elementwise: bool) -> None:
    text = f"import tensorflow as tf\nxs = tf.range(9.0)\ndef f(x):\n{body}ys = tf.map_fn(f, xs)\n"
    assert ("ys = f(xs)\n" in fix(Source("x.py", text)).text) is elementwise


def test_a_diagonal_of_tensors_is_what_it_was() -> None:
    made = fix(Source("x.py", "import tensorflow as tf\ny = tf.diag(x)\n")).text
    assert "tf.linalg.tensor_diag(x)" in made  # tf.linalg.diag makes another shape of a matrix

"""Runs the doctor on many TensorFlow scripts in one process: a list of jobs in, what came of each out, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from upshift.doctor.checks import CHECKS
from upshift.doctor.figures import programs_of
from upshift.doctor.fixing import fix, look
from upshift.doctor.running.measure import run
from upshift.doctor.running.report import as_report
from upshift.doctor.running.treatment import safe_but, treat
from upshift.doctor.sources import Source, read


def run_here(source, argv, replay, texts=None):
    """A run in this process, in the words of `run_in_child`."""
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        made = run(source, argv, replay, texts)
    return as_report(made, source.path), printed.getvalue()


def treat_file(job):
    """Measure and mend a script; then run what became of it."""
    source = read(job["path"])
    made = treat(source, job["argv"], run_here, mend=True)
    final, output = run_here(Source(source.path, made.text), job["argv"], False)
    first = run_here(source, job["argv"], False)
    again = fix(Source(source.path, made.text), choice=safe_but(made.report["refused"]))
    return {
        "codes": sorted({f.code for f in look(source)}),
        "first_error": first[0]["error"],
        "first_output": first[1],
        "error": final["error"],
        "output": output,
        "measured_output": made.output,
        "words": made.words,
        "changed": made.text != source.text,
        "text": made.text,
        "idempotent": again.text == made.text,
        "sites": made.report["data"].get("sites", []),
    }


def fix_text(job):
    """Run a text, and what `--fix` makes of it."""
    path = Path(job["folder"]) / job["name"]
    path.write_text(job["text"], encoding="utf-8")
    source = read(str(path))
    fixed = fix(source)
    before, printed = run_here(source, [], False)
    after, printed_then = run_here(Source(source.path, fixed.text), [], False)
    return {
        "changed": fixed.text != source.text,
        "text": fixed.text,
        "before": [before["error"], printed],
        "after": [after["error"], printed_then],
    }


def compare_figure(job):
    """Both programs of a figure."""
    import numpy as np

    slow, fast = programs_of(CHECKS[job["code"]].figure)
    a, b = slow(), fast()
    if a is None or b is None:
        return {"same": a is b}
    flat = lambda v: np.asarray(v.numpy() if hasattr(v, "numpy") else v)
    x, y = flat(a), flat(b)
    return {
        "same": x.shape == y.shape and bool(np.allclose(x.astype(float), y.astype(float), rtol=1e-5)),
        "shape": list(x.shape),
    }


def names_of_version_1(job):
    """Names of the checks that are not as they say: only compat.v1 has them."""
    import tensorflow as tf

    from upshift.doctor.checks.leftovers import MODULES, MOVED, OF_GRAPHS, OF_VERSION_1

    def has(root, name):
        for part in name.split("."):
            root = getattr(root, part, None)
        return root is not None

    still = [name for name in (*MOVED, *OF_VERSION_1, *OF_GRAPHS, *MODULES) if has(tf, name)]
    gone = [name for name in (*OF_VERSION_1, *MODULES) if not has(tf.compat.v1, name)]
    return {"wrong": [*still, *gone, *(new for new in MOVED.values() if not has(tf, new))]}


DOES = {"file": treat_file, "text": fix_text, "figure": compare_figure, "names": names_of_version_1}


def main():
    jobs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    done = {name: DOES[job["do"]](job) for name, job in jobs.items()}
    Path(sys.argv[2]).write_text(json.dumps(done), encoding="utf-8")


if __name__ == "__main__":
    main()

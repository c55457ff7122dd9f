"""The process that runs the user's script: it reads a job from a file and leaves a report in another."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path

from ..sources import Source
from .measure import run
from .report import as_report


def main(job: str) -> int:
    """Run a job: {path, text, codes, argv, replay, texts, report}."""
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # `python -m` put it there; a script does not see modules beside which it happens to be started
    given = json.loads(Path(job).read_text(encoding="utf-8"))
    source = Source(given["path"], given["text"], codes=None if given["codes"] is None else frozenset(given["codes"]))
    made = run(source, given["argv"], given["replay"], given["texts"])
    sys.stdout.flush()
    Path(given["report"]).write_bytes(pickle.dumps(as_report(made, source.path)))
    return made.status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

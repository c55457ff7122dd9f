"""Programs are written, run in the gear llvm and compared with the loop: `python -m fuzz --seconds 600 --seed 1`.

python -m fuzz --count 1000 --seed 3 --keep /tmp/found       # failing programs are shrunk and kept in that folder
python -m fuzz --count 100000 --jobs 16 --json all.json     # in 16 processes; one file of what all of them found
python -m fuzz --program 3:417                               # one program: its text, and what became of it
python -m fuzz --file findings/some_finding.py               # the same of a file
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz import finding
from fuzz.program import HEAD, Program, written
from fuzz.session import fuzz, judged, save


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--count", type=int, help="stop after so many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--stride", type=int, default=1, help="take every so many programs only")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_found"), help="folder for failing programs")
    parser.add_argument("--json", type=Path, help="file for the figures and the failing programs, of all processes")
    parser.add_argument("--unused", action="store_true", help="name what of the compiler was never used")
    parser.add_argument("--program", help="seed:number of one program")
    parser.add_argument("--file", type=Path, help="a program that was kept")
    given = parser.parse_args()
    if given.program or given.file:
        return _one(finding.read(given.file) if given.file else written(*map(int, given.program.split(":"))))
    with tempfile.TemporaryDirectory() as folder:
        others = [_other(given, job, Path(folder)) for job in range(1, given.jobs)]
        count = None if given.count is None else -(-given.count // given.jobs)
        stride = given.stride * given.jobs
        tally = fuzz(given.seed, given.start, count, given.seconds, stride, given.keep, _say)
        for process, file in others:
            if process.wait() not in (0, 1):
                tally.failures.append((given.seed, -1, f"a process of the fuzzer ended with {process.returncode}"))
            if file.exists():
                tally.merge(json.loads(file.read_text()))
    _say(tally.told())
    if given.unused:
        _say("\n".join(f"unused: {' '.join(map(str, place))}" for place in tally.unused()))
    if given.json is not None:
        save(tally, given.json)
    return int(bool(tally.failures))


def _other(given: argparse.Namespace, job: int, folder: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """The same for every so many programs, in a process of its own, and where it leaves what it has found."""
    file = folder / f"{job}.json"
    command = [sys.executable, "-m", "fuzz", "--seed", str(given.seed), "--keep", str(given.keep), "--json", str(file)]
    command += ["--start", str(given.start + job * given.stride), "--stride", str(given.stride * given.jobs)]
    if given.count is not None:
        command += ["--count", str(given.count // given.jobs)]
    command += ["--seconds", str(given.seconds)] if given.seconds is not None else []
    return subprocess.Popen(command, stdout=subprocess.DEVNULL), file


def _one(program: Program) -> int:
    verdict, told = judged(program)
    _say(program.text.removeprefix(HEAD))
    _say("\n".join(map(finding.shown, program.columns)))
    _say(f"{verdict} {told}")
    return int(verdict not in ("same", "refused", "slow"))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

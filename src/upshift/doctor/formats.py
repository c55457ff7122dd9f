"""How findings are printed: for terminals, editors (JSON), code scanning (SARIF) and GitHub's annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .checks import CHECKS
from .finding import Finding, Span

PAGES = "docs/doctor"


def _as_text(findings: Sequence[Finding], errors: Sequence[str], files: int) -> str:
    """One line for each finding, and a summary."""
    lines = [f"{f.where}: {f.code} {f.message}{mark(f)}" for f in findings]
    lines += [f"error: {error}" for error in errors]
    counted = Counter(f.code for f in findings)
    fixable = sum(f.safe_fix is not None for f in findings)
    checkable = sum(bool(f.fixes) and f.safe_fix is None for f in findings)
    looked = f"{files} file{'s' * (files != 1)}"
    if findings:
        codes = ", ".join(f"{n} {code}" for code, n in sorted(counted.items()))
        lines.append(f"{len(findings)} found in {looked}: {codes}.")
        if fixable:
            lines.append(f"{fixable} of them `--fix` rewrites; `--diff` shows how.")
        if checkable:
            lines.append(f"{checkable} of them `--run SCRIPT --fix` rewrites, after comparing results.")
    else:
        lines.append(f"Nothing found in {looked}.")
    return "\n".join(lines) + "\n"


def mark(finding: Finding) -> str:
    """Whether `--fix` mends it: alone [*], or after `--run` [+]."""
    return " [*]" if finding.safe_fix is not None else " [+]" if finding.fixes else ""


def _as_json(findings: Sequence[Finding], errors: Sequence[str], files: int) -> str:
    """Positions as the Language Server Protocol counts: lines and characters from zero."""
    return (
        json.dumps(
            {
                "version": 1,
                "files": files,
                "errors": list(errors),
                "diagnostics": [_diagnostic(f) for f in findings],
            },
            indent=2,
        )
        + "\n"
    )


def _diagnostic(f: Finding) -> dict[str, Any]:
    before = f.place[0] - f.span[0]  # lines of a notebook's cells before this one
    return {
        "path": f.path,
        "cell": f.cell,
        "range": _range(f.span),
        "severity": 1 if CHECKS[f.code].broken else 2,
        "code": f.code,
        "codeDescription": {"href": f"{PAGES}/{f.code}.md"},
        "source": "upshift",
        "title": CHECKS[f.code].title,
        "message": f.message,
        "fixes": [
            {
                "title": fix.name,
                "applicability": fix.tier,
                "edits": [{"action": e.action, "range": _range(e.span, before), "newText": e.text} for e in fix.edits],
                "imports": list(fix.imports),
            }
            for fix in f.fixes
        ],
    }


def _range(span: Span, before: int = 0) -> dict[str, Any]:
    first, start, last, end = span
    return {
        "start": {"line": first - 1 - before, "character": start},
        "end": {"line": last - 1 - before, "character": end},
    }


def _as_sarif(findings: Sequence[Finding], errors: Sequence[str], files: int) -> str:
    """SARIF 2.1.0."""
    used = sorted({f.code for f in findings})
    run = {
        "tool": {
            "driver": {
                "name": "upshift doctor",
                "rules": [
                    {
                        "id": code,
                        "shortDescription": {"text": CHECKS[code].title},
                        "helpUri": f"{PAGES}/{code}.md",
                        "defaultConfiguration": {"level": _level(code)},
                    }
                    for code in used
                ],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not errors,
                "toolExecutionNotifications": [{"level": "error", "message": {"text": e}} for e in errors],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, used.index(f.code)) for f in findings],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _level(code: str) -> str:
    return "error" if CHECKS[code].broken else "warning"


def _result(f: Finding, rule: int) -> dict[str, Any]:
    first, start, last, end = f.span
    return {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": _level(f.code),
        "message": {"text": f.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": f.path.replace("\\", "/")},
                    "region": {"startLine": first, "startColumn": start + 1, "endLine": last, "endColumn": end + 1},
                }
            }
        ],
    }


def _as_github(findings: Sequence[Finding], errors: Sequence[str], files: int) -> str:
    """Workflow commands: GitHub shows them beside the changed lines."""
    lines = []
    for f in findings:
        level = _level(f.code)
        place = f"file={_property(f.path)},line={f.line},endLine={f.span[2]},col={f.column + 1}"
        lines.append(f"::{level} {place},title={_property(f'{f.code} {CHECKS[f.code].title}')}::{_data(f.message)}")
    lines += [f"::error::{_data(error)}" for error in errors]
    return "".join(line + "\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS = {"text": _as_text, "json": _as_json, "sarif": _as_sarif, "github": _as_github}

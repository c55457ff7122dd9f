"""Public names stay what they are, whichever of our modules are imported."""

from __future__ import annotations

import subprocess
import sys


def test_no_module_takes_the_place_of_a_function() -> None:
    code = (
        "import importlib, pkgutil, upshift as up\n"
        "plugins = ('pandas', 'polars', 'torch', 'tensorflow')\n"
        "before = {n: getattr(up, n) for n in dir(up) if not n.startswith('_') and n not in plugins}\n"
        "for found in pkgutil.iter_modules(up.__path__):\n"
        "    if found.name in before:\n"
        "        importlib.import_module('upshift.' + found.name)\n"
        "assert all(getattr(up, n) is value for n, value in before.items())\n"
        "import upshift.map_batches\n"
        "assert callable(up.batched)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

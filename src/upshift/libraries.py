"""How a trace treats modules: as plain Python, as calls to record, or as code that acts on the world.

What acts is an effect: a function that uses it runs in the loop, with the reason.
"""

from __future__ import annotations

import functools
import sys

FOREIGN = frozenset(("scipy", "skimage", "cv2", "sklearn"))
"""Libraries whose functions of arrays have rules, by name."""

_CLOCK, _INTERPRETER, _SYSTEM = "reads the clock", "reads the interpreter's state", "calls the operating system"
_FILES, _NETWORK, _THREADS = "uses files", "uses the network", "uses threads"
_PROCESSES, _FINALISERS, _LOCALE = "starts processes", "hears of objects that are deleted", "depends on the locale"
_CONTEXT = "reads or sets context variables"
_MODULES_THAT_ACT = {
    "random": "draws random numbers from shared state",
    "numpy.random": "draws random numbers from shared state",
    "secrets": "draws random numbers",
    "uuid": "makes unique ids",
    **dict.fromkeys("time datetime sched".split(), _CLOCK),
    "datetime": "may read the clock",
    **dict.fromkeys("os posix nt signal _signal resource platform".split(), _SYSTEM),
    **dict.fromkeys("sys gc atexit tracemalloc faulthandler importlib linecache".split(), _INTERPRETER),
    "inspect": "looks at itself",
    "io": "reads or writes files",
    "_io": "reads or writes files",
    **dict.fromkeys("pathlib shutil tempfile fileinput glob mmap sqlite3 dbm shelve".split(), _FILES),
    **dict.fromkeys("scipy.io skimage.io numpy.lib.npyio numpy.lib._npyio_impl".split(), _FILES),
    **dict.fromkeys("socket _socket ssl select selectors asyncio".split(), _NETWORK),
    **dict.fromkeys("threading _thread queue _queue concurrent".split(), _THREADS),
    **dict.fromkeys("subprocess multiprocessing".split(), _PROCESSES),
    **dict.fromkeys("weakref _weakref".split(), _FINALISERS),
    **dict.fromkeys("contextvars _contextvars".split(), _CONTEXT),
    **dict.fromkeys("locale _locale gettext".split(), _LOCALE),
    "ctypes": "calls into C",
    "_ctypes": "calls into C",
    "logging": "writes a log",
    "warnings": "warns",
    "_warnings": "warns",
    "tensorflow": "calls TensorFlow",
    "torch": "calls PyTorch",
    "jax": "calls JAX",
}
_NAMES_THAT_ACT = {
    "decimal": dict.fromkeys("getcontext setcontext localcontext".split(), "reads or sets the decimal context"),
    "numpy": {
        **dict.fromkeys("seterr seterrcall geterr geterrcall".split(), "reads or sets NumPy's error state"),
        **dict.fromkeys("set_printoptions get_printoptions printoptions".split(), "reads or sets NumPy's options"),
        **dict.fromkeys("save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap".split(), _FILES),
        **dict.fromkeys("info show_config show_runtime".split(), "prints"),
    },
}
_METHODS_THAT_ACT = dict.fromkeys(("tofile", "dump"), _FILES)
"""Methods of NumPy's arrays and numbers."""
BUILTINS_THAT_ACT = {
    "print": "prints", "input": "reads input", "open": "opens a file", "exec": "runs code", "eval": "runs code",
    "breakpoint": "stops for a debugger", "globals": "reads all globals", "locals": "reads all variables",
    "setattr": "changes an object", "delattr": "changes an object", "__import__": "imports a module",
}  # fmt: skip
_LEFT_ALONE = frozenset(
    "numpy scipy builtins operator _operator itertools functools _functools bisect _bisect heapq _heapq "
    "math cmath collections _collections decimal _decimal struct _struct string _string re zlib binascii "
    "unicodedata copy typing dataclasses enum abc numbers".split()
)
"""Modules whose functions work on lane values through protocols alone, and have no state."""

_REENTRANT = frozenset(
    "numpy PIL cv2 skimage scipy.ndimage scipy.signal scipy.fft scipy.special scipy.linalg xxhash zstandard lz4 brotli "
    "orjson msgpack regex cryptography".split()
)
"""Libraries that keep no state between calls, so that several threads may be in them at once."""
_ONE_THREAD = frozenset("tkinter turtle idlelib curses readline".split())
"""Modules of the standard library that belong to one thread."""


@functools.lru_cache(maxsize=1024)
def acting(module: str, name: str = "") -> str:
    """What a module, or what bears this name in it, does besides computing, in words; empty where it only computes."""
    reason = _NAMES_THAT_ACT.get(module.split(".")[0].lstrip("_"), {}).get(name, "")
    while module and not reason:
        reason = _MODULES_THAT_ACT.get(module, "")
        module = module.rpartition(".")[0]
    return reason


def method_acting(name: str) -> str:
    """What a method of an array does besides computing."""
    return _METHODS_THAT_ACT.get(name, "")


def is_left_alone(module: str) -> bool:
    """Whether what a module defines needs no copy: it has no state, and works with lane values as it is."""
    return module.split(".")[0] in _LEFT_ALONE and not acting(module)


def is_reentrant(module: str) -> bool:
    """Whether functions of a module may be called from several threads at once: the standard library's, and a few."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return root not in _ONE_THREAD
    while module:
        if module in _REENTRANT:
            return True
        module = module.rpartition(".")[0]
    return False


def is_opaque(module: str) -> bool:
    """Whether functions of a module take arrays and are called as they are, for every lane where they have no rule."""
    return module.split(".")[0] in ("numpy", *FOREIGN) and not acting(module)

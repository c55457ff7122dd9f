"""LLVM in a process, in some ten milliseconds: the few functions that make machine code, of llvmlite's own library.

`import llvmlite.binding` runs forty modules of Python before the library is there: most of what it takes, all of it
with the interpreter's lock. Here the library is loaded without that lock, and thirty functions are called by the
signatures in `SIGNATURES`. Those are llvmlite's own of the versions in `KNOWN`; with any other version its Python is
imported after all, and has to declare the same ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any

from ..loading import loaded

KNOWN = ("0.45.", "0.46.", "0.47.", "0.48.", "0.49.", "0.50.")
"""Versions of llvmlite whose declarations were compared with `SIGNATURES`."""
SIGNATURES = {
    "InitializeNativeTarget": "i", "InitializeNativeAsmPrinter": "i", "InitializeNativeAsmParser": "i",
    "LoadLibraryPermanently": "i:so",
    "GetVersionInfo": "i", "GetDefaultTargetTriple": "i:o", "GetProcessTriple": "i:o", "GetHostCPUName": "i:o",
    "GetHostCPUFeatures": "i:o", "GetTargetFromTriple": "p:so", "CreateTargetMachine": "p:psssissiis",
    "CreateTargetMachineData": "p:p", "CopyStringRepOfTargetData": "i:po", "DisposeTargetData": "i:p",
    "ContextCreate": "p", "ContextDispose": "i:p", "ParseAssembly": "p:pso", "DisposeModule": "i:p",
    "CreatePipelineTuningOptions": "p", "PTOSetLoopVectorization": "i:pb", "PTOSetSLPVectorization": "i:pb",
    "DisposePipelineTuningOptions": "i:p", "CreatePassBuilder": "p:pp", "DisposePassBuilder": "i:p",
    "buildPerModuleDefaultPipeline": "p:pii", "CreateNewModulePassManager": "p", "RunNewModulePassManager": "i:ppp",
    "DisposeNewModulePassManger": "i:p", "module_AddAlwaysInlinerPass": "i:p", "module_AddSROAPass": "i:p",
    "module_AddSimplifyCFGPass": "i:p", "TargetMachineEmitToMemory": "p:ppio", "GetBufferStart": "p:p",
    "GetBufferSize": "z:p", "DisposeMemoryBuffer": "i:p", "CreateLLJITCompiler": "p:pbbo",
    "LLJIT_Link": "p:pspzpzpzo", "LLJIT_Dylib_Tracker_Dispose": "b:po", "DisposeString": "i:s",
}  # fmt: skip
"""What each function gives and takes: pointers, strings, ints, bools, sizes, and where to put a string."""
TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p, "s": ctypes.c_char_p, "i": ctypes.c_int, "b": ctypes.c_bool, "z": ctypes.c_size_t,
    "o": ctypes.POINTER(ctypes.c_char_p),
}  # fmt: skip
LONG = frozenset({"ParseAssembly", "RunNewModulePassManager", "TargetMachineEmitToMemory", "LLJIT_Link"})
"""What takes long enough for other threads to go on meanwhile. To wait for the lock again takes 5 ms beside a thread
that computes, so that brief functions keep it."""
OBJECT, PROCESS = 2, 3
"""What a library is linked of."""


class _Element(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_uint8), ("value", ctypes.c_char_p), ("size", ctypes.c_size_t))


class _Symbol(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("address", ctypes.c_uint64))


class Llvm:
    """LLVM for this processor."""

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}
        self._unlocked: dict[str, Any] = {}
        self._open()
        self._call("InitializeNativeTarget")
        self._call("InitializeNativeAsmPrinter")
        self._call("InitializeNativeAsmParser")
        self._told("LoadLibraryPermanently", b"libm.so.6")
        self._triple = self._text("GetDefaultTargetTriple")
        self._cpu, features = self._text("GetHostCPUName"), self._text("GetHostCPUFeatures")
        self._features = ",".join(sorted(features.split(","), key=lambda feature: feature[1:]))
        self._target, told = self._told("GetTargetFromTriple", self._triple.encode())
        if not self._target:
            raise RuntimeError(told)
        self._idle: dict[int, list[Any]] = {0: [], 2: [self._machine(2)]}
        """Code generators that no thread is using, by how much of a function they look at."""
        data = self._call("CreateTargetMachineData", self._idle[2][0])
        layout = self._text("CopyStringRepOfTargetData", data)
        self._call("DisposeTargetData", data)
        self.head = f'target triple = "{self._text("GetProcessTriple")}"\ntarget datalayout = "{layout}"\n'
        """What every module begins with."""
        self.maker = f"{self._call('GetVersionInfo')} {self._cpu} {self._features}"
        """All that machine code depends on besides the module."""
        self._linker, told = self._told("CreateLLJITCompiler", None, False, False)
        if not self._linker:
            raise RuntimeError(told)
        self._linking = threading.Lock()
        self.object_code(_SMALL, ("SROA",), 0)  # the first compilation takes 3 ms more than the others
        self._functions.update(self._unlocked)

    def _open(self) -> None:
        """Find the library, and its functions: for now, all keep the interpreter's lock."""
        llvmlite, name = _found()
        path = os.path.join(os.path.dirname(llvmlite.__file__), "binding", name)
        handle = _open_unlocked(path)
        unlocked, locked = ctypes.CDLL(path, handle=handle), ctypes.PyDLL(path, handle=handle)
        for name, signature in SIGNATURES.items():
            gives, _, takes = signature.partition(":")
            for library, functions in ((locked, self._functions), (unlocked, self._unlocked)):
                if library is locked or name in LONG:
                    function = functions[name] = getattr(library, f"LLVMPY_{name}")
                    function.restype, function.argtypes = TYPES[gives], [TYPES[letter] for letter in takes]
        if not llvmlite.__version__.startswith(KNOWN):
            for problem in differences():
                raise ImportError(f"llvmlite {llvmlite.__version__} is not as expected: {problem}")

    def _call(self, name: str, *given: Any) -> Any:
        return self._functions[name](*given)

    def _told(self, name: str, *given: Any) -> tuple[Any, str]:
        """What a function gives, and the text that it puts where it is told to."""
        out = ctypes.c_char_p()
        made = self._functions[name](*given, ctypes.byref(out))
        text = (out.value or b"").decode()
        if out:
            self._functions["DisposeString"](out)
        return made, text

    def _text(self, name: str, *given: Any) -> str:
        return self._told(name, *given)[1]

    def _machine(self, level: int) -> Any:
        texts = (self._triple.encode(), self._cpu.encode(), self._features.encode())
        made = self._call("CreateTargetMachine", self._target, *texts, level, b"default", b"jitdefault", 0, 1, b"")
        if not made:
            raise RuntimeError("LLVM has no code generator for this processor")
        return made

    def object_code(self, text: str, passes: Sequence[str] | None, level: int) -> bytes:
        """Machine code of a module, as an object file. `passes`: None for all that LLVM has; `level`: 2 for a code
        generator that optimises, 0 for one that does not. Any number of threads may do this at once."""
        idle = self._idle[level]
        target = idle.pop() if idle else self._machine(level)
        context = self._call("ContextCreate")
        module = None
        try:
            module, told = self._told("ParseAssembly", context, (self.head + text).encode())
            if not module:
                raise RuntimeError(f"LLVM does not take this IR: {told}")
            if passes is None or passes:
                self._optimise(module, target, passes)
            return self._emitted(module, target)
        finally:
            if module:
                self._call("DisposeModule", module)
            self._call("ContextDispose", context)
            idle.append(target)

    def _optimise(self, module: Any, target: Any, passes: Sequence[str] | None) -> None:
        options = self._call("CreatePipelineTuningOptions")
        self._call("PTOSetLoopVectorization", options, True)
        self._call("PTOSetSLPVectorization", options, False)
        builder = self._call("CreatePassBuilder", target, options)
        if passes is None:
            manager = self._call("buildPerModuleDefaultPipeline", builder, 2, 0)  # the last one up to 0.47
        else:
            manager = self._call("CreateNewModulePassManager")
            for name in passes:
                self._call(f"module_Add{name}Pass", manager)
        self._call("RunNewModulePassManager", manager, module, builder)
        self._call("DisposeNewModulePassManger", manager)
        self._call("DisposePassBuilder", builder)
        self._call("DisposePipelineTuningOptions", options)

    def _emitted(self, module: Any, target: Any) -> bytes:
        buffer, told = self._told("TargetMachineEmitToMemory", target, module, 1)
        if not buffer:
            raise RuntimeError(told)
        code = ctypes.string_at(self._call("GetBufferStart", buffer), self._call("GetBufferSize", buffer))
        self._call("DisposeMemoryBuffer", buffer)
        return code

    def link(self, name: str, code: bytes, exports: Sequence[str], symbols: dict[str, int]) -> Linked:
        """Object code in memory, ready to run."""
        elements = (_Element * 2)(_Element(OBJECT, code, len(code)), _Element(PROCESS, b"", 0))
        given = (_Symbol * len(symbols))(*(_Symbol(word.encode(), address) for word, address in symbols.items()))
        found = (_Symbol * len(exports))(*(_Symbol(word.encode(), 0) for word in exports))
        with self._linking:
            tracker, told = self._told(
                "LLJIT_Link", self._linker, name.encode(), elements, 2, given, len(given), found, len(found)
            )
        if not tracker:
            raise RuntimeError(told)
        addresses = {word: int(symbol.address) for word, symbol in zip(exports, found)}
        return Linked(addresses, functools.partial(self._told, "LLJIT_Dylib_Tracker_Dispose", tracker))


class Linked:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, addresses: dict[str, int], dispose: Callable[[], Any]) -> None:
        self.addresses = addresses
        weakref.finalize(self, dispose).atexit = False  # the process takes it all with it


def _open_unlocked(path: str) -> int | None:
    """Load a library while other threads go on; None where that is left to ctypes, and to its errors."""
    try:
        opened = ctypes.CDLL("", handle=ctypes.pythonapi._handle).dlopen  # CDLL(None) would wait for the lock
    except (OSError, TypeError, AttributeError):  # there is no such function on Windows
        return None
    opened.restype, opened.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int)
    handle: int | None = opened(os.fsencode(path), os.RTLD_NOW | os.RTLD_LOCAL)
    return handle


def differences() -> list[str]:
    """Where the signatures here are not those that llvmlite itself declares."""
    from llvmlite.binding import ffi

    found = []
    for name, signature in SIGNATURES.items():
        _, _, takes = signature.partition(":")
        declared = getattr(ffi.lib, f"LLVMPY_{name}").argtypes
        if declared is not None and not _are_alike([TYPES[letter] for letter in takes], declared):
            found.append(f"{name} takes {[cls.__name__ for cls in declared]}")
    return found


def _are_alike(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """Whether arguments are passed in the same way; what is passed besides does no harm."""
    pointers = (ctypes.c_void_p, ctypes.c_char_p)
    return len(ours) >= len(theirs) and all(
        own is other or (own in pointers and issubclass(other, (ctypes._Pointer, *pointers)))
        for own, other in zip(ours, theirs)
    )


_LLVM: list[Llvm] = []


_SMALL = "define i64 @small(i64 %a) {\n  %b = add i64 %a, 1\n  ret i64 %b\n}\n"


def find() -> None:
    """Import the little of llvmlite that is needed, in a quarter of a millisecond, before another thread loads LLVM:
    there, each of the files that are looked at would wait for the interpreter's lock."""
    with contextlib.suppress(ImportError):  # which is told when LLVM is loaded
        _found()


@functools.cache
def _found() -> tuple[Any, str]:
    """The package llvmlite, and the name of its library."""
    import llvmlite
    from llvmlite.utils import get_library_name

    return llvmlite, get_library_name()


_BEGUN: list[Future[None]] = []


def _load() -> None:
    done: Future[None] = Future()
    _BEGUN[:] = [done]
    try:
        _LLVM.append(Llvm())
    finally:
        done.set_result(None)


def llvm() -> Llvm:
    """LLVM, loaded once in a process."""
    if not _LLVM:
        loaded(_load, within_imports=True)
    return _LLVM[0]


def is_loaded() -> bool:
    """Whether LLVM is in this process already: to load it costs some ten milliseconds."""
    return bool(_LLVM)


def _before_fork() -> None:
    """A child of a process that is loading a library would find half of it."""
    wait(_BEGUN, MOST_LOADING)


MOST_LOADING = 1.0
"""Seconds that a fork waits at most."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)

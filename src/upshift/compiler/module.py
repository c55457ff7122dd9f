"""IR in, machine code out: the list of LLVM's passes, and where the code is kept."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

from . import code_cache

_STATE: dict[Any, Any] = {}
_NUMBERS = itertools.count()


def binding() -> Any:
    """llvmlite, which takes 40 ms to load."""
    import llvmlite.binding as llvm

    return llvm


def machine(level: int = 2) -> Any:
    """LLVM for this processor, made once; `level`: how much of a function it looks at when it generates code."""
    found = _STATE.get(level)
    if found is None:
        llvm = binding()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.load_library_permanently("libm.so.6")
        found = _STATE[level] = llvm.Target.from_default_triple().create_target_machine(
            opt=level, jit=True, cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
        )
        processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
        _STATE["maker"] = f"{llvm.llvm_version_info} {processor}"
        _STATE["head"] = f'target triple = "{llvm.get_process_triple()}"\ntarget datalayout = "{found.target_data}"\n'
    return found


PASSES = ("always_inliner", "sroa", "simplify_cfg")
"""The short list: a third of the time that LLVM's own list for -O2 takes, for code that is a tenth slower. To combine
instructions besides takes half as long again, for nothing."""


def object_code(text: str, whole: bool, level: int = 2) -> bytes:
    """Machine code of a module, as an object file, from the disk or made anew.

    `whole`: by all that LLVM knows, its vectoriser among it. `level` 2: optimised; 1: quickly, a quarter of the price
    for code that takes two to three times as long; 0: as it stands, for code that runs once a call.
    """
    machine(level)
    name = _name(text, whole, level)
    found = code_cache.load(name)
    if found is None:
        found = compiled(text, whole, level)
        code_cache.keep(name, found)
    return found


def kept_code(text: str, whole: bool) -> bytes | None:
    """Optimised code of a module, where it is on disk already."""
    machine()
    return code_cache.load(_name(text, whole, 2))


def _name(text: str, whole: bool, level: int) -> str:
    return code_cache.name_of(_STATE["maker"], _STATE["head"], f"{PASSES} {whole} {level}", text)


def compiled(text: str, whole: bool, level: int) -> bytes:
    """Machine code of a module, made by LLVM."""
    target, llvm = machine(2 if level == 2 else 0), binding()
    module = llvm.parse_assembly(_STATE["head"] + text)
    if level:
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = True
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(target, options)
        if whole and level == 2:
            passes = builder.getModulePassManager()
        else:
            passes = llvm.create_new_module_pass_manager()
            for pass_name in PASSES:
                getattr(passes, f"add_{pass_name}_pass")()
        passes.run(module, builder)
    made: bytes = target.emit_object(module)
    return made


class Loaded:
    """Machine code in memory, for as long as this object lives."""

    def __init__(self, code: bytes, exports: tuple[str, ...], symbols: dict[str, int] | None = None) -> None:
        machine()
        llvm = binding()
        jit = _STATE.get("jit")
        if jit is None:
            jit = _STATE["jit"] = llvm.create_lljit_compiler()
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in (symbols or {}).items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        self.tracker = builder.link(jit, f"upshift{next(_NUMBERS)}")

    def address(self, name: str) -> int:
        return int(self.tracker[name])


LANES = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_int64)

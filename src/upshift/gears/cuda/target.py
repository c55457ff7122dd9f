"""Compiles LLVM IR for another processor: optimised, and as the PTX that NVIDIA's driver takes.

Floats are not fused: a product and a sum are rounded one after the other, as Python rounds them, so that + - * / and
sqrt have the loop's very bits. Only NVIDIA's own functions (libdevice: sin, exp, ...) differ in their last bits.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from ...compiler import code_cache
from ..ran import NotCompiled
from .ufuncs import c_name, is_single

TRIPLE = "nvptx64-nvidia-cuda"
_CHIPS = ((90, "sm_90", "+ptx78"), (80, "sm_80", "+ptx70"), (70, "sm_70", "+ptx60"), (60, "sm_60", "+ptx50"))
"""From which compute capability on, what LLVM compiles for: newer GPUs run what older ones do."""


class Target:
    """A processor that LLVM compiles for."""

    def __init__(self, triple: str, cpu: str = "", features: str = "") -> None:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self.triple, self.cpu, self.features = triple, cpu, features
        self.machine = self.fresh()
        self.layout = str(self.machine.target_data)
        self.maker = f"{llvm.llvm_version_info} {triple} {cpu} {features}"
        """All that the code depends on besides the module and NVIDIA's maths."""

    def fresh(self) -> Any:
        """A code generator of its own, for whoever keeps it."""
        return llvm.Target.from_triple(self.triple).create_target_machine(cpu=self.cpu, features=self.features, opt=3)

    def parse(self, text: str) -> Any:
        """A module for this processor, from the words of any other."""
        text = re.sub(r"^target (datalayout|triple) = .*$", "", text, flags=re.MULTILINE)
        return llvm.parse_assembly(f'target datalayout = "{self.layout}"\ntarget triple = "{self.triple}"\n{text}')

    def optimise(self, module: Any, level: int, unroll: bool = True) -> None:
        """Inline, simplify and throw away; nothing that changes a bit of a result."""
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_unrolling = unroll
        builder = llvm.create_pass_builder(self.machine, options)
        builder.getModulePassManager().run(module, builder)

    def drop_unused(self, module: Any) -> None:
        """Throw away what nothing calls, before any work is done on it."""
        passes = llvm.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(module, llvm.create_pass_builder(self.machine, llvm.create_pipeline_tuning_options()))

    def scalarise(self, module: Any) -> None:
        """Inline all, and take apart what is made of several numbers, wherever it goes."""
        builder = llvm.create_pass_builder(self.machine, llvm.create_pipeline_tuning_options())
        for last in ("add_register_to_memory_pass", "add_sroa_pass"):
            passes = llvm.create_new_module_pass_manager()
            if last == "add_register_to_memory_pass":
                passes.add_always_inliner_pass()
                passes.add_global_dead_code_eliminate_pass()
                passes.add_simplify_cfg_pass()
            getattr(passes, last)()
            passes.run(module, builder)

    def assemble(self, module: Any) -> str:
        """The PTX of a module of LLVM's."""
        text: str = self.machine.emit_assembly(module)
        return text


@functools.cache
def target_of(capability: int) -> Target:
    """A GPU, by its compute capability: 90 for 9.0."""
    for least, chip, features in _CHIPS:
        if capability >= least:
            try:
                return Target(TRIPLE, chip, features)
            except RuntimeError as error:
                raise NotCompiled("cuda", f"LLVM here does not compile for GPUs: {error}") from None
    raise NotCompiled("cuda", f"the GPU is too old: its compute capability is {capability / 10:.1f}")


def keep_only(module: Any, names: Iterable[str]) -> None:
    """All but some functions may be inlined and thrown away."""
    kept = set(names)
    for fn in module.functions:
        if not fn.is_declaration and fn.name not in kept:
            fn.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"


def ptx_of(texts: Iterable[str], entry: str, maths: Iterable[str], target: Target) -> str:
    """PTX of one kernel and what it calls, from the disk or made anew. `maths`: C's functions among that, by the names
    `upshift_sin`, ..."""
    names = "|".join(sorted(maths))
    texts = tuple(texts)
    kept = code_cache.name_of(target.maker, entry, names, *texts)
    found = code_cache.load(kept)
    if found is not None:
        return found.decode()
    module = target.parse("")
    for text in texts:
        if names:
            text = re.sub(rf"@upshift_({names})\(", lambda found: f"@{_device_name(found[1])}(", text)
            text = _each_once(text)
        module.link_in(target.parse(text))
    if names:
        module.link_in(_device_maths(target))
    keep_only(module, [entry])
    target.drop_unused(module)
    target.optimise(module, 3)
    missing = [fn.name for fn in module.functions if fn.is_declaration and not fn.name.startswith("llvm.")]
    if missing:
        raise NotCompiled("cuda", f"it calls {missing[0]}, which GPUs do not have")
    ptx = target.assemble(module)
    code_cache.keep(kept, ptx.encode())
    return ptx


def _device_name(name: str) -> str:
    """NVIDIA's name of a function."""
    return f"__nv_{c_name(name)}{'f' if is_single(name) else ''}"


def _each_once(text: str) -> str:
    """Two names may have become one, which is declared but once."""
    seen: set[str] = set()

    def first(declared: re.Match[str]) -> str:
        known = declared[1] in seen
        seen.add(declared[1])
        return "" if known else declared[0]

    return re.sub(r"^declare [^\n]*@(__nv_\w+)\([^\n]*", first, text, flags=re.MULTILINE)


def _device_maths(target: Target) -> Any:
    module = llvm.parse_bitcode(_bitcode())
    module.triple, module.data_layout = target.triple, target.layout
    return module


@functools.cache
def _bitcode() -> bytes:
    for path in _places():
        if path.is_file():
            return path.read_bytes()
    raise NotCompiled("cuda", "NVIDIA's maths (libdevice.10.bc) is not found", remedy="pip install nvidia-nvvm")


def _places() -> Iterator[Path]:
    """Where NVIDIA's toolkit, its wheels and Triton keep libdevice."""
    inside = Path("nvvm", "libdevice", "libdevice.10.bc")
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable], inside)
    for package, within in (("nvidia", f"*/{inside}"), ("triton", "backends/nvidia/lib/libdevice.10.bc")):
        found = importlib.util.find_spec(package)
        for folder in found.submodule_search_locations or () if found else ():
            yield from sorted(Path(folder).glob(within), reverse=True)
    for folder in ("/usr/local", "/opt", "/usr/lib"):
        yield from sorted(Path(folder).glob(f"cuda*/{inside}"), reverse=True)
    yield Path("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc")

"""The cuda gear: one lane's function compiled for this machine and, where there is one, for a GPU: the loop's results.

What a GPU runs is one function for a lane, with checks, in LLVM IR. All but NVIDIA's own parts of it can be looked
at without a GPU, since LLVM compiles the same words for this machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import os
import re
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from functions.table import Data, Row
from law import check
from test_law import ROWS, check_all
from upshift.columns.inputs import Lanes, elements_of, lanes_of
from upshift.compiler.rows import teams
from upshift.gears.cuda import driver, staging
from upshift.gears.cuda.adapters import adapter_of
from upshift.gears.cuda.arrays import run_on_device
from upshift.gears.cuda.flat import EXACT
from upshift.gears.cuda.function import lane_of_function, prepare
from upshift.gears.cuda.kernel import HEAD, Kernel, ptx_of_lane
from upshift.gears.cuda.lane import waiting
from upshift.gears.cuda.lines import read
from upshift.gears.cuda.support import ALONE, support_for
from upshift.gears.cuda.target import Target, target_of
from upshift.gears.cuda.ufuncs import OF_TWO, c_name, is_single
from upshift.gears.ran import NotCompiled, Ran
from upshift.verify import check_columns, differ

pytestmark = pytest.mark.filterwarnings("ignore")
HOST = Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
GPU = target_of(90)
needs_gpu = pytest.mark.gpu

LOOP = """
declare i32 @upshift_lane(i64, {types})
define void @upshift_run(i64 %n, i8* %left, {parameters}) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %odd = call i32 @upshift_lane(i64 %i, {arguments})
  %byte = trunc i32 %odd to i8
  %place = getelementptr i8, i8* %left, i64 %i
  store i8 %byte, i8* %place
  %next = add i64 %i, 1
  br label %head
end:
  ret void
}}
"""


# ---- one lane's function on this machine


def run_here(f: Any, lanes: Lanes, n: int, shaken: bool = False) -> Ran:
    """What a GPU would do, done by this machine. `shaken`: functions such as `sin` are off by some last bits."""
    lane, flat = compile_lane(f, lanes.form, lanes.kinds)
    captured = lane.captured.values(f, {})
    assert captured is not None
    outs = [np.zeros(n, kind.dtype) for kind in lane.outs]
    kept: list[Any] = []

    def place(array: Any) -> int:
        kept.append(array)
        return int(array.ctypes.data)

    left = run_machine_code(flat, lanes.columns, outs, lane.captured.block(captured, place), shaken)
    return Ran(lane.form, outs, left, n, lane.mixed, lane.unsure)


@functools.lru_cache(maxsize=8)
def compile_lane(f: Any, form: Any, kinds: Any) -> Any:
    return lane_of_function(f, form, kinds, {}, GPU, exact=False)


def compile_for(f: Any, *columns: Any) -> Any:
    lanes = lanes_of([elements_of(column) for column in columns])[0].lanes
    return compile_lane(f, lanes.form, lanes.kinds)


def run_machine_code(flat: Any, columns: Any, outs: Any, captured: list[int], shaken: bool = False) -> Any:
    """Fill in `outs`; the positions of lanes that are left."""
    left = np.zeros(len(outs[0]), np.uint8)
    arrays = [left, *(np.ascontiguousarray(column[0 : len(column)]) for column in columns), *outs]
    words: list[Any] = [ctypes.c_int64(len(left)), *(ctypes.c_void_p(array.ctypes.data) for array in arrays)]
    words += map(ctypes.c_int64, captured)
    engine = machine_code(flat, shaken)
    ctypes.CFUNCTYPE(None, *map(type, words))(engine.get_function_address("upshift_run"))(*words)
    return np.flatnonzero(left)


def machine_code(flat: Any, shaken: bool) -> Any:
    text = flat.text
    for name in flat.maths:
        if shaken and name not in EXACT:
            llvm.add_symbol(f"shaken_{name}", ctypes.cast(shaken_function(name), ctypes.c_void_p).value)
            text = text.replace(f"@upshift_{name}(", f"@shaken_{name}(")
        else:
            llvm.add_symbol(f"upshift_{name}", ctypes.cast(function_here(name), ctypes.c_void_p).value)
    types = [str(word) for word in flat.words]
    named = [f"{kind} %w{i}" for i, kind in enumerate(types)]
    loop = LOOP.format(types=", ".join(types), parameters=", ".join(named), arguments=", ".join(named))
    module = HOST.parse(text)
    module.link_in(HOST.parse(loop + support_for(text, ALONE)))
    module.verify()
    HOST.optimise(module, 2)
    engine = llvm.create_mcjit_compiler(module, HOST.fresh())
    engine.finalize_object()
    return engine


SHAKEN: dict[str, Any] = {}


NUMPYS = {"pow": "power", **{f"a{name}": f"arc{name}" for name in "sin cos tan sinh cosh tanh tan2".split()}}
"""By C's name: NumPy's."""


@functools.cache
def function_here(name: str) -> Any:
    """C's function, or NumPy's."""
    own = c_name(name)
    if not name.startswith("numpy_"):
        made = ctypes.CDLL(None)[f"{own}f" if is_single(name) else own]
        number = ctypes.c_float if is_single(name) else ctypes.c_double
        made.restype, made.argtypes = number, [number] * (2 if own in OF_TWO else 1)
        return made
    ufunc = getattr(np, NUMPYS.get(own, own))
    number, dtype = (ctypes.c_float, np.float32) if is_single(name) else (ctypes.c_double, np.float64)
    return ctypes.CFUNCTYPE(number, *[number] * ufunc.nin)(lambda *args: float(ufunc(*map(dtype, args))))


def shaken_function(name: str) -> Any:
    """C's function, whose results are up to two units in the last place off."""
    if name not in SHAKEN:
        arity = 2 if c_name(name) in OF_TWO else 1
        number, dtype = (ctypes.c_float, np.float32) if is_single(name) else (ctypes.c_double, np.float64)
        own = function_here(name)

        def shaken(*args: float) -> float:
            made = dtype(own(*args))
            if made and math.isfinite(made):
                for _ in range(hash(args) % 3):
                    made = np.nextafter(made, dtype(math.inf if hash(args) % 2 else -math.inf))
            return float(made)

        SHAKEN[name] = ctypes.CFUNCTYPE(number, *[number] * arity)(shaken)
    return SHAKEN[name]


def check_against_loop(f: Any, columns: tuple[Any, ...], run: Any, exact: bool) -> int:
    """Compare all elements that are not left with the plain function's; how many that were."""
    elements = [elements_of(column) for column in columns]
    rows = list(zip(*elements, strict=True))
    kept = 0
    for group in lanes_of(elements):
        if group.lanes is None:
            continue
        index = list(range(len(rows))) if group.index is None else group.index.tolist()
        if not index:
            continue
        try:
            ran = run(f, group.lanes, len(index))
        except NotCompiled as reason:
            assert reason.refusal.gear == "cuda" and reason.refusal.reason
            continue
        exact = ran.exact if isinstance(ran, OnGpu) else exact
        left = set(ran.left.tolist())
        here = [i for i in range(len(index)) if i not in left]
        found = check_columns(ran, exact, f, lambda i: rows[index[i]], here) if here else ()
        assert not isinstance(found, str) or is_mixed(found), found
        kept += len(here)
    return kept


class OnGpu(Ran):
    """What a GPU made, and whether that is promised to be the loop's very bits."""

    exact = False


def is_mixed(found: str) -> bool:
    """Ints among floats, which the plan looks at for every batch."""
    return found.startswith("the loop's results are")


@pytest.mark.parametrize("row", ROWS)
def test_a_lane_is_as_in_the_loop(row: Row) -> None:
    """The very bits, with C's functions; and no other decision when their last bits differ."""

    def check_both(data: Data) -> None:
        check_against_loop(row.f, data.columns, run_here, True)
        check_against_loop(row.f, data.columns, run_shaken, False)

    check_all(row, check_both)


def run_shaken(f: Any, lanes: Lanes, n: int) -> Ran:
    if not compile_lane(f, lanes.form, lanes.kinds)[1].close:
        raise NotCompiled("cuda", "nothing in it can be off")
    return run_here(f, lanes, n, shaken=True)


# ---- what must compile, and how


def escape(cr, ci):
    zr = zi = 0.0
    i = 0
    while i < 200 and zr * zr + zi * zi < 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        i += 1
    return i


def sine_mix(x):
    return math.sin(x) + math.cos(x) * math.exp(x)


def newton(a):
    x = a
    for _ in range(60):
        x, before = 0.5 * (x + a / x), x
        if abs(x - before) < 1e-12:
            break
    return x


def pendulum(angle, speed):
    for _ in range(20):
        speed -= 0.01 * math.sin(angle)
        angle += 0.01 * speed
    return angle, speed


def steps(x):
    return math.floor(8.0 * math.sin(x)), math.exp(x) > 1.5, round(10 * math.cos(x) ** 2)


def math_root(x):
    return math.sqrt(x)


def cube(x):
    return x * x * x


WEIGHTS = np.array([[0.5, 0.25, 0.125], [1.0, 2.0, 3.0]])
SCALE = 2.0


def weighted(row):
    total = 0.0
    for i in range(len(row)):
        total += SCALE * row[i] * WEIGHTS[1, i]
    return total


def spread(x):
    return np.sin(x) * 2 + np.sqrt(x) if x > 0 else np.exp(x) * 0.5


NUMBERS = np.random.default_rng(3).uniform(-2.0, 2.0, 500)
PLAIN = [
    (escape, (NUMBERS, NUMBERS[::-1])),
    (escape, (NUMBERS.tolist(), NUMBERS[::-1].tolist())),
    (sine_mix, (NUMBERS,)),
    (newton, (abs(NUMBERS) + 0.01,)),
    (pendulum, (NUMBERS, NUMBERS[::-1])),
    (steps, (NUMBERS.tolist(),)),
    (weighted, (NUMBERS[:300].reshape(100, 3),)),
]
NAMED = pytest.mark.parametrize("f, columns", PLAIN, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(PLAIN)])


@NAMED
def test_hardly_a_lane_is_left(f: Any, columns: Any) -> None:
    n = len(columns[0])
    assert check_against_loop(f, columns, run_here, True) >= 0.99 * n
    if compile_for(f, *columns)[1].close:
        assert check_against_loop(f, columns, run_shaken, False) >= 0.95 * n


@NAMED
def test_products_and_sums_are_not_fused(f: Any, columns: Any) -> None:
    lanes = lanes_of([elements_of(c) for c in columns])[0].lanes
    flat = compile_for(f, *columns)[1]
    ptx = ptx_of_lane(flat, lanes.kinds, GPU)
    assert ".visible .entry upshift_kernel" in ptx
    if not flat.maths:
        assert "fma" not in ptx and not re.search(r"(add|mul|sub|div)\.f64", ptx)


def test_exact_refuses_functions_with_other_last_bits() -> None:
    lanes = lanes_of([NUMBERS])[0].lanes
    with pytest.raises(NotCompiled, match="cos, exp, sin"):
        lane_of_function(sine_mix, lanes.form, lanes.kinds, {}, GPU, exact=True)
    assert not lane_of_function(newton, lanes.form, lanes.kinds, {}, GPU, exact=True)[1].close


def test_a_decision_on_the_edge_is_left() -> None:
    def decide(x):
        return math.exp(x) > math.e, math.floor(math.cos(x))

    xs = np.array([1.0, 0.0, 1.5])
    assert run_here(decide, lanes_of([xs])[0].lanes, 3).left.tolist() == [0, 1]


def test_what_cancels_out_is_left() -> None:
    def difference(x, y):
        return math.sin(x) - math.sin(y)

    xs = np.array([1.0, 1.0, 1.0])
    lanes = lanes_of([xs, np.array([1.0 + 1e-9, 2.0, 1.0 + 1e-3])])[0].lanes
    assert run_here(difference, lanes, 3).left.tolist() == [0]


def test_what_numpy_warns_of_is_left() -> None:
    def overflow(x):
        return 1.0 if x * x < 1e308 else 0.0

    xs = np.array([1.0, 1e200, np.nan, 2.0])
    assert run_here(overflow, lanes_of([xs])[0].lanes, 4).left.tolist() == [1]
    assert run_here(overflow, lanes_of([xs.tolist()])[0].lanes, 4).left.tolist() == []


def test_overflowing_ints_are_left() -> None:
    xs = [1, 3_000_000, -2_000_000, 2**62]
    assert run_here(cube, lanes_of([xs])[0].lanes, 4).left.tolist() == [1, 3]


def test_a_thread_has_a_little_memory() -> None:
    def doubled(x):
        made = np.zeros(3)
        made[1] = x
        return made.sum() if x < 0 else made[1] * 2

    def many(x):
        return len([x] * 10_000)

    assert len(run_here(doubled, lanes_of([NUMBERS])[0].lanes, 500).left) < 500
    assert len(run_here(many, lanes_of([NUMBERS])[0].lanes, 500).left) == 500


@pytest.mark.parametrize(
    "line, op, args",
    [
        ("  %a.1 = fadd double %x, 1.000000e+00", "fadd", ("%x", "1.000000e+00")),
        ("  %a = select i1 %c, double %x, double 0x7FF0000000000000", "select", ("%x", "0x7FF0000000000000")),
        ("  %p = phi double [ %x, %a ], [ 0.000000e+00, %b ]", "phi", ("%x", "0.000000e+00")),
        ("  %y = tail call nsz double @upshift_pow(double noundef %x, double 2.000000e+00) #1", "call",
         ("%x", "2.000000e+00")),
        ("  store double %x, ptr %p, align 8", "store", ("%x",)),
    ],
)  # fmt: skip
def test_lines_of_llvm_are_read(line: str, op: str, args: tuple[str, ...]) -> None:
    found = read(line)
    assert found is not None and (found.op, found.args) == (op, args)


def test_ufuncs_of_numpy_and_functions_of_math_side_by_side() -> None:
    def both(x):
        return np.sin(x) + math.sin(2 * x) * np.multiply(x, np.cos(x))

    assert check_against_loop(both, (NUMBERS,), run_here, True) > 0.95 * len(NUMBERS)
    kinds = lanes_of([NUMBERS])[0].lanes.kinds
    assert "upshift_kernel" in ptx_of_lane(compile_for(both, NUMBERS)[1], kinds, GPU)


# ---- functions of images, whose items the threads of a block share


def blurred(x):
    out = np.zeros_like(x)
    out[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[1:-1, 1:-1]) / 5
    return out


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def pixel_by_pixel(x):
    out = np.zeros_like(x)
    h, w = x.shape
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            out[i, j] = x[i - 1, j] + x[i + 1, j] - x[i, j - 1] * x[i, j + 1]
    return out


def written_in_turns(x):
    y = x.copy()
    y[3] = y[2] + 1
    y[2, 5] = y[3, 4] * 2
    y += y[0, 0]
    return y


OF_IMAGES = [
    blurred, softmax, pixel_by_pixel, written_in_turns,
    lambda x: (x.mean(), x.max(), x.min(), x.sum()),
    lambda x: x.sum(axis=1),
    lambda x: x.sum(axis=0),
    lambda x: x.max(axis=1) - x.min(axis=0).sum(),
    lambda x: (x - x.mean()) / x.std(),
    lambda x: np.maximum(x, 0) + np.sqrt(x * x + 1),
    lambda x: np.where(x > 0.5, x, -x)[::-1, ::2],
    lambda x: ((x > 0.5).sum(), (x > 2).any(), (x > -200).all(), (x > 0.5).any(axis=0).sum()),
    lambda x: x.T,
    lambda x: x.reshape(-1)[7:].cumsum()[-1],
]  # fmt: skip


def images(n: int, shape: tuple[int, ...], dtype: Any) -> Any:
    scale = 1.0 if dtype is np.int32 else 0.02
    return np.random.default_rng(7).uniform(-100 * scale, 200 * scale, (n, *shape)).astype(dtype)


def leaves_of(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(64, 37), (9, 130)])
@pytest.mark.parametrize("f", OF_IMAGES)
def test_functions_of_images(f: Any, shape: Any, dtype: Any) -> None:
    """By one thread of this machine in the place of all: NumPy's very bits, with its own functions."""
    xs = images(4, shape, dtype)
    lanes = lanes_of([xs])[0].lanes
    wanted = [leaves_of(f(x)) for x in xs]
    shapes = [leaf.shape for leaf in wanted[0] if isinstance(leaf, np.ndarray)]
    try:
        lane, flat = lane_of_function(f, lanes.form, lanes.kinds, {}, GPU, False, shapes)
    except NotCompiled as reason:
        assert reason.refusal.reason and f not in (blurred, softmax, pixel_by_pixel, written_in_turns)
        return
    assert flat.team
    outs = [np.zeros((len(xs), *kind.lane_shape), kind.dtype) for kind in lane.outs]
    left = run_machine_code(flat, lanes.columns, outs, [])
    assert not len(left)
    for k, out in enumerate(outs):
        for i, want in enumerate(wanted):
            assert np.asarray(want[k]).dtype == out.dtype and np.array_equal(want[k], out[i])
    assert ".visible .entry upshift_kernel" in ptx_of_lane(flat, lanes.kinds, GPU)


def test_what_cancels_out_in_an_image_is_refused() -> None:
    def centred(x):
        e = np.exp(x)
        return e - e.mean()

    lanes = lanes_of([images(3, (20, 20), np.float64)])[0].lanes

    def listed(x):
        found = []
        for row in x:
            found.append(math.exp(row[0]))
        return max(found)

    for f, shapes in ((lambda x: np.sin(x).sum(), []), (centred, [(20, 20)]), (listed, [])):
        with pytest.raises(NotCompiled, match="may be off"):
            lane_of_function(f, lanes.form, lanes.kinds, {}, GPU, False, shapes)


def test_threads_wait_around_what_each_of_them_writes() -> None:
    text = "\n".join([
        "define i32 @f(ptr %p) {", "  %a1 = alloca i64", "  store i64 1, ptr %a1", "  store i64 2, ptr %p",
        teams.BEGIN, "  store i64 3, ptr %p", teams.END, "  ret i32 0", "}",
        "define void @apart_g(ptr %p) {", "  store i64 4, ptr %p", "  ret void", "}",
    ])  # fmt: skip
    found = [line.strip() for line in waiting(text).splitlines()]
    waits = [i for i, line in enumerate(found) if line.startswith("call void @upshift_wait")]
    assert [found[i + 1] for i in waits] == ["store i64 2, ptr %p", teams.BEGIN.strip()]


def test_without_a_gpu_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_why_not", lambda: "there is no NVIDIA driver")
    assert driver.why_not()
    with pytest.raises(NotCompiled, match="there is no NVIDIA driver") as caught:
        prepare(escape, {}, lanes_of([NUMBERS, NUMBERS])[0].lanes, ())
    assert "nvidia.com" in caught.value.refusal.remedy


# ---- the way to a GPU and back, with memory of this machine in place of the GPU's


class Bytes:
    """Memory on either side of the bus."""

    def __init__(self, on: Any, size: int) -> None:
        self.bytes = np.full(size, 255, np.uint8)
        self.address, self.size = self.bytes.ctypes.data, size


class NoGpu:
    """A GPU as far as the way there and back is concerned."""

    ordinal = 0

    def current(self) -> Any:
        return contextlib.nullcontext()


WORD, INT = ctypes.c_int64, ctypes.c_int32
COPY = ctypes.CFUNCTYPE(INT, WORD, WORD, WORD, WORD)(
    lambda to, start, size, stream: ctypes.memmove(to, start, size) and 0
)
CLEAR = ctypes.CFUNCTYPE(INT, WORD, INT, WORD, WORD)(lambda to, byte, size, stream: ctypes.memset(to, byte, size) and 0)
WAIT = ctypes.CFUNCTYPE(INT, WORD)(lambda stream: 0)


@ctypes.CFUNCTYPE(INT, WORD, *[INT] * 7, WORD, WORD, WORD)
def square_here(kernel, blocks, y, z, threads, *rest) -> int:
    """A kernel that squares, and leaves what is above 3."""
    words = ctypes.cast(ctypes.c_void_p.from_address(rest[-1] + 8).value, ctypes.POINTER(WORD))
    n, marks, _, _, xs_at, flags_at, squares_at, counts_at = words[:8]
    if kernel != 77 or not (blocks - 1) * threads < n <= blocks * threads:
        return 1
    xs, flags = seen_at(xs_at, n, np.dtype(float)), seen_at(flags_at, n, np.dtype(bool))
    seen_at(squares_at, n, np.dtype(float))[:] = np.where(flags, 2.0, 1.0) * xs * xs
    seen_at(counts_at, n, np.dtype(np.int64))[:] = flags
    odd = np.packbits(xs > 3.0, bitorder="little")
    seen_at(marks, 1, np.dtype(np.uint32))[:] = (xs > 3.0).sum()
    seen_at(marks + HEAD, len(odd), np.dtype(np.uint8))[:] = odd
    return 0


def seen_at(address: int, n: int, dtype: Any) -> Any:
    return np.ctypeslib.as_array((ctypes.c_uint8 * (n * dtype.itemsize)).from_address(address)).view(dtype)


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> NoGpu:
    for name in ("Memory", "RegisteredMemory"):
        monkeypatch.setattr(staging, name, Bytes)
    stubs = (CLEAR, COPY, square_here, COPY, WAIT)
    found = driver.Calls(*(ctypes.cast(stub, ctypes.c_void_p).value or 0 for stub in stubs))
    monkeypatch.setattr(driver, "calls", lambda: found)
    monkeypatch.setattr(driver, "new_stream", lambda: 0)
    monkeypatch.setattr(driver, "is_pinned", lambda address: False)
    monkeypatch.setattr(staging, "PIECE", 1 << 15)
    on = NoGpu()
    monkeypatch.setattr(staging, "staging_pool", lambda ordinal, made=staging.StagingPool(on): made)
    return on


class HereKernel(Kernel):
    def launcher(self, on: Any) -> Any:
        return driver.Launcher(77, self.form)


def squares(bus: NoGpu, n: int) -> tuple[Any, Any, Any, Any]:
    xs = np.random.default_rng(2).uniform(-3.0, 3.0001, 2 * n)[::2]
    xs[0] = 4.0
    flags = xs > 0
    kernel = HereKernel("", lanes_of([xs, flags])[0].lanes.kinds, (np.dtype(float), np.dtype(np.int64)))
    outs = [np.zeros(n), np.zeros(n, np.int64)]
    return xs, flags, outs, staging.Transfer(kernel, [xs, flags], outs, [], bus, 3)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("n", [1, 999, 70_001])
def test_the_way_there_and_back(bus: NoGpu, monkeypatch: pytest.MonkeyPatch, n: int, pinned: bool) -> None:
    monkeypatch.setattr(driver, "is_pinned", lambda address: pinned)
    xs, flags, outs, trip = squares(bus, n)
    left = trip.run()
    assert left.tolist() == np.flatnonzero(xs > 3.0).tolist()
    assert np.array_equal(outs[0], np.where(flags, 2.0, 1.0) * xs * xs) and np.array_equal(outs[1], flags)


def test_what_the_driver_says_on_the_way_is_heard(bus: NoGpu) -> None:
    *_, trip = squares(bus, 70_001)
    trip.plan[6] = 78  # another kernel
    with pytest.raises(driver.DriverError):
        trip.run()


def test_notes_of_lanes_are_read() -> None:
    kinds = lanes_of([np.ones(1), [True], [1j], np.ones(1, np.float32)])[0].lanes.kinds
    kernel = Kernel("", kinds, ())
    notes = np.zeros((2, kernel.record), np.int64)
    notes[:, 1] = np.array([1.5, -2.5]).view(np.int64)
    notes[1, 2] = 1
    notes[:, 3:5] = np.array([[1 + 2j], [3 - 1j]]).view(np.int64)
    notes[:, 5] = np.array([0.5, -8.0], np.float32).view(np.uint32)
    assert [column.tolist() for column in kernel.elements(notes)] == [
        [1.5, -2.5], [False, True], [1 + 2j, 3 - 1j], [0.5, -8.0],
    ]  # fmt: skip


# ---- on a GPU


def run_on_gpu(f: Any, lanes: Lanes, n: int) -> OnGpu:
    prepared = prepare(f, {}, lanes, ())
    ran = prepared.over(f, {}, lanes.columns, n, 4)
    assert ran is not None
    made = OnGpu(ran.form, ran.outs, ran.left, ran.n, ran.mixed, ran.unsure)
    made.exact = prepared.exact
    return made


@needs_gpu
@pytest.mark.parametrize("row", ROWS)
def test_on_a_gpu_as_in_the_loop(row: Row) -> None:
    easy = [data for data in row.data if data.easy]
    arrays = [data for data in easy if isinstance(data.columns[0], np.ndarray)]
    lists = [data for data in easy if isinstance(data.columns[0], list)]
    chosen = tuple({data.name: data for data in (*arrays[:1], *lists[:1], *row.data[-1:])}.values())
    check_all(row, lambda data: check_against_loop(row.f, data.columns, run_on_gpu, True) and None, chosen)


@needs_gpu
@NAMED
def test_named_functions_on_a_gpu(f: Any, columns: Any) -> None:
    assert check_against_loop(f, columns, run_on_gpu, True) >= 0.95 * len(columns[0])


@needs_gpu
@NAMED
def test_map_in_the_cuda_gear(f: Any, columns: Any) -> None:
    """On a GPU."""
    check(f, *columns, gears=("cuda",))


@needs_gpu
def test_errors_on_a_gpu_are_the_plain_functions() -> None:
    check(math_root, [4.0, 9.0, -1.0, 16.0], gears=("cuda",))
    check(cube, [1, 5, 3_000_000], gears=("cuda",))


@needs_gpu
def test_many_lanes_on_a_gpu() -> None:
    """More than fit into all staging buffers at once; the last chunk is a short one, and some lanes are left."""
    n = 5_000_011
    xs = np.random.default_rng(1).uniform(-3.0, 3.0, n)
    xs[[0, 77, n - 1]] = 1e300
    lanes = lanes_of([xs])[0].lanes

    def square(x):
        return x * x

    ran = prepare(square, {}, lanes, ()).over(square, {}, lanes.columns, n, 8)
    assert ran is not None and ran.left.tolist() == [0, 77, n - 1]
    kept = np.setdiff1d(np.arange(n), ran.left)
    assert np.array_equal(ran.outs[0][kept], xs[kept] * xs[kept])


@needs_gpu
def test_captures_are_read_anew_on_a_gpu() -> None:
    weights = np.array([1.0, 2.0])
    factor = 3.0

    def f(x):
        return x * weights[1] + factor

    lanes = lanes_of([NUMBERS])[0].lanes
    prepared = prepare(f, {}, lanes, ())
    for weights[1], factor in ((2.0, 3.0), (5.0, -1.0)):
        ran = prepared.over(f, {}, lanes.columns, len(NUMBERS), 2)
        assert ran is not None and np.array_equal(ran.outs[0], NUMBERS * weights[1] + factor)
    factor = 1
    assert prepared.over(f, {}, lanes.columns, len(NUMBERS), 2) is None


@needs_gpu
def test_underflow_that_matters_is_the_plain_functions() -> None:
    lanes = lanes_of([NUMBERS])[0].lanes
    prepared = prepare(newton, {}, lanes, ())
    with np.errstate(under="warn"):
        ran = prepared.over(newton, {}, lanes.columns, len(NUMBERS), 2)
    assert ran is not None and len(ran.left) == len(NUMBERS)


# ---- arrays of other frameworks on a GPU


def cupy_arrays():
    cupy = pytest.importorskip("cupy")
    return cupy.asarray, cupy.asnumpy


def torch_arrays():
    torch = pytest.importorskip("torch")
    return (lambda x: torch.from_numpy(np.array(x)).cuda()), (lambda x: x.cpu().numpy())


def jax_arrays():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # it would take all memory for itself
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.device_put, np.asarray


def numba_arrays():
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda asks for it; NumPy 2.5 no longer has it
    cuda = pytest.importorskip("numba.cuda")
    return cuda.to_device, (lambda x: x.copy_to_host())


FRAMEWORKS = pytest.mark.parametrize("arrays", [cupy_arrays, torch_arrays, jax_arrays, numba_arrays])


@needs_gpu
@FRAMEWORKS
def test_arrays_on_a_gpu_stay_there(arrays: Any) -> None:
    there, here = arrays()
    columns = [there(np.array(x)) for x in (NUMBERS, NUMBERS[::-1])]
    counts = run_on_device(escape, columns, differ=differ)
    assert adapter_of(counts) is adapter_of(columns[0]) and type(counts) is type(columns[0])
    want = [escape(*row) for row in zip(NUMBERS, NUMBERS[::-1], strict=True)]
    assert here(counts).dtype == np.int64 and here(counts).tolist() == want
    angles, speeds = run_on_device(pendulum, columns, differ=differ)
    want = np.array([pendulum(*row) for row in zip(NUMBERS, NUMBERS[::-1], strict=True)])
    assert np.allclose(here(angles), want[:, 0], rtol=1e-9, atol=0)
    assert np.allclose(here(speeds), want[:, 1], rtol=1e-9, atol=0)


@needs_gpu
@FRAMEWORKS
@pytest.mark.parametrize("f", OF_IMAGES[:10])
def test_functions_of_images_on_a_gpu(arrays: Any, f: Any) -> None:
    there, here = arrays()
    for dtype in (np.float32, np.float64):
        xs = images(500, (64, 37), dtype)
        made = leaves_of(run_on_device(f, [there(xs)], differ=differ))
        for k, column in enumerate(made):
            want = np.array([leaves_of(f(x))[k] for x in xs])
            got = here(column)
            assert got.dtype == want.dtype and got.shape == want.shape
            assert np.allclose(got, want, rtol=1e-5 if dtype is np.float32 else 1e-9, atol=0)


@needs_gpu
@FRAMEWORKS
def test_lanes_that_are_left_are_filled_in(arrays: Any) -> None:
    there, here = arrays()

    def root(x):
        return math.sqrt(x) if x >= 0 else x * 1e308

    few = np.array([4.0, -1e10, 9.0])
    with pytest.warns(RuntimeWarning):
        assert here(run_on_device(root, [there(few)])).tolist() == [2.0, -np.inf, 3.0]
    many = np.tile(few, 50)
    with pytest.warns(RuntimeWarning):
        assert here(run_on_device(root, [there(many)])).tolist() == [2.0, -np.inf, 3.0] * 50
    with pytest.raises(ValueError, match="math domain error"):
        run_on_device(lambda x: math.sqrt(x), [there(few)])

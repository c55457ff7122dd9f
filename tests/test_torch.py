"""PyTorch's tensors: a failure where a map over them is not the loop, copies, or loses a gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest

import upshift as up

torch = pytest.importorskip("torch")
GENERATOR = torch.Generator().manual_seed(3)
N = 400


def loop(f, *xs):
    return [f(*row) for row in zip(*xs)]


def check(f, *xs, **words):
    made, wanted = up.map(f, *xs, **words), loop(f, *xs)
    assert isinstance(made, torch.Tensor), type(made)
    tensors = [torch.as_tensor(one) for one in wanted]
    dtype = tensors[0].dtype if isinstance(wanted[0], torch.Tensor) else torch.as_tensor(np.array(wanted)).dtype
    assert made.dtype == dtype and made.shape == (len(wanted), *tensors[0].shape)
    torch.testing.assert_close(made, torch.stack([one.to(dtype) for one in tensors]), rtol=1e-5, atol=1e-5)
    return made


FUNCTIONS = {
    "arithmetic with a branch": lambda v: v * v + 1 if v > 0.5 else -v,
    "maths": lambda v: math.sin(v) + 1,
    "torch": lambda v: torch.sin(v) * 2,
    "torch with a branch": lambda v: torch.sin(v) if v > 0 else torch.cos(v),
    "torch.where": lambda v: torch.where(v > 0, v, -v),
    "division by zero": lambda v: 1 / (v - v),
    "items": lambda v: v.item() * 2,
    "ints of floats": lambda v: int(v * 10),
    "tensors' own methods": lambda v: v.clamp(0, 1),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers(name, dtype):
    x = torch.randn(N, generator=GENERATOR, dtype=torch.float64) * 2
    x = (x * 5).abs().to(dtype) if not dtype.is_floating_point else x.to(dtype)
    for _ in range(3):
        check(FUNCTIONS[name], x)


def test_what_tensors_do_not_have_is_an_error_as_in_the_loop():
    with pytest.raises(TypeError, match="__round__"):
        up.map(round, torch.rand(N, generator=GENERATOR))
    with pytest.raises(TypeError, match="__round__"):
        up.map(lambda v: round(v) + 1, torch.rand(N, generator=GENERATOR))


def test_ints_wrap_around_as_tensors_do():
    x = torch.arange(1, 60, dtype=torch.int64) * 2**57
    check(lambda v: v * 8, x)


ROWS = {
    "sums": lambda row: row.sum(),
    "norms": lambda row: row / torch.linalg.norm(row),
    "softmax": lambda row: torch.softmax(row, 0),
    "chosen": lambda row: row[row.argmax()],
    "written to": lambda row: row.clone().mul_(2),
    "a branch": lambda row: row.max() if row[0] > 0 else row.min(),
    "sorted": lambda row: torch.sort(row).values,
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    x = torch.randn(N, 6, generator=GENERATOR)
    check(ROWS[name], x)
    check(ROWS[name], x.T.contiguous().T)


def test_several_columns_and_keywords():
    x, y = torch.rand(2, N, generator=GENERATOR)
    check(lambda a, b: a * b if a > b else a - b, x, y)
    made = up.map(lambda a, b, scale: torch.sin(a) * b * scale, x, y, scale=3.0)
    torch.testing.assert_close(made, torch.sin(x) * y * 3.0)
    check(lambda a, b: a * b, x, y.tolist())


def test_records():
    x = torch.rand(N, generator=GENERATOR)
    for f in (lambda v: {"a": v * 2, "b": v + 1}, lambda v: {"a": torch.sin(v), "b": v}):
        made = up.map(f, x)
        assert set(made) == {"a", "b"}
        torch.testing.assert_close(made["a"], torch.stack([f(v)["a"] for v in x]))
    pair = up.map(lambda v: (v, torch.cos(v)), x)
    torch.testing.assert_close(pair[1], torch.cos(x))


def test_no_copy_of_what_comes_in():
    x = torch.rand(N, generator=GENERATOR, dtype=torch.float64)
    address, before = x.data_ptr(), x.clone()
    assert np.from_dlpack(x).__array_interface__["data"][0] == address
    check(lambda v: v + 1, x)
    assert torch.equal(x, before)


def test_the_callers_tensor_is_the_loops_to_write_to():
    def f(row):
        row *= 2
        return row.sum()

    x, y = torch.ones(3, 4), torch.ones(3, 4)
    made = up.map(f, x)
    wanted = loop(f, y)
    assert torch.equal(made, torch.stack(wanted)) and torch.equal(x, y)


@pytest.mark.parametrize("f", [
    lambda v: torch.sin(v) * v, lambda v: v * v if v > 0 else v * 3, lambda v: (v.sigmoid() - 1) ** 2,
])  # fmt: skip
def test_gradients_flow(f):
    x = torch.randn(50, generator=GENERATOR, dtype=torch.float64, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    up.map(f, x).sum().backward()
    torch.stack(loop(f, y)).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_gradients_of_what_is_captured():
    layer = torch.nn.Linear(4, 2)
    x = torch.randn(30, 4, generator=GENERATOR)
    made = up.map(lambda row: layer(row).sum(), x)
    made.sum().backward()
    found = layer.weight.grad.clone()
    layer.weight.grad = None
    torch.stack([layer(row).sum() for row in x]).sum().backward()
    torch.testing.assert_close(found, layer.weight.grad)
    weight = torch.tensor(2.0, requires_grad=True)
    up.map(lambda v: v * weight, x[:, 0]).sum().backward()
    torch.testing.assert_close(weight.grad, x[:, 0].sum())


def test_errors_effects_and_random_numbers():
    x = torch.arange(10.0)

    def fails(v):
        if v == 7:
            raise KeyError("seven")
        return v

    with pytest.raises(KeyError, match="seven") as raised:
        up.map(fails, x)
    assert any(note.startswith("element 7") for note in raised.value.__notes__)
    assert len(up.map(fails, x, on_error="skip")) == 9
    seen = []
    up.map(lambda v: seen.append(float(v)), x)
    assert seen == list(range(10))
    torch.manual_seed(0)
    made = up.map(lambda v: v + torch.rand(()), x)
    torch.manual_seed(0)
    assert torch.equal(made, torch.stack([v + torch.rand(()) for v in x]))


def test_gears_by_name():
    x = torch.rand(N, generator=GENERATOR, dtype=torch.float64)
    for gear in ("loop", "numpy", "llvm", "threads"):
        check(lambda v: v * 2 + 1, x, gear=gear)
    assert len(up.map(lambda v: v, x[:0])) == 0
    with up.config(disable=True):
        check(lambda v: v * 2 + 1, x)


def test_progress():
    seen = []
    check(lambda v: v * 2 + 1, torch.rand(N, generator=GENERATOR), progress=seen.append)
    assert seen[-1].done == N


def test_collate():
    from torch.utils.data import DataLoader, default_collate

    samples = [(torch.randn(3, generator=GENERATOR), i) for i in range(20)]
    cases = [
        (lambda s: (s[0] * 2, s[1] + 1), samples),
        (lambda s: {"x": s[0].sum(), "label": s[1], "name": str(s[1])}, samples),
        (lambda t: t * 2 if t.sum() > 0 else t, [s[0] for s in samples]),
        (lambda t: torch.relu(t), [s[0] for s in samples]),
        (lambda i: i / 2, list(range(20))),
        (lambda a: a.mean(), list(np.random.default_rng(0).random((20, 4)))),
    ]
    for f, data in cases:
        made = list(DataLoader(data, batch_size=8, collate_fn=up.torch.collate_map(f)))
        wanted = list(DataLoader(data, batch_size=8, collate_fn=lambda batch: default_collate([f(s) for s in batch])))
        assert len(made) == len(wanted)
        for a, b in zip(made, wanted):
            names = a.pop("name", None) if isinstance(a, dict) else None
            assert type(a) is type(b) and names == (b.pop("name", None) if isinstance(b, dict) else None)
            torch.testing.assert_close(a, b)

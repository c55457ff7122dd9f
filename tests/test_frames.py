"""Series, DataFrames and Arrow's tables: a failure where `map` over them is not the loop, or pandas' own."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import upshift as up
from upshift.columns.fields import NotFields, field_of
from upshift.compiler.fields import Fields, fields_of
from upshift.frames.pandas import FrameRows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 3000
RNG = np.random.default_rng(7)


def branches(r):
    if r.a > 0:
        return r.a * r["b"]
    if r["b"] > 1:
        return r.a - r.b
    return math.sqrt(abs(r.b))


def frame(**more):
    return pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N) * 2, **more}, index=np.arange(N)[::-1])


FRAMES = {
    "floats": frame(),
    "a column called name": frame(name=["x"] * N),
    "ints and floats": frame(c=np.arange(N)),
    "texts": frame(s=["x"] * N),
    "bools": frame(c=np.arange(N) % 2 == 0),
    "narrow": frame().astype(np.float32),
    "datetimes": frame(t=pd.date_range("2020", periods=N)),
    "nullable": frame().astype("Float64"),
    "missing": frame(m=[None, 1.0] * (N // 2)),
    "ints": pd.DataFrame({"a": RNG.integers(-9, 9, N), "b": RNG.integers(-9, 9, N)}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_rows_are_pandas_rows(name):
    data = FRAMES[name]
    expected = pd.Series([branches(row) for _, row in data.iterrows()], index=data.index)
    for _ in range(3):
        pd.testing.assert_series_equal(up.map(branches, data), expected)
    pd.testing.assert_series_equal(data.apply(branches, axis=1, engine=up.pandas), data.apply(branches, axis=1))


def test_rows_are_compiled():
    assert "llvm" not in up.explain(branches, frame()).refusals
    made = fields_of(branches)
    assert isinstance(made, Fields) and [name for _, _, name in made.reads] == ["a", "b", "b"]


def test_rows_of_several_dtypes_are_the_same_by_position():
    data = frame(s="x", f=True, n=3, t=pd.Timestamp("2020"), c=pd.Categorical(["u", "v"] * (N // 2)))
    rows = FrameRows(data)
    for i, row in zip(range(9), rows):
        assert list(map(type, rows[i])) == list(map(type, row)) and rows[i].equals(row) and rows[i].name == row.name
    told = up.explain(lambda r: r["a"] * r["n"] if r["a"] > 0 else r["b"], data)
    assert not {"llvm", "numpy"} & set(told.refusals)


def whole(r):
    return r.sum() + len(r)


def test_a_row_used_as_a_whole():
    data = frame().head(200)
    pd.testing.assert_series_equal(up.map(whole, data), data.apply(whole, axis=1))
    pd.testing.assert_series_equal(data.apply(whole, axis=1, engine=up.pandas), data.apply(whole, axis=1))


def test_attributes_of_every_row():
    data = pd.DataFrame({"size": [5.0] * 300, "b": [2.0] * 300})
    assert up.map(lambda r: r.size * r.b, data).tolist() == [4.0] * 300
    assert up.map(lambda r: r["size"] * r.b, data).tolist() == [10.0] * 300


RESULTS = {
    "tuples": lambda r: (r.a, r.b),
    "dicts": lambda r: {"x": r.a, "y": 1},
    "texts": lambda r: "t" if r.a > 0 else "f",
    "series": lambda r: pd.Series({"p": r.a, "q": r.b}),
    "None": lambda r: None if r.a > 0 else 1.0,
}


@pytest.mark.parametrize("name", RESULTS)
def test_apply_gives_what_pandas_gives(name):
    data, f = frame().head(300), RESULTS[name]
    expected, found = data.apply(f, axis=1), data.apply(f, axis=1, engine=up.pandas)
    same = pd.testing.assert_frame_equal if name == "series" else pd.testing.assert_series_equal
    same(found, expected)


def test_arguments_of_apply():
    data = frame()

    def scaled(r, by, plus=0.0):
        return r.a * by + plus

    expected = data.apply(scaled, axis=1, args=(3.0,), plus=1.0)
    pd.testing.assert_series_equal(data.apply(scaled, axis=1, args=(3.0,), plus=1.0, engine=up.pandas), expected)


def half(x):
    return x / 2 if x > 0 else -x


SERIES = {
    "floats": pd.Series(RNG.normal(size=N), name="x", index=np.arange(N) * 2),
    "ints": pd.Series(RNG.integers(-9, 9, N)),
    "uints": pd.Series(RNG.integers(0, 9, N).astype(np.uint8)),
    "nullable": pd.Series(RNG.integers(-9, 9, N), dtype="Int64"),
}


@pytest.mark.parametrize("name", SERIES)
def test_series(name):
    data = SERIES[name]
    expected = data.map(half)
    for _ in range(3):
        pd.testing.assert_series_equal(up.map(half, data), expected)
    pd.testing.assert_series_equal(data.map(half, engine=up.pandas), data.map(half))
    pd.testing.assert_series_equal(data.upshift.map(half), expected)


@pytest.mark.parametrize(
    "data",
    [
        pd.Series([1, None, 3], dtype="Int64", name="n"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["a", None, "b"], dtype="str", index=[3, 5, 7]),
        pd.Series([1.5, None, 2.5], dtype="float64[pyarrow]"),
        pd.Series(pd.date_range("2024", periods=3, tz="UTC")),
    ],
    ids=lambda data: str(data.dtype),
)
def test_dtypes_of_pandas_own_decide_what_becomes_of_results(data):
    for f in (lambda x: x, lambda x: 0 if x is pd.NA else 1, lambda x: None, lambda x: "n" if pd.isna(x) else "y"):
        pd.testing.assert_series_equal(up.map(f, data), data.map(f))


def test_numbers_beside_dates_stay_numbers():
    """`iterrows` makes a date of a missing number that stands beside one; `apply` does not."""
    frame = pd.DataFrame({"b": [1.5, np.nan, 2.5], "d": pd.date_range("2024-01-01", periods=3)}, index=list("xyz"))
    for f in (lambda r: r.b, lambda r: (r.name, r.dtype == object, r["d"].year)[2], lambda r: list(r.items())[0][1]):
        pd.testing.assert_series_equal(up.map(f, frame), frame.apply(f, axis=1))
        pd.testing.assert_series_equal(frame.apply(f, axis=1, engine=up.pandas), frame.apply(f, axis=1))


def test_elements_are_what_iterating_gives():
    for data in (pd.Series(["a", "bb", None]), pd.Series(pd.date_range("2020", periods=3)), pd.Series([1.5, 2.0])):
        assert up.map(lambda x: type(x).__name__, data).tolist() == [type(x).__name__ for x in data]


def test_missing_values_are_skipped_where_pandas_skips_them():
    data = pd.Series([1.0, None, 3.0] * 100)
    expected = data.map(lambda x: x + 1, na_action="ignore")
    pd.testing.assert_series_equal(data.map(lambda x: x + 1, na_action="ignore", engine=up.pandas), expected)


def test_errors_name_the_row():
    data = frame(c=np.where(np.arange(N) == 2222, 0, 1))
    with pytest.raises(ValueError) as found:
        up.map(lambda r: math.sqrt(r.c - 0.5), data)
    assert found.value.upshift_element == 2222
    for gear in ("loop", None):
        with pytest.raises(ValueError) as found:
            up.map(lambda r: math.sqrt(r.c - 0.5), data.iloc[2000:], gear=gear)
        assert found.value.upshift_element == 222


def read(r):
    return r["a"] * r["b"] if r["a"] > 0 else r["b"]


def test_polars():
    data = pl.DataFrame({"a": RNG.normal(size=N), "b": RNG.integers(0, 9, N), "s": ["x"] * N})
    expected = [read(r) for r in data.iter_rows(named=True)]
    for _ in range(3):
        found = up.map(read, data)
        assert isinstance(found, pl.Series) and found.to_list() == expected
    import upshift.polars  # noqa: F401

    found = data.with_columns(y=pl.col("a").upshift.map(half, return_dtype=pl.Float64))
    assert found["y"].to_list() == [half(x) for x in data["a"]]
    missing = pl.Series("m", [1, None, 3])
    assert up.map(lambda x: x is None, missing).to_list() == [False, True, False]
    assert up.map(half, data["a"]).name == "a"


def test_arrow():
    data = pa.table({"a": RNG.normal(size=N), "b": RNG.integers(0, 9, N), "s": ["x"] * N})
    expected = [read(r) for r in data.to_pylist()]
    for _ in range(3):
        found = up.map(read, data)
        assert isinstance(found, pa.Array) and found.to_pylist() == expected
    assert up.map(half, data["a"]).to_pylist() == [half(x) for x in data["a"].to_pylist()]
    assert up.map(lambda x: x is None, pa.array([1, None])).to_pylist() == [False, True]


# ---- fields of records


class Plain:
    def __init__(self, x, y):
        self.x, self.y = x, y


@dataclasses.dataclass
class Watched:
    x: float
    reads: int = 0

    @property
    def y(self):
        self.reads += 1
        return self.x


def test_objects_with_attributes():
    data = [Plain(k * 0.5, k) for k in range(N)]
    f = lambda p: p.x * p.y + 1 if p.y > 3 else p.x
    for _ in range(6):
        assert up.map(f, data).tolist() == [f(p) for p in data]


def test_properties_are_read_by_the_function_alone():
    data = [Watched(float(k)) for k in range(N)]
    with pytest.raises(NotFields):
        field_of(data, "attr", "y")
    up.map(lambda p: p.y + 1, data)
    assert [p.reads for p in data[-5:]] == [1] * 5


def test_missing_keys_are_missed_by_the_function_alone():
    data = [{"x": float(k)} for k in range(N)]
    data[5]["y"] = 2.0
    f = lambda p: p["y"] if p["x"] == 5 else p["x"]
    for _ in range(4):
        assert up.map(f, data).tolist() == [f(p) for p in data]
    with pytest.raises(KeyError) as found:
        up.map(lambda p: p["y"] if p["x"] == 2000 else p["x"], data)
    assert found.value.upshift_element == 2000


def test_unpacked_and_captured():
    scale = 2.0

    def f(p, q):
        a, b = p
        return a * q["w"] * scale + b

    ps, qs = [(k * 0.5, k, "n")[:2] for k in range(N)], [{"w": 1.5, "n": "n"} for _ in range(N)]
    for _ in range(6):
        assert up.map(f, ps, qs).tolist() == [f(p, q) for p, q in zip(ps, qs)]
        scale += 1


def series_of_all_kinds():
    days = pd.date_range("2020", periods=N)
    return {
        "texts": pd.Series(["a", None, "c"] * (N // 3)),
        "days": pd.Series(days),
        "with a time zone": pd.Series(days.tz_localize("UTC")),
        "missing days": pd.Series([pd.Timestamp("2020"), pd.NaT] * (N // 2)),
        "differences": pd.Series(pd.timedelta_range("1s", periods=N)),
        "periods": pd.Series(pd.period_range("2020", periods=N, freq="h")),
        "nullable ints": pd.Series([1, None, 3] * (N // 3), dtype="Int64"),
        "nullable bools": pd.Series([True, None] * (N // 2), dtype="boolean"),
        "of Arrow": pd.Series([1, None, 3] * (N // 3), dtype="int64[pyarrow]"),
        "categories": pd.Series(["a", "b"] * (N // 2), dtype="category"),
        "objects": pd.Series([1, "a", None] * (N // 3), dtype=object),
    }


@pytest.mark.parametrize("name", series_of_all_kinds())
@pytest.mark.parametrize("f", [lambda x: x, lambda x: type(x).__name__, str, pd.isna])
def test_elements_of_a_series_are_what_iterating_gives(name, f):
    series = series_of_all_kinds()[name]
    made, wanted = up.map(f, series), [f(x) for x in series]
    assert isinstance(made, pd.Series) and made.index.equals(series.index)
    for a, b in zip(made, wanted):
        assert a is b or a == b or (pd.isna(a) and pd.isna(b))


def test_lists_in_and_out_of_columns():
    series = pl.Series("l", [[k, k + 1] for k in range(300)])
    assert up.map(lambda x: x, series).equals(series)  # elements are Series there, as in Polars' own loop
    assert up.map(lambda x: x + 1, series).to_list() == [[k + 1, k + 2] for k in range(300)]
    pairs = pl.DataFrame({"x": np.arange(300) / 3}).select(pl.col("x").upshift.map(lambda x: [x, x + 1]))
    assert [list(pair) for pair in pairs["x"]] == [[k / 3, k / 3 + 1] for k in range(300)]
    structs = pl.DataFrame({"x": [1.0, 2.0]}).select(pl.col("x").upshift.map(lambda x: {"p": x, "q": x * 2}))
    assert structs["x"].to_list() == [{"p": 1.0, "q": 2.0}, {"p": 2.0, "q": 4.0}]
    array = pa.array([[1, 2], [3, 4]] * 200)
    assert up.map(lambda x: x, array).equals(array)
    assert up.map(lambda x: [x, x * 2], pa.array([1.0, 2.0])).to_pylist() == [[1.0, 2.0], [2.0, 4.0]]

"""Functions of scalars and what people pass to `np.vectorize`: a failure where ours means another thing."""

from __future__ import annotations

import collections
import dataclasses
import doctest
import functools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import upshift as up
import upshift.broadcast
from law import Rule, compare

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4))
LONG = RNG.normal(size=3000)
Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: float


def same(expected, actual, rule=Rule()):
    difference = compare(expected, actual, rule)
    assert difference is None, difference


# -- functions that NumPy gives one dtype, because their first result has it


def branch(x):
    return x * x if x > 0 else -x


def loop(x):
    total = 0.0
    for _ in range(3):
        total = total * 0.5 + x
    return total


def both(x):
    return x, x * 2.0


FUNCTIONS = [
    lambda x: x * 2 + 1,
    lambda x: x > 1,
    lambda x: (x, x > 1, 1.5),
    lambda x: Pair(x, -x),
    lambda x: "text"[: int(abs(x)) % 4],
    lambda x: b"bytes"[: int(abs(x)) % 4],
    lambda x: None,
    lambda x: {"key": x},
    lambda x: Point(x),
    lambda x: math.floor(x),
    lambda x: complex(x, 1),
    lambda x: np.float32(x),
    lambda x: np.array(x),
    lambda x: np.datetime64("2020-01-01") + int(x),
    lambda x: float(x) / 3,
    branch,
    loop,
    both,
]
INPUTS = [
    3.0,
    2,
    np.array(4.0),
    [1.5, 2.0, -3.0],
    [[1, 2], [3, 4]],
    (1, 2, 3),
    range(5),
    X,
    X[0],
    X[::-1, ::2],
    np.asfortranarray(X),
    LONG,
    np.arange(12).reshape(3, 2, 2),
    np.arange(2000) - 1000,
    np.array([1, 2], object),
    X[:, None, :1],
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("value", INPUTS, ids=range(len(INPUTS)))
def test_the_same_as_numpy(f, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.vectorize(f)(value)
        for _ in range(2):
            same(expected, up.vectorize(f)(value))


@pytest.mark.parametrize("gear", ["loop", "numpy", "llvm"])
@pytest.mark.parametrize("f", [branch, loop, both])
def test_in_every_gear(f, gear):
    for value in (LONG, X, np.arange(2000) - 1000, LONG.tolist()):
        same(np.vectorize(f)(value), up.vectorize(f, gear=gear, exact=gear != "llvm")(value))


PAIRS = [
    (X, 2.0),
    (X, X[0]),
    (X[:, :1], X[0]),
    (X[:, None], X[:, :, None]),
    (3, 4),
    ([1, 2, 3], [[1.5], [2.5]]),
    (LONG, LONG[::-1]),
    (np.arange(3), 0.5),
    ([1.5], [[2], [3]]),
]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_broadcasting(a, b):
    for f in (lambda a, b: a - b * 2, lambda a, b: (a, b) if a is b else (b, a), lambda a, b: a > b):
        same(np.vectorize(f)(a, b), up.vectorize(f)(a, b))
        same(np.vectorize(f)(a, b=b), up.vectorize(f)(a, b=b))
        same(np.vectorize(f)(b=b, a=a), up.vectorize(f)(b=b, a=a))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_shapes(data):
    shape = data.draw(st.lists(st.integers(1, 3), max_size=3), label="shape")
    values = []
    for _ in range(data.draw(st.integers(1, 3), label="arguments")):
        kept = data.draw(st.integers(0, len(shape)))
        own = [n if data.draw(st.booleans()) else 1 for n in shape[len(shape) - kept :]]
        values.append(np.arange(math.prod(own), dtype=data.draw(st.sampled_from("dl"))).reshape(own))
    f = lambda *xs: (sum(xs) * 2, xs[0])
    same(np.vectorize(f)(*values), up.vectorize(f)(*values))


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match="broadcast"):
        up.vectorize(lambda a, b: a)(np.ones(3), np.ones(4))


# -- elements


@pytest.mark.parametrize("value", [
    np.float64([1]), np.float32([1]), np.float16([1]), np.int8([1]), np.uint64([2**63]), np.array([True]),
    np.complex64([1]), np.longdouble([1]), np.array(["a"]), np.array([b"a"]), np.array(["2020-01-01"], "M8[D]"),
    np.array(["2020-01-01"], "M8[ns]"), np.array([(1, 2.0)], "l,d"), [1, 2.5], [True, 2], [np.float32(1), 2], ["a", 1],
    [None, 1], np.float32(3), "text", None, 3, np.array([1, "a"], object), [np.arange(2), np.arange(2)], [[1, 2.5]], [],
])  # fmt: skip
def test_elements_are_what_numpy_passes(value):
    def seen_by(vectorize):
        seen = []
        vectorize(lambda x: seen.append(x) or 0, otypes="l")(value)
        return [(type(x), x) for x in seen]

    assert seen_by(up.vectorize) == seen_by(np.vectorize)


def test_bools():
    for f in (lambda x: x, lambda x: not x, lambda x: (x, 1.5)):
        for value in (np.array([True, False]), [False, True], True, np.arange(3000) > 7):
            same(np.vectorize(f)(value), up.vectorize(f)(value))


@pytest.mark.parametrize("n", [2, 3000])
def test_python_numbers_follow_python(n):
    xs = np.ones(n)
    xs[-1] = 0
    for value in (xs, xs.reshape(-1, 1), np.float32(xs)):
        with pytest.raises(ZeroDivisionError) as caught:
            up.vectorize(lambda x: 1 / x)(value)
        assert caught.value.upshift_element == n - 1
    assert up.vectorize(lambda x: x**40)(np.full(n, 100))[0] == 100**40
    assert up.vectorize(lambda x: x * 2)(np.uint64([2**63] * n))[0] == 2**64


def test_a_function_is_called_once_for_each_element():
    for options in ({}, {"cache": True}, {"otypes": "d"}, {"signature": "()->()"}):
        seen = []
        up.vectorize(lambda x: seen.append(x) or 1.0, **options)(np.arange(3.0))
        assert seen == [0.0, 1.0, 2.0]


# -- dtypes: where NumPy cuts, we do not


@pytest.mark.parametrize("n", [3, 3000])
def test_nothing_is_truncated(n):
    xs = np.linspace(-1, 2.5, n)
    clipped = up.vectorize(lambda x: 0 if x < 0 else x)(xs)
    assert clipped.dtype == float and clipped[-1] == 2.5
    assert np.vectorize(lambda x: 0 if x < 0 else x)(xs)[-1] == 2  # the trap
    assert up.vectorize(lambda x: x > 0 if x < 2 else 7)(np.arange(n))[-1] == 7
    assert up.vectorize(lambda x: 2**70 if x else 1)(np.arange(n))[-1] == 2**70
    assert up.vectorize(lambda x: None if x else 1)([0, 1]).tolist() == [1, None]
    assert up.vectorize(lambda x: "a" if x else 1)([0, 1]).tolist() == [1, "a"]
    assert up.vectorize(lambda x: x * 2)(np.float32([0.1] * n)).dtype == np.float64
    assert up.vectorize(lambda x: x * 2, otypes="f")(np.float32([0.1] * n)).dtype == np.float32


OTYPES = [
    (lambda x: x, "d"), (lambda x: x, "f"), (lambda x: x, "l"), (lambda x: x, "B"), (lambda x: x, "?"),
    (lambda x: x, "U"), (lambda x: x, ["U3"]), (lambda x: x, [float]), (lambda x: (x, x), "dl"), (lambda x: x, "D"),
    (lambda x: (x, x), [object]), (lambda x: [x, x], "O"), (lambda x: (x, [x]), "dO"), (lambda x: x, [np.float16]),
    (lambda x: None, "d"), (lambda x: "12", "d"), (lambda x: "12", "l"), (lambda x: {"a": x}, "O"),
    (lambda x: 1e5, "e"),
    (lambda x: x + 0.75, "i"), (lambda x: 300 * x, "B"), (lambda x: -1, "B"), (lambda x: math.nan, "l"),
    (lambda x: math.inf, "l"), (lambda x: 1e30, "l"), (lambda x: 1e300, "f"), (lambda x: x * 1j, "d"),
    (lambda x: 2**70, "d"), (lambda x: 2**70, "l"), (lambda x: np.arange(2), "O"), (lambda x: 2**63, "Q"),
    (lambda x: None, "l"), (lambda x: -0.5, "B"), (lambda x: np.datetime64("2020"), "M8[Y]"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "otypes"), OTYPES)
@pytest.mark.parametrize(
    "value", [[1, 2, 3], np.arange(1.0, 5.0), np.arange(4).reshape(2, 2), 2.5, np.arange(1000) % 7]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_otypes(f, otypes, value):
    if isinstance(otypes, str) and otypes.startswith("M8"):
        otypes = [otypes]
    try:
        expected = np.vectorize(f, otypes=otypes)(value)
    except (ValueError, TypeError, OverflowError) as error:
        with pytest.raises(type(error)):
            up.vectorize(f, otypes=otypes)(value)
    else:
        same(expected, up.vectorize(f, otypes=otypes)(value))


def test_the_number_of_results_is_checked():
    for f, found in ((lambda x: (x, x), 2), (lambda x: x, 1)):
        for otypes in ("ddd", "ddO"):
            with pytest.raises(ValueError, match=f"otypes has 3 entries, pyfunc returned {found} results"):
                up.vectorize(f, otypes=otypes)([1, 2])
    with pytest.raises(ValueError, match="otypes has 1 entries, pyfunc returned 2"):
        up.vectorize(lambda x: (x, x), otypes="d")([1, 2])


@pytest.mark.parametrize("f", [
    lambda x: [x, x], lambda x: np.array([x, x]), lambda x: [x] * (x + 1), lambda x: ((x, x), x), lambda x: ([x], x),
    lambda x: (x,) * (x + 1),
])  # fmt: skip
def test_results_that_are_sequences(f):
    with pytest.raises((ValueError, TypeError)):
        np.vectorize(f)([1, 2])
    with pytest.raises(ValueError, match=r'setting an array element with a sequence.*"\(\)->\(n\)"'):
        up.vectorize(f)([1, 2])


def test_no_elements():
    for value in ([], np.empty((0, 3)), np.empty(0)):
        with pytest.raises(ValueError, match="cannot call `vectorize` on size 0 inputs unless `otypes` is set"):
            up.vectorize(lambda x: x)(value)
        same(np.vectorize(lambda x: x, otypes="l")(value), up.vectorize(lambda x: x, otypes="l")(value))
        same(np.vectorize(lambda x: x, otypes="dO")(value), up.vectorize(lambda x: x, otypes="dO")(value))
    same(np.vectorize(max, otypes="d")(np.empty((0, 1)), X[0]), up.vectorize(max, otypes="d")(np.empty((0, 1)), X[0]))


# -- arguments that are not vectorised


def polynomial(p, x, scale=1):
    p = list(p)
    result = p.pop(0)
    while p:
        result = result * x + p.pop(0)
    return result * scale


EXCLUDED = [
    ({0}, ([1, 2, 3], [0, 1]), {}),
    ({0, "p"}, ([1, 2, 3],), {"x": [0, 1]}),
    ({0, "p"}, (), {"p": [1, 2, 3], "x": [0, 1]}),
    ({"p"}, (), {"x": X, "p": [1.5, 2.5]}),
    ({0, 2}, ([1, 2], X, 3.0), {}),
    ({0, "scale"}, ([1, 2], LONG), {"scale": 3.0}),
    ({0}, ([1, 2], X), {"scale": X[0]}),
    ({0, 7, "unused"}, (np.array([1, 2]), 3.5), {}),
    ({0, 1, 2}, ([1, 2], 3, 4), {}),
]


@pytest.mark.parametrize(("excluded", "args", "keywords"), EXCLUDED)
def test_excluded(excluded, args, keywords):
    mapped = up.vectorize(polynomial, excluded=excluded)
    for _ in range(2):
        same(np.vectorize(polynomial, excluded=excluded)(*args, **keywords), mapped(*args, **keywords))


def test_what_is_excluded_may_change():
    mapped = up.vectorize(polynomial, excluded=["p"])
    for p in ([1.0, 2.0], [3.0], [0.5, 0.25, 2.0]):
        same(np.vectorize(polynomial, excluded=["p"])(p=p, x=LONG), mapped(p=p, x=LONG))


# -- named dimensions

SIGNATURES = [
    (np.dot, "(n),(n)->()", (X, X[0])),
    (lambda a, b: a @ b, "(m,n),(n)->(m)", (RNG.normal(size=(3, 2, 4)), X[:3])),
    (np.convolve, "(n),(m)->(k)", (np.eye(4), [1, 2, 1])),
    (lambda a: (a.mean(), a - a.mean()), "(n)->(),(n)", (RNG.normal(size=(2, 3, 4)),)),
    (lambda a, k: a * k, "(n),()->(n)", (X, np.arange(5.0))),
    (lambda a, k: a * k, "(n),()->(n)", (X[0], 2.0)),
    (lambda a: a.sum(), " ( n ) -> ( ) ", (X[0],)),
    (lambda a: a * 2, "()->()", (np.float32([1, 2]),)),
    (lambda a: a.T, "(m,n)->(n,m)", (np.arange(24).reshape(2, 3, 4),)),
    (lambda a, b: a + b, "(n),(n)->(n)", (X[:, None, :], X[None])),
    (lambda: np.arange(3), "()->(n)", ()),
]


@pytest.mark.parametrize(("f", "signature", "args"), SIGNATURES[:-1])
@pytest.mark.parametrize("otypes", [None, "f", "l"])
def test_signature(f, signature, args, otypes):
    outputs = signature.split("->")[1].count("(")
    otypes = otypes and otypes * outputs
    expected = np.vectorize(f, signature=signature, otypes=otypes)(*args)
    same(expected, up.vectorize(f, signature=signature, otypes=otypes)(*args), Rule(atol=1e-12))


SIGNATURE_ERRORS = [
    (*SIGNATURES[-1], TypeError, "expected 1, got 0"),
    (np.dot, "(n),(n)->()", (X,), TypeError, "wrong number of positional arguments: expected 2, got 1"),
    (np.dot, "(n),(n)->()", (X, X[:, 0]), ValueError,
     "inconsistent size for core dimension 'n': 5 in argument 1, 4 before"),
    (np.dot, "(m,n),(n)->()", (X[0], X), ValueError, r"argument 0 of shape \(4,\) does not have enough dimensions"),
    (lambda a: (a, a), "(n)->(n)", (X,), ValueError, "wrong number of outputs from pyfunc: expected 1, got 2"),
    (lambda a: a, "(n)->(n),(n)", (X,), ValueError, "wrong number of outputs from pyfunc: expected 2, got 1"),
    (lambda a: a[:2], "(n)->(n)", (X,), ValueError,
     "inconsistent size for core dimension 'n': 2 in the result, 4 before"),
    (lambda a: a.sum(), "(n)->(n)", (X,), ValueError, r"results of shape \(\) for the core dimensions \('n',\)"),
    (lambda a: a[a > 0], "(n)->(k)", (X,), ValueError, "results of different shapes"),
    (lambda a: a, "(n)->()", (X,), ValueError, "setting an array element with a sequence"),
    (lambda a: a, "(n)->(n)", (X[:0],), ValueError, "size 0 inputs unless `otypes` is set"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "signature", "args", "error", "text"), SIGNATURE_ERRORS)
def test_signature_errors(f, signature, args, error, text):
    with pytest.raises(error, match=text):
        up.vectorize(f, signature=signature)(*args)


def test_signature_without_elements():
    same(
        np.vectorize(lambda a: a, signature="(n)->(n)", otypes="d")(X[:0]),
        up.vectorize(lambda a: a, signature="(n)->(n)", otypes="d")(X[:0]),
    )
    with pytest.raises(ValueError, match="new output dimensions on size 0"):
        up.vectorize(lambda a: a, signature="(n)->(k)", otypes="d")(X[:0])


# -- the object itself


def test_decorators():
    @up.vectorize
    def plain(x):
        """Plain."""
        return x + 1

    @up.vectorize(otypes=[float], excluded=["k"])
    def asked(x, k=2):
        return x * k

    assert plain([1, 2]).tolist() == [2, 3] and plain.__name__ == "plain" and plain.__doc__ == "Plain."
    assert asked([1, 2], k=3).tolist() == [3.0, 6.0] and asked.__name__ == "asked"
    assert up.vectorize(plain.pyfunc, doc="Mine.").__doc__ == "Mine."
    assert plain.otypes is None and asked.excluded == {"k"} and plain.signature is None and not plain.cache


class Scale:
    k = 2.0

    @up.vectorize
    def times(self, x):
        """Times k."""
        return x * self.k

    def plain(self, x):
        return x * self.k


def test_methods():
    scale = Scale()
    assert scale.times(X).tolist() == (X * 2).tolist() == up.vectorize(scale.plain)(X).tolist()
    scale.k = 3.0
    assert scale.times(X).tolist() == (X * 3).tolist() == up.vectorize(scale.plain)(X).tolist()
    assert Scale.times.__name__ == scale.times.__name__ == "times" and scale.times.__doc__ == "Times k."


@pytest.mark.parametrize("f", [math.sqrt, int, str, functools.partial(max, 2.0), np.hypot, Scale().plain])
def test_callables_of_all_kinds(f):
    args = (np.arange(4.0),) * (2 if f is np.hypot else 1)
    same(np.vectorize(f)(*args), up.vectorize(f)(*args))


def test_no_arguments():
    assert up.vectorize(lambda: 3)() == np.vectorize(lambda: 3)() == 3


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_subclasses_are_left_to_numpy():
    masked = up.vectorize(lambda x: x * 2)(np.ma.array([1, 2], mask=[0, 1]))
    assert masked.tolist() == [2, None]
    assert type(up.vectorize(lambda x, k: x * k, excluded=["k"])(np.matrix([[1, 2]]), k=3)) is np.matrix


OPTION_ERRORS = [
    (lambda: up.vectorize(3), TypeError, "must be callable, not 3"),
    (lambda: up.vectorize(otypes="W"), ValueError, "Invalid otype specified: W"),
    (lambda: up.vectorize(abs, otypes=3), ValueError, "Invalid otype specification: 3"),
    (lambda: up.vectorize(signature="n->n"), ValueError, "not a valid gufunc signature: n->n"),
    (lambda: up.vectorize(abs, gears="loop"), TypeError, "vectorize has no option 'gears'"),
    (lambda: up.vectorize(abs, on_error="skip"), ValueError, "would leave holes in an array"),
    (lambda: up.vectorize(abs, gear="sixth")(X), up.UpshiftError, "no gear named 'sixth'"),
    (lambda: up.vectorize(abs, gear="numpy", otypes="O")(X), up.GearRefused, "results that are to stay objects"),
    (lambda: up.vectorize(print, gear="numpy")(X), up.GearRefused, "numpy"),
]


@pytest.mark.parametrize(("call", "error", "text"), OPTION_ERRORS)
def test_wrong_words(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_options_reach_map():
    xs = np.array([[1, 0], [4, 2]])
    filled = up.vectorize(lambda x: 1 / x, on_error=("fill", math.inf))(xs)
    assert filled.tolist() == [[1.0, math.inf], [0.25, 0.5]]
    returned = up.vectorize(lambda x: 1 / x, on_error="return")(xs)
    assert returned.dtype == object and isinstance(returned[0, 1], ZeroDivisionError)
    rng = np.random.default_rng(0)
    one, other = (up.vectorize(lambda x: rng.random(), randomness="independent", seed=1)(X) for _ in range(2))
    assert one.tolist() == other.tolist() and one.shape == X.shape
    assert up.vectorize(lambda x: x * 2, memory="1MB", exact=True)(X).tolist() == (X * 2).tolist()
    with up.config(disable=True):
        assert up.vectorize(lambda x: x * 2)(LONG).tolist() == (LONG * 2).tolist()


def test_the_callers_array_is_not_the_result():
    xs = LONG.copy()
    identity = up.vectorize(lambda x: x)
    for _ in range(5):
        result = identity(xs)
        assert not np.shares_memory(result, xs)


def test_examples():
    failed, tried = doctest.testmod(upshift.broadcast)
    assert tried and not failed

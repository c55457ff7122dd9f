"""What the function raises: its type, its text, the element named, and the four ways to go on."""

from __future__ import annotations

import math
import os
import pickle
import traceback

import numpy as np
import pytest

import upshift as up
from functions import helper_module
from law import GEARS, check, compare
from stacking import Raised, outcomes, stack

OURS = os.path.dirname(up.__file__) + os.sep

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
each_gear = pytest.mark.parametrize("gear", GEARS)
COUNT = 300
FLOATS = [float(k) for k in range(COUNT)]
INTS = list(range(COUNT))


class Custom(Exception):
    def __init__(self, code, text="custom"):
        super().__init__(code, text)
        self.code = code

    def __str__(self):
        return f"<{self.code}>"


class Bad(ValueError):
    pass


def reciprocal(x):
    return 1 / (x - 211)


def root(x):
    return math.sqrt(211.0 - x)


def rejected(x):
    if x >= 211:
        raise Custom(7)
    return x


def rejected_with_value(x):
    if x == 211:
        raise ValueError(f"bad value {x!r}")
    return x + 1


def missing_key(x):
    return {211: None}[x - 1 if x > 210 else 211] or x


def helper_raises(x):
    return helper_module.checked(210 - x)


def chained(x):
    try:
        return reciprocal(x)
    except ZeroDivisionError as error:
        raise Bad("bad") from error


def index_error(x):
    return [1.5][0 if x < 211 else 1]


def attribute_error(x):
    return x.nothing if x == 211 else x


def wrong_type(x):
    return x + None if x == 211 else x


def overflow(x):
    return math.exp(x * 4)


def value_of_int(x):
    return int(x / (0.0 if x == 211 else 1.0)) if x < 212 else int("x")


RAISING = [
    reciprocal,
    root,
    rejected,
    rejected_with_value,
    missing_key,
    helper_raises,
    chained,
    index_error,
    attribute_error,
    wrong_type,
    overflow,
    value_of_int,
]
each_function = pytest.mark.parametrize("f", RAISING, ids=lambda f: f.__name__)


def caught(f, *xs, gear, **options):
    with pytest.raises(Exception) as info:
        up.map(f, *xs, gear=gear, **options)
    return info.value


def first_error(f, xs):
    return next((at, one.error) for at, one in enumerate(outcomes(f, (xs,), {})) if isinstance(one, Raised))


@each_gear
@each_function
@pytest.mark.parametrize("xs", [FLOATS, INTS, np.array(FLOATS), np.array(INTS)], ids=["floats", "ints", "f8", "i8"])
def test_type_text_and_element(f, xs, gear):
    if not any(isinstance(one, Raised) for one in outcomes(f, (xs,), {})):
        check(f, xs, gears=(gear,))  # NumPy scalars do not raise here
        return
    index, expected = first_error(f, xs)
    error = caught(f, xs, gear=gear)
    assert type(error) is type(expected)
    assert str(error) == str(expected)
    assert error.args == expected.args
    assert error.upshift_element == index
    assert any(f"element {index}" in note for note in error.__notes__)


@each_gear
@each_function
def test_note_has_value_and_place(f, gear):
    error = caught(f, FLOATS, gear=gear)
    note = "\n".join(error.__notes__)
    assert repr(FLOATS[error.upshift_element]) in note
    last = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(OURS)][-1]
    place = "helper_module.py:" if f is helper_raises else "test_errors.py:"
    assert place in note and f":{last.lineno}" in note


@each_gear
@pytest.mark.parametrize("folder", ["upshift", "src/upshift_and_more", "upshift/tests"])
def test_a_place_in_a_folder_of_that_name(folder, gear, tmp_path):
    file = tmp_path / folder / "mine.py"
    file.parent.mkdir(parents=True)
    file.write_text("def f(x):\n    return 1 / (x - 211)\n")
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    error = caught(space["f"], FLOATS, gear=gear)
    assert error.__notes__[0].endswith(f"{file}:2 in f")


@each_gear
@each_function
def test_one_note_only(f, gear):
    for _ in range(2):
        error = caught(f, FLOATS, gear=gear)
        assert len(error.__notes__) == 1


@each_gear
def test_traceback_ends_in_the_users_line(gear):
    error = caught(reciprocal, FLOATS, gear=gear)
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert last.name == "reciprocal" and last.line == "return 1 / (x - 211)"


@each_gear
def test_cause_and_context_are_kept(gear):
    error = caught(chained, FLOATS, gear=gear)
    assert type(error.__cause__) is ZeroDivisionError
    assert error.__suppress_context__


@each_gear
def test_own_attributes_are_kept(gear):
    error = caught(rejected, FLOATS, gear=gear)
    assert error.code == 7 and error.args == (7, "custom")


@each_gear
def test_long_values_are_shortened(gear):
    def f(x):
        raise ValueError("no")

    error = caught(f, [[0] * 100_000], gear="loop" if gear == "numpy" else gear)
    assert len("\n".join(error.__notes__)) < 1000


@each_gear
def test_values_that_cannot_be_shown(gear):
    class Shy:
        def __repr__(self):
            raise RuntimeError("no repr")

    def f(x):
        raise ValueError("no")

    error = caught(f, [Shy()], gear="loop" if gear == "numpy" else gear)
    assert type(error) is ValueError and error.upshift_element == 0


@each_gear
def test_exceptions_that_take_no_attributes(gear):
    class Slotted(Exception):
        __slots__ = ()

        def __setattr__(self, name, value):
            raise AttributeError(name)

    def f(x):
        raise Slotted("still mine")

    with pytest.raises(Slotted, match="still mine"):
        up.map(f, [1.0], gear="loop" if gear == "numpy" else gear)


@each_gear
def test_the_same_exception_object_raised_twice(gear):
    shared = ValueError("shared")

    def f(x):
        if x >= 5:
            raise shared
        return x

    for _ in range(2):
        error = caught(f, FLOATS, gear="loop" if gear == "numpy" else gear)
        assert error is shared and error.upshift_element == 5


@each_gear
def test_errors_can_be_pickled(gear):
    error = caught(reciprocal, FLOATS, gear=gear)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ZeroDivisionError and str(again) == str(error)


@each_gear
def test_several_columns_are_shown(gear):
    error = caught(lambda a, b: a / b, [1.0, 2.5, 3.0], [1.0, 0.0, 0.0], gear=gear)
    note = "\n".join(error.__notes__)
    assert error.upshift_element == 1 and "2.5" in note and "0.0" in note


@each_gear
@pytest.mark.parametrize("at", [0, 1, 150, COUNT - 1])
def test_the_first_of_several_failures(gear, at):
    def f(x):
        if x == at:
            raise KeyError("first")
        if x > at:
            raise ValueError("later")
        return x

    assert caught(f, FLOATS, gear=gear).upshift_element == at
    check(f, FLOATS)


@each_gear
def test_failures_of_two_paths_in_either_order(gear):
    """The path that is run first need not hold the first failure."""

    def f(x):
        if x % 2:
            return 1 / (x - 101)
        return math.sqrt(50 - x)

    error = caught(f, FLOATS, gear=gear)
    assert (type(error), error.upshift_element) == (ValueError, 52)
    error = caught(f, FLOATS[40:46] + FLOATS[100:], gear=gear)
    assert (type(error), error.upshift_element) == (ValueError, 6)
    error = caught(f, [1.0, 2.0, 101.0, 60.0], gear=gear)
    assert (type(error), error.upshift_element) == (ZeroDivisionError, 2)


@each_gear
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("on_error", ["raise", "return", "skip", ("fill", 0)], ids=str)
def test_what_is_no_exception_passes_through(gear, kind, on_error):
    def f(x):
        if x == 7:
            raise kind("stop")
        return x

    with pytest.raises(kind):
        up.map(f, FLOATS, gear="loop" if gear == "numpy" else gear, on_error=on_error)


@each_gear
def test_floating_point_errors_of_the_user(gear):
    """An array's elements divide as NumPy is told to."""
    xs = np.array(FLOATS)
    with np.errstate(divide="raise"):
        error = caught(reciprocal, xs, gear=gear)
    assert type(error) is FloatingPointError and error.upshift_element == 211
    with np.errstate(divide="ignore"):
        assert np.isinf(up.map(reciprocal, xs, gear=gear)[211])


@each_gear
def test_warnings_of_the_user_as_errors(gear):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = caught(reciprocal, np.array(FLOATS), gear=gear)
    assert type(error) is RuntimeWarning and error.upshift_element == 211


# -- on_error -----------------------------------------------------------------------------------------------
def expected_with(f, xs, on_error):
    found = outcomes(f, (xs,), {})
    if on_error == "return":
        return stack([one.error if isinstance(one, Raised) else one for one in found], f)
    if on_error == "skip":
        return stack([one for one in found if not isinstance(one, Raised)], f)
    return stack([on_error[1] if isinstance(one, Raised) else one for one in found], f)


MODES = ["return", "skip", ("fill", -1.0), ("fill", 0), ("fill", None), ("fill", "text"), ("fill", (1, 2))]
each_mode = pytest.mark.parametrize("mode", MODES, ids=str)


@each_gear
@each_mode
@each_function
def test_modes(f, gear, mode):
    for xs in (FLOATS, INTS):
        expected = expected_with(f, xs, mode)
        for _ in range(2):
            difference = compare(expected, up.map(f, xs, gear=gear, on_error=mode))
            assert difference is None, difference


@each_gear
@each_mode
def test_modes_without_a_failure(gear, mode):
    for xs in (FLOATS, np.array(INTS), []):
        expected = stack([x * 2 for x in xs])
        assert compare(expected, up.map(lambda x: x * 2, xs, gear=gear, on_error=mode)) is None


@each_gear
def test_all_fail(gear):
    def f(x):
        raise Bad("always")

    gear = "loop" if gear == "numpy" else gear
    errors = up.map(f, FLOATS, gear=gear, on_error="return")
    assert [type(error) for error in errors] == [Bad] * COUNT
    assert len(up.map(f, FLOATS, gear=gear, on_error="skip")) == 0
    assert up.map(f, FLOATS, gear=gear, on_error=("fill", 2)).tolist() == [2] * COUNT


@each_gear
def test_fill_joins_the_promotion(gear):
    def f(x):
        return x // (x - 3)

    filled = up.map(f, INTS, gear=gear, on_error=("fill", 0.5))
    assert filled.dtype == float and filled[3] == 0.5
    assert up.map(f, INTS, gear=gear, on_error=("fill", 7)).dtype == np.int64
    nan = up.map(f, INTS, gear=gear, on_error=("fill", math.nan))
    assert math.isnan(nan[3])


@each_gear
def test_fill_of_structures(gear):
    def f(x):
        return 1 / (x - 3), x

    first, second = up.map(f, FLOATS, gear=gear, on_error=("fill", (0.0, 0.0)))
    assert first[3] == 0.0 and second[3] == 0.0 and first.shape == second.shape == (COUNT,)


@each_gear
def test_returned_errors_are_the_loops_own(gear):
    errors = up.map(chained, FLOATS, gear=gear, on_error="return")
    assert type(errors[211]) is Bad and type(errors[211].__cause__) is ZeroDivisionError
    assert type(errors[0]) is float


@each_gear
def test_after_a_failure_the_next_call_is_right(gear):
    for xs in (FLOATS, FLOATS[:200], FLOATS, FLOATS[212:], FLOATS):
        check(reciprocal, xs, gears=(gear,))


def test_a_function_that_cannot_be_called():
    with pytest.raises(TypeError):
        up.map(3, FLOATS)
    check(lambda: 1, [1.0, 2.0])
    check(lambda a, b: a, [1.0, 2.0])


def test_refusals_are_not_the_users_errors():
    with pytest.raises(up.GearRefused) as info:
        up.map(lambda x: print(x), FLOATS, gear="numpy")
    assert not isinstance(info.value, (ValueError, TypeError))
    assert "print" in str(info.value) and "test_errors.py" in str(info.value)


# ---- the frames that a user sees


def frames_of(error):
    return [(os.path.basename(one.filename), one.name) for one in traceback.extract_tb(error.__traceback__)]


WAYS = {
    "map": lambda f: up.map(f, INTS),
    "map of a million": lambda f: up.map(f, range(1_000_000)),
    "batched": lambda f: up.map(f, np.array(FLOATS), gear="numpy"),
    "compiled": lambda f: up.map(f, INTS, gear="llvm"),
    "with words": lambda f: up.map(f, INTS, memory="1MB"),
    "vectorize": lambda f: up.vectorize(f)(INTS),
    "vmap": lambda f: up.vmap(f)(np.array(INTS)),
}


@pytest.mark.parametrize("way", WAYS)
def test_our_frames_do_not_stand_between_the_call_and_the_users_line(way):
    def raises(x):
        if x == 211:
            raise Bad(x)
        return x

    with pytest.raises(Bad) as caught:
        WAYS[way](raises)
    error = caught.value
    error.__traceback__ = error.__traceback__.tb_next  # this test's own
    seen = [(one.filename, one.name) for one in traceback.extract_tb(error.__traceback__)]
    assert seen[0][1] == "<lambda>" and seen[-1][1] == "raises"
    assert all(file.startswith(OURS) for file, _ in seen[1:-1]) and len(seen) <= 4
    hidden = [one for one, _ in traceback.walk_tb(error.__traceback__) if "__tracebackhide__" in one.f_globals]
    assert len(hidden) == len(seen) - 2


def test_maps_within_maps_and_functions_of_libraries():
    with pytest.raises(ZeroDivisionError) as caught:
        up.map(lambda n: up.map(reciprocal, [1.0 * n]), [1, 211])
    names = [name for _, name in frames_of(caught.value)]
    assert names[-1] == "reciprocal" and names.count("<lambda>") == 1 and len(names) == 4
    with pytest.raises(ValueError) as caught:
        up.map(math.sqrt, [-1.0])
    assert frames_of(caught.value)[1:] == [("api.py", "map")]


def test_what_we_say_ourselves_shows_the_call_alone():
    with pytest.raises(up.LengthError) as caught:
        up.map(lambda a, b: a, [1], [1, 2])
    assert frames_of(caught.value)[1:] == [("api.py", "map")]
    with pytest.raises(up.GearRefused) as caught:
        up.map(print, INTS, gear="numpy")
    assert frames_of(caught.value)[1:] == [("api.py", "map")]


def test_all_frames_are_there_where_they_are_asked_for_and_where_the_fault_is_ours(monkeypatch):
    def fails(*_):
        raise RuntimeError("ours")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("upshift.api.look_up", fails)
        with pytest.raises(RuntimeError) as caught:
            up.map(reciprocal, FLOATS)
    assert frames_of(caught.value)[-1][1] == "fails"
    monkeypatch.setenv("UPSHIFT_FULL_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError) as caught:
        up.map(reciprocal, FLOATS)
    assert len(frames_of(caught.value)) > 4

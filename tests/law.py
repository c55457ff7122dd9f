"""The oracle of all tests: runs a function over columns in every gear, and compares with the loop.

check(lambda x: x * 2, [1.0, 2.0])                        # every gear, the first call and the remembered one
check(f, xs, must_batch=True)                             # the numpy gear may not refuse
check(f, xs, exact=True)                                  # not one bit differs
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import upshift as up
from stacking import (
    Raised,
    fields_of,
    fresh,
    is_dataclass_instance,
    outcomes,
    stack,
)

GEARS = ("loop", "numpy", None)
RTOL = {"float64": 1e-9, "complex128": 1e-9, "float32": 1e-5, "complex64": 1e-5, "float16": 1e-2}


@dataclasses.dataclass(frozen=True)
class Rule:
    """How far a float may be from the loop's."""

    exact: bool = False
    atol: float = 0.0


def check(
    f: Callable[..., Any],
    *xs: Any,
    gears: tuple[str | None, ...] = GEARS,
    exact: bool = False,
    must_batch: bool = False,
    atol: float = 0.0,
    **shared: Any,
) -> str | None:
    """Compare each gear with the plain loop; the reason is given where a gear refused, else None."""
    found = outcomes(f, xs, shared)
    rule = Rule(exact=exact, atol=atol)
    refusal = None
    for gear in gears:
        for call in ("first call", "remembered call"):
            story = Story(f, xs, gear, call, exact)
            try:
                with overheard() as said:
                    check_call(story, found, rule, shared)
                assert not said, story.tell(f"only the sample check saved it: {said[0]}")
            except up.GearRefused as error:
                if gear not in ("numpy", "llvm", "simd") or (must_batch and gear == "numpy") or said:
                    raise AssertionError(story.tell(f"refused: {error}")) from error
                refusal = str(error)
                assert refusal, story.tell("refused without a reason")
                break
    return refusal


@contextlib.contextmanager
def overheard() -> Iterator[list[str]]:
    """What the package warns of, such as a gear whose results differ from the loop's on a sample."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("upshift")
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)


def check_call(story: Story, found: list[Any], rule: Rule, shared: dict[str, Any]) -> None:
    """One call in one gear, and a second with the exceptions in place where the loop raises."""
    before = [image(x) for x in story.xs]
    first_error = next((at for at, one in enumerate(found) if isinstance(one, Raised)), None)
    if first_error is None:
        actual = story.run(shared)
        story.compare(stack(found, story.f), actual, rule)
    else:
        check_raises(story, first_error, found[first_error].error, shared)
        actual = story.run(shared, on_error="return")
        in_place = [one.error if isinstance(one, Raised) else one for one in found]
        story.compare(in_place, actual, rule)
    assert before == [image(x) for x in story.xs], story.tell("the caller's column was changed")


def check_raises(story: Story, index: int, expected: Exception, shared: dict[str, Any]) -> None:
    try:
        actual = story.run(shared)
    except up.GearRefused:
        raise
    except Exception as error:
        try:
            assert_error(expected, index, error)
        except AssertionError as difference:
            raise AssertionError(story.tell(str(difference))) from error
        return
    raise AssertionError(story.tell(f"expected {expected!r} from element {index}, got {shorten(actual)}"))


def assert_error(expected: Exception, index: int, actual: Exception) -> None:
    """The same type and text, and the element named."""
    assert type(actual) is type(expected), f"expected {expected!r}, got {actual!r}"
    assert str(actual) == str(expected), f"expected the text {str(expected)!r}, got {str(actual)!r}"
    element = getattr(actual, "upshift_element", "nothing")
    assert element == index, f"expected upshift_element {index}, got {element} ({actual!r})"
    notes = getattr(actual, "__notes__", [])
    assert any(f"element {index}" in note for note in notes), f"no note names element {index}: {notes}"


@dataclasses.dataclass(frozen=True)
class Story:
    """One call, so that a failure can be told with everything needed to repeat it."""

    f: Callable[..., Any]
    xs: tuple[Any, ...]
    gear: str | None
    call: str
    exact: bool

    def run(self, shared: dict[str, Any], **options: Any) -> Any:
        columns = [fresh(x) for x in self.xs]
        return up.map(self.f, *columns, gear=self.gear, exact=self.exact, **options, **shared)

    def compare(self, expected: Any, actual: Any, rule: Rule) -> None:
        difference = compare(expected, actual, rule)
        if difference is not None:
            raise AssertionError(self.tell(difference))

    def tell(self, what: str) -> str:
        columns = ", ".join(shorten(x) for x in self.xs)
        call = f"gear {self.gear}, {self.call}, exact={self.exact}"
        return f"{call}: {what}\n{source_of(self.f)}\ncolumns: {columns}"


def source_of(f: Callable[..., Any]) -> str:
    try:
        return inspect.getsource(f)
    except (OSError, TypeError):
        return repr(f)


def shorten(value: Any, limit: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 40] + " … " + text[-37:]


def image(x: Any) -> Any:
    """What a column holds, to see whether a call changed it."""
    if isinstance(x, list) and x and isinstance(x[0], np.ndarray):
        return [image(one) for one in x]
    if isinstance(x, np.ndarray):
        return (str(x.dtype), x.shape, repr(x.tolist()) if x.dtype.hasobject else x.tobytes())
    return None


# -- comparing ----------------------------------------------------------------------------------------------


def compare(expected: Any, actual: Any, rule: Rule = Rule(), where: str = "result") -> str | None:
    """None, or one sentence that says where the two differ first."""
    if isinstance(expected, np.ndarray):
        return compare_arrays(expected, actual, rule, where)
    if expected is actual:
        return None
    if type(actual) is not type(expected):
        return f"{where}: expected {kind(expected)} {shorten(expected)}, got {kind(actual)} {shorten(actual)}"
    if isinstance(expected, (float, complex, np.generic)) and not isinstance(expected, np.void):
        return compare_numbers(np.asarray(expected), np.asarray(actual), rule, where)
    if isinstance(expected, BaseException):
        return None if str(expected) == str(actual) else f"{where}: expected {expected!r}, got {actual!r}"
    if isinstance(expected, dict):
        return compare_dicts(expected, actual, rule, where)
    if isinstance(expected, (tuple, list)):
        return compare_sequences(expected, actual, rule, where)
    if is_dataclass_instance(expected):
        return compare_dicts(fields_of(expected), fields_of(actual), rule, where)
    if type(expected).__eq__ is object.__eq__ and type(expected).__module__ != "builtins":
        return compare_dicts(vars(expected), vars(actual), rule, where)
    return None if expected == actual else f"{where}: expected {shorten(expected)}, got {shorten(actual)}"


def kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array {value.dtype}{list(value.shape)}"
    return type(value).__qualname__


def compare_dicts(expected: dict[Any, Any], actual: dict[Any, Any], rule: Rule, where: str) -> str | None:
    if list(expected) != list(actual):
        return f"{where}: expected the keys {list(expected)}, got {list(actual)}"
    differences = (compare(expected[key], actual[key], rule, f"{where}[{key!r}]") for key in expected)
    return next(filter(None, differences), None)


def compare_sequences(expected: Any, actual: Any, rule: Rule, where: str) -> str | None:
    if len(expected) != len(actual):
        return f"{where}: expected {len(expected)} entries, got {len(actual)}"
    pairs = enumerate(zip(expected, actual))
    differences = (compare(one, other, rule, f"{where}[{at}]") for at, (one, other) in pairs)
    return next(filter(None, differences), None)


def compare_arrays(expected: Any, actual: Any, rule: Rule, where: str) -> str | None:
    if not isinstance(actual, np.ndarray):
        return f"{where}: expected {kind(expected)}, got {kind(actual)} {shorten(actual)}"
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{where}: expected {kind(expected)} {shorten(expected)}, got {kind(actual)} {shorten(actual)}"
    if expected.dtype == object or expected.dtype.names:
        return compare_sequences(expected.ravel().tolist(), actual.ravel().tolist(), rule, where)
    return compare_numbers(expected, actual, rule, where)


def compare_numbers(expected: Any, actual: Any, rule: Rule, where: str) -> str | None:
    with np.errstate(all="ignore"):
        same = alike(expected, actual, rule)
    if same.all():
        return None
    at = np.argwhere(~np.atleast_1d(same))[0].tolist()
    place = tuple(at) if expected.ndim else ()
    many = f" ({int((~same).sum())} of {same.size} differ)"
    return f"{where}{at if place else ''}: expected {expected[place]!r}, got {actual[place]!r}{many}"


def alike(expected: Any, actual: Any, rule: Rule) -> Any:
    """Same bits (any NaN is as good as another), or as near as the law asks."""
    if expected.dtype.kind == "c":
        return alike_complex(expected, actual, rule)
    if expected.dtype.kind != "f":
        nat = np.isnat(expected) & np.isnat(actual) if expected.dtype.kind in "mM" else False
        return (expected == actual) | nat
    same = (expected == actual) & (np.signbit(expected) == np.signbit(actual))
    same |= np.isnan(expected) & np.isnan(actual)
    if rule.exact:
        return same
    return same | near(expected, actual, rule)


def near(expected: Any, actual: Any, rule: Rule) -> Any:
    rtol = RTOL.get(expected.dtype.name, 1e-9)
    smallest = 4 * float(np.finfo(expected.dtype).smallest_subnormal)
    size = np.abs(expected)
    close = np.abs(expected - actual) <= rtol * size + rule.atol + smallest
    return close & np.isfinite(expected) & np.isfinite(actual) & ((size > 0) | (np.abs(actual) > 0))


def alike_complex(expected: Any, actual: Any, rule: Rule) -> Any:
    exact = Rule(exact=True)
    same = alike(expected.real, actual.real, exact) & alike(expected.imag, actual.imag, exact)
    if rule.exact:
        return same
    finite = np.isfinite(expected) & np.isfinite(actual)
    rtol = RTOL.get(expected.dtype.name, 1e-9)
    close = finite & (np.abs(expected - actual) <= rtol * np.abs(expected) + rule.atol + 1e-320)
    parts = alike(expected.real, actual.real, rule) & alike(expected.imag, actual.imag, rule)
    return same | close | parts

"""SciPy's functions that take lanes in front: by their names, so that SciPy is not imported for them."""

from __future__ import annotations

from .call import Named, NoRule, Rule, Run, flat, named, negative, over

_PARAMETERS = ("sigma", "size", "mode", "cval", "truncate", "order", "origin", "radius", "rank", "percentile",
    "footprint",
               "window_length", "polyorder", "deriv", "delta", "b", "a", "weights", "type", "bp", "N", "num", "padtype",
               "filter_size", "output")  # fmt: skip


@named
def over_axes(call: Named) -> Run:
    """Filters that go over all axes of an element: not over the lanes."""
    fn, x = call.called.fn, call.lane("input")
    axes = call.constant("axes")
    rest = call.rest(*_PARAMETERS)
    if "output" in rest or "footprint" in rest:
        raise NoRule
    axes = tuple(range(-x.ndim, 0)) if axes is None else negative(axes, x.ndim)
    return over(x, lambda X: fn(X, axes=axes, **rest))


@named
def along_axis(call: Named) -> Run:
    """Filters along one axis, the last where none is named."""
    fn = call.called.fn
    name = next(n for n in ("input", "x", "data") if n in call.given)
    x, axis = call.lane(name), call.constant("axis", -1)
    rest = call.rest(*_PARAMETERS)
    if "output" in rest or axis is None:
        raise NoRule
    return over(x, lambda X: fn(**{name: X}, axis=negative(axis, x.ndim), **rest))


@named
def over_all(call: Named) -> Run:
    """Functions of all numbers of an array, unless an axis is named."""
    fn = call.called.fn
    name = next(iter(call.given))
    x, axis = call.lane(name), call.constant("axis")
    call.rest()
    if axis is not None:
        return over(x, lambda X: fn(X, axis=negative(axis, x.ndim)))
    assert call.called.kind is not None
    shape = call.called.kind.lane_shape
    return over(x, lambda X: fn(flat(X), axis=-1).reshape(len(X), *shape))


@named
def of_stack(call: Named) -> Run:
    """Functions of a matrix that take a stack of them."""
    fn, x = call.called.fn, call.lane(next(iter(call.given)))
    call.rest()
    return over(x, lambda X: fn(X))


SCIPY: dict[str, Rule] = {
    **{f"scipy.ndimage.{n}": over_axes for n in ("gaussian_filter", "uniform_filter", "minimum_filter",
    "maximum_filter",
                                                 "median_filter", "rank_filter", "percentile_filter")},
    **{f"scipy.ndimage.{n}": along_axis for n in ("gaussian_filter1d", "uniform_filter1d", "correlate1d", "convolve1d",
                                                  "minimum_filter1d", "maximum_filter1d", "spline_filter1d")},
    **{f"scipy.signal.{n}": along_axis for n in ("lfilter", "savgol_filter", "detrend", "hilbert")},
    **{f"scipy.special.{n}": over_all for n in ("softmax", "log_softmax", "logsumexp")},
    "scipy.linalg.expm": of_stack,
}  # fmt: skip

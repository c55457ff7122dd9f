"""pandas' plug-in: `df.apply(f, axis=1, engine=up.pandas)`, `s.map(f, engine=up.pandas)`, and `s.upshift.map(f)`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from .api import map as mapped


class Engine:
    """What pandas calls in place of its own loop; the results are those of its loop."""

    @staticmethod
    def map(data: Any, func: Any, args: Any, kwargs: Any, decorator: Any, skip_na: bool) -> Any:
        """`Series.map`; columns of pandas' own dtypes, which decide what becomes of results, are its own business."""
        f, shared = _bound(func, args, kwargs)
        if not len(data) or not isinstance(data.dtype, np.dtype):
            return data.map(functools.partial(f, **shared), na_action="ignore" if skip_na else None)
        missing = data.isna().to_numpy() if skip_na else np.zeros(0, bool)
        if not missing.any():
            return _series(data, _listed(mapped(f, data, **shared)))
        found = data.astype(object).to_numpy(copy=True)
        found[~missing] = list(_listed(mapped(f, data[~missing], **shared)))
        return _series(data, found).infer_objects()

    @staticmethod
    def apply(data: Any, func: Any, args: Any, kwargs: Any, decorator: Any, axis: Any) -> Any:
        """`DataFrame.apply`, by rows; columns, of which there are few, are pandas' own business."""
        if axis in (0, "index") or not len(data) or not callable(func):
            if isinstance(data, np.ndarray):
                return np.apply_along_axis(func, 0 if axis in (0, "index") else 1, data, *args, **kwargs)
            return data.apply(func, axis=axis, args=args, **kwargs)
        f, shared = _bound(func, args, kwargs)
        results = _listed(mapped(f, data, **shared))
        if isinstance(data, np.ndarray):
            return np.asarray(results)
        return _series(data, results)


def _bound(func: Any, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """A function of one element, and the words that all elements share."""
    if not args:
        return func, kwargs
    try:
        names = list(inspect.signature(func).parameters.values())[1 : 1 + len(args)]
        if len(names) == len(args) and all(name.kind is name.POSITIONAL_OR_KEYWORD for name in names):
            return func, {**dict(zip([name.name for name in names], args)), **kwargs}
    except (TypeError, ValueError):
        pass
    return (lambda x, **words: func(x, *args, **words)), kwargs


def _listed(result: Any) -> Any:
    """One value for every element: what is a container of columns becomes containers again."""
    if hasattr(result, "to_numpy") and hasattr(result, "columns"):
        return result.to_dict("records")
    if hasattr(result, "to_numpy"):
        return result.tolist() if result.dtype == object else result.array
    if isinstance(result, np.ndarray):
        return result if result.ndim == 1 else list(result)
    if type(result) is dict:
        return [dict(zip(result, row)) for row in zip(*[_plain(_listed(v)) for v in result.values()])]
    if isinstance(result, tuple):
        rows = zip(*[_plain(_listed(v)) for v in result])
        return [tuple.__new__(type(result), row) for row in rows]
    return result


def _plain(column: Any) -> Any:
    return column.tolist() if hasattr(column, "tolist") else column


def _series(data: Any, results: Any) -> Any:
    """Results with the index of the data; a Series for every row makes a DataFrame."""
    import pandas as pd

    name = data.name if isinstance(data, pd.Series) else None  # a table may have a column of that name
    if isinstance(results, list) and results and all(isinstance(one, pd.Series) for one in results):
        frame = pd.DataFrame([one.to_numpy() for one in results], columns=results[0].index)
        return frame.set_axis(data.index)
    if isinstance(results, list) and results and isinstance(results[0], list | tuple | dict | np.ndarray):
        held = np.empty(len(results), object)
        held[:] = results
        results = held
    return pd.Series(results, index=data.index, name=name)


__pandas_udf__ = Engine


class Accessor:
    """`s.upshift.map(f)`, `df.upshift.map(f)`: `up.map` over the elements of a Series, or the rows of a DataFrame."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def map(self, f: Any, **words: Any) -> Any:
        """`up.map(f, data, **words)`."""
        return mapped(f, self._data, **words)


def _register() -> None:
    import pandas as pd

    if not hasattr(pd.Series, "upshift"):
        pd.api.extensions.register_series_accessor("upshift")(Accessor)
        pd.api.extensions.register_dataframe_accessor("upshift")(Accessor)


_register()

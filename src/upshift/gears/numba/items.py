"""What is stored into an array in; out, the same as one of the array's items."""

from __future__ import annotations

from typing import Any

from numba.core import types

from .blocks import Refused, converted, is_complex, stand_in


def _item_of(typing: Any, array: Any, value: Any) -> tuple[Any, Any]:
    """What is stored into an array, as one of its items."""
    if not isinstance(array, types.Array) or not isinstance(value, types.Number | types.Boolean):
        if isinstance(array, types.Array) and isinstance(value, types.Array) and array.dtype != value.dtype:
            raise Refused(f"storing {value.dtype} in an array of {array.dtype} is not compiled")
        return value(array, value), lambda context, builder, sig, values: _lent(context, builder, value, values[1])
    have, want = types.unliteral(value), array.dtype
    if is_complex(have) and not is_complex(want):
        raise Refused(f"storing a complex number in an array of {want} is not compiled")
    if is_complex(want):
        return value(array, value), lambda context, builder, sig, values: values[1]
    return want(array, have), lambda context, builder, sig, values: converted(context, builder, values[1], have, want)


def _lent(context: Any, builder: Any, t: Any, value: Any) -> Any:
    """A value that is held twice from now on."""
    context.nrt.incref(builder, t, value)
    return value


ITEM_OF = stand_in(_item_of)

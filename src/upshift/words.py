"""The keywords of a call of `map`: which are the function's, which are ours, and which are neither."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

from .loading import Later

if TYPE_CHECKING:
    import difflib
else:
    difflib = Later("difflib")

OURS = (
    "on_error", "gear", "exact", "randomness", "seed", "memory", "out", "workers", "timeout", "pure", "progress",
    "columns", "resume",
)  # fmt: skip


def _keywords_of(f: Any) -> tuple[frozenset[str], bool]:
    """The names by which a function takes arguments, and whether it takes all others, too."""
    if type(f) is types.FunctionType and not hasattr(f, "__wrapped__"):
        code = f.__code__
        named = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
        return frozenset(named), bool(code.co_flags & inspect.CO_VARKEYWORDS)
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # of C code, which does not say
        return frozenset(), True
    open_to_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)), open_to_all


def split_words(f: Any, words: dict[str, Any], shared: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Words of ours that were said, without those that the function itself has; and all keywords that it is given."""
    said = {name: value for name, value in words.items() if value is not None}
    if not said:
        return said, shared
    own, _ = _keywords_of(f)
    given = {name: value for name, value in said.items() if name in own}
    return {name: value for name, value in said.items() if name not in own}, {**shared, **given}


def refuse_unknown(f: Any, shared: dict[str, Any]) -> None:
    """A keyword that is neither the function's nor ours is an error that names the nearest one."""
    own, open_to_all = _keywords_of(f)
    if open_to_all:
        return
    for word in shared:
        if word not in own:
            near = difflib.get_close_matches(word, _spellings(own), n=1)
            hint = f"did you mean {_spellings(own)[near[0]]!r}?" if near else f"up.map has {', '.join(OURS)}"
            name = getattr(f, "__qualname__", None) or type(f).__name__
            raise TypeError(f"{name}() got an unexpected keyword argument {word!r}, nor has up.map one: {hint}")


def _spellings(own: frozenset[str]) -> dict[str, str]:
    """Words, by themselves and by what other libraries call them."""
    return {**_ELSEWHERE, **{word: word for word in (*OURS, *own)}}


_ELSEWHERE = {
    "n_jobs": "workers", "num_workers": "workers", "max_workers": "workers", "n_workers": "workers",
    "processes": "workers", "backend": "gear", "engine": "gear", "errors": "on_error", "random_state": "seed",
}  # fmt: skip

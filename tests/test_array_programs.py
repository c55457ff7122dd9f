"""Random programs on arrays (calls, views, writes, branches, loops): a failure where they are not the loop.

Every program is a list of lines. A line is a template with holes for variables by class: M is a 3 by 4 matrix, V a
vector of 4, S a number, K a vector of ints. Lines that write change a variable in place, under whatever names it has.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from law import check

LINES: dict[str, list[str]] = {
    "M": [
        "{M} + {M}", "{M} * {V}", "{M} - {S}", "{M}[::-1]", "np.abs({M})", "np.sort({M}, axis=0)", "np.sort({M})",
        "np.where({M} > {S}, {M}, {V})", "np.outer({V}[:3], {V})", "{M}.copy()", "np.cumsum({M}, axis=1)",
        "np.roll({M}, 1, axis=0)", "np.clip({M}, -1, {S} + 2)", "{M} - {M}.mean(axis=0)", "np.minimum({M}, {M})",
        "np.stack([{V}, {V}, {V}])", "{M}.reshape(4, 3).T", "np.tanh({M})", "{M}[[2, 0, 1]]", "{M}[:, {K}]",
        "np.round({M}, 1)", "np.tile({V}, (3, 1))", "{M} / (np.abs({M}).max() + 1)", "np.flip({M}, 1)",
        "np.broadcast_to({V}, (3, 4)).copy()", "np.concatenate([{M}[1:], {M}[:1]])", "{M} @ np.outer({V}, {V})",
        "np.maximum.accumulate({M}, axis=0)", "np.take_along_axis({M}, np.argsort({M}, axis=1), axis=1)",
    ],
    "V": [
        "{M}[0]", "{M}[-1] * 2", "{M}.sum(axis=0)", "{M}.max(axis=0)", "{V} + {V}", "{V}[::-1]", "{M}.mean(axis=0)",
        "{V}[{K}]", "np.sort({V})", "{V} - {V}.mean()", "np.diff({M}[:, [0, 1, 2, 3, 0]], axis=1)[0]", "{V}.copy()",
        "np.exp(-np.abs({V}))", "{M}[{K}[0] % 3]", "np.where({V} > 0, {V}, -{V})", "np.full(4, {S})", "{V} * {S}",
        "np.array([{S}, {V}[1], 0.5, {S}])", "np.linspace({S}, 1.0, 4)", "{M}.T @ {V}[:3]", "np.cumsum({V})",
        "np.convolve({V}, [0.5, 0.5], 'same')", "np.percentile({M}, 30, axis=0)", "{M}.ravel()[3:7]",
        "{M}.T[1:2].T[0].repeat(4)",
    ],
    "S": [
        "{V}[0]", "{M}[1, 2]", "{V}.sum()", "{M}.mean()", "{V}.max() - {V}.min()", "{S} * 0.5", "float({V}[1])",
        "{V} @ {V}",
        "np.median({V})", "np.linalg.norm({V})", "({M} > 0).sum() / 3", "{V}.argmax() + 0.5", "{M}[{K}[1] % 3, {K}[2]]",
        "{V}[np.abs({V}) > 0.3].sum()", "len({V}) + {S}", "max({V}[0], {V}[1])", "abs({S}) + 1", "{V}.std()",
        "{V}.item(2)",
    ],
    "K": ["{K}[::-1]", "np.argsort({V})", "({K} + 1) % 4", "np.searchsorted([-1.0, 0.0, 1.0], {V})",
    "{M}.argmax(axis=0)"],
}  # fmt: skip
WRITES = [
    "{M}[0] = {V}", "{M}[:, 1] = {S}", "{M}[1, 2] = {S}", "{V}[1:3] = 0.25", "{M} += 1", "{V} *= {S}", "{M}[1] += {V}",
    "{M}[{M} > 1] = 1.0", "{V}[{K}] = {V}", "{M}.T[2] = 7.0", "{V}[{V} < 0] *= -1", "np.copyto({V}, {M}[2])",
    "{M}[1:, 1:][0] = 0.0", "{V}.sort()", "{M}.fill({S})", "{V}[{K}[0]] = {S}", "np.add({V}, 1, out={V})",
    "{M}[[0, 2]] = {V}",
]  # fmt: skip
GUARDS = ["{S} > 0", "{V}[0] > {V}[1]", "{M}.sum() > {S}", "({V} > 0).all()", "{K}[0] > 1", "{V}.any()"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function as source."""
    names = {"M": ["m", "n"], "V": ["v"], "S": ["s"], "K": ["k"]}
    lines: list[str] = []

    def filled(template: str) -> str:
        return re.sub(r"\{(\w)\}", lambda hole: draw(st.sampled_from(names[hole[1]])), template)

    def line(indent: str) -> str:
        if draw(st.integers(0, 3)) == 0:
            return indent + filled(draw(st.sampled_from(WRITES)))
        cls = draw(st.sampled_from("MMVVSK"))
        text = filled(draw(st.sampled_from(LINES[cls])))
        if indent == "    ":
            name = f"{cls.lower()}{len(lines)}"
            names[cls].append(name)
        else:
            name = draw(st.sampled_from(names[cls]))
        return f"{indent}{name} = {text}"

    for _ in range(draw(st.integers(2, 7))):
        shape = draw(st.integers(0, 7))
        if shape == 0:
            lines += [
                f"    if {filled(draw(st.sampled_from(GUARDS)))}:",
                line("        "),
                "    else:",
                line("        "),
            ]
        elif shape == 1:
            lines += ["    for i in range(3):", line("        ")]
        else:
            lines.append(line("    "))
    found = [filled("{" + cls + "}") for cls in draw(st.lists(st.sampled_from("MVSK"), min_size=1, max_size=3))]
    return "\n".join(["def f(m, n, v, s, k):", *lines, f"    return {', '.join(found)}"])


def columns(seed: int, dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    n = 13
    shapes = ((n, 3, 4), (n, 3, 4), (n, 4), (n,))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes] + [rng.integers(0, 4, size=(n, 4))]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@settings(max_examples=1500, deadline=None, derandomize=True)
@given(source=programs(), seed=st.integers(0, 1000))
def test_programs_of_doubles(source, seed):
    run(source, seed, "float64")


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@settings(max_examples=400, deadline=None, derandomize=True)
@given(source=programs(), seed=st.integers(0, 1000))
def test_programs_of_floats(source, seed):
    run(source, seed, "float32")


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@settings(max_examples=400, deadline=None, derandomize=True)
@given(source=programs(), seed=st.integers(0, 1000))
def test_programs_exactly(source, seed):
    run(source, seed, "float64", exact=True)


def run(source: str, seed: int, dtype: str, exact: bool = False) -> None:
    space = {"np": np}
    exec(source, space)
    f = space["f"]
    f.__doc__ = source
    try:
        check(f, *columns(seed, dtype), gears=("numpy",), exact=exact, atol=1e-9 if dtype == "float64" else 1e-3)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{source}") from None

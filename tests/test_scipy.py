"""SciPy's functions, by rules and lane by lane: a failure where they are not the loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special

from law import check
from upshift.rules.arrays.images import name_of
from upshift.rules.arrays.scipy import SCIPY

RNG = np.random.default_rng(0)
IMAGES, SIGNALS = RNG.random((11, 12, 13)), RNG.normal(size=(11, 40))
MATRICES = RNG.normal(size=(11, 3, 3)) + 4 * np.eye(3)
N, G, L, P = scipy.ndimage, scipy.signal, scipy.linalg, scipy.special
BATCHED = {
    "gaussian_filter": (lambda x: N.gaussian_filter(x, 1.0), IMAGES),
    "gaussian_filter of two": (lambda x: N.gaussian_filter(x, (1.0, 2.0), mode="nearest"), IMAGES),
    "uniform_filter": (lambda x: N.uniform_filter(x, 3), IMAGES),
    "minimum_filter": (lambda x: N.minimum_filter(x, 3), IMAGES),
    "maximum_filter": (lambda x: N.maximum_filter(x, size=(3, 2)), IMAGES),
    "median_filter": (lambda x: N.median_filter(x, 3), IMAGES),
    "rank_filter": (lambda x: N.rank_filter(x, 2, size=3), IMAGES),
    "percentile_filter": (lambda x: N.percentile_filter(x, 30, size=3), IMAGES),
    "gaussian_filter1d": (lambda x: N.gaussian_filter1d(x, 1.5, axis=0), IMAGES),
    "uniform_filter1d": (lambda x: N.uniform_filter1d(x, 3), SIGNALS),
    "correlate1d": (lambda x: N.correlate1d(x, [1.0, 2.0, 1.0]), SIGNALS),
    "convolve1d": (lambda x: N.convolve1d(x, [1.0, 2.0, 0.0]), SIGNALS),
    "minimum_filter1d": (lambda x: N.minimum_filter1d(x, 4), SIGNALS),
    "maximum_filter1d": (lambda x: N.maximum_filter1d(x, 4), SIGNALS),
    "spline_filter1d": (lambda x: N.spline_filter1d(x, 3), SIGNALS),
    "lfilter": (lambda x: G.lfilter([1.0, 0.5], [1.0, 0.2], x), SIGNALS),
    "savgol_filter": (lambda x: G.savgol_filter(x, 11, 3), SIGNALS),
    "detrend": (lambda x: G.detrend(x), SIGNALS),
    "hilbert": (lambda x: np.abs(G.hilbert(x)), SIGNALS),
    "softmax": (lambda x: P.softmax(x), SIGNALS),
    "log_softmax": (lambda x: P.log_softmax(x, axis=0), IMAGES),
    "logsumexp": (lambda x: P.logsumexp(x), IMAGES),
    "expm": (lambda x: L.expm(x), MATRICES),
    "erf": (lambda x: P.erf(x) * P.gamma(2.5), SIGNALS),
}
PER_LANE = {
    "rotate": (lambda x: N.rotate(x, 30, reshape=False), IMAGES),
    "zoom": (lambda x: N.zoom(x, 2), IMAGES),
    "label": (lambda x: N.label(x > 0.7)[1], IMAGES),
    "sobel": (lambda x: np.hypot(N.sobel(x, 0), N.sobel(x, 1)), IMAGES),
    "map_coordinates": (lambda x: N.map_coordinates(x, [[0.5, 1.5], [2.0, 3.0]], order=1), IMAGES),
    "convolve": (lambda x: G.convolve(x, np.ones(5) / 5, mode="same"), SIGNALS),
    "find_peaks": (lambda x: G.find_peaks(x)[0].size, SIGNALS),
    "lu": (lambda x: L.lu(x)[2], MATRICES),
    "solve": (lambda x: L.solve(x, x[0]), MATRICES),
    "cholesky": (lambda x: L.cholesky(x @ x.T), MATRICES),
}


@pytest.mark.parametrize("name", BATCHED)
def test_batched(name):
    f, xs = BATCHED[name]
    check(f, xs, atol=1e-12, must_batch=True)


@pytest.mark.parametrize("name", PER_LANE)
def test_lane_by_lane(name):
    f, xs = PER_LANE[name]
    refusal = check(f, xs, atol=1e-12)
    assert refusal is None or name == "find_peaks", refusal


def test_names_are_scipys():
    modules = (N, G, L, P)
    known = {
        name_of(getattr(module, name)) for module in modules for name in dir(module) if callable(getattr(module, name))
    }
    assert set(SCIPY) <= known

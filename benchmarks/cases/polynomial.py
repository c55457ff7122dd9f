"""A polynomial by Horner's rule: a loop of fixed length, the same for every element."""

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 1
COEFFICIENTS = (0.25, -1.5, 3.0, 0.5, -2.0, 1.25, 0.75, -4.0)


def data(n, rng):
    return (rng.uniform(-2.0, 2.0, n),)


def f(x):
    y = 0.0
    for c in COEFFICIENTS:
        y = y * x + c
    return y


PEERS = {"numpy": f, "numba": f, "jax": f, "tensorflow": f}

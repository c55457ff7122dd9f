"""One multiplication: nothing to gain but the loop itself."""

SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
PATHS = 1


def data(n, rng):
    return (rng.uniform(-10.0, 10.0, n),)


def f(x):
    return x * x


PEERS = {"numpy": f, "numba": f, "jax": f, "tensorflow": f}

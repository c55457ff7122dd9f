"""Numbers such as -12.75e3, read character by character: elements are 12 character codes."""

import numpy as np

SIZES = (100, 1_000, 10_000, 100_000)
PATHS = None
ARRAYS = True
WIDTH = 12
SPACE, MINUS, POINT, ZERO, E = map(ord, " -.0e")


def data(n, rng):
    mantissas = rng.uniform(-1000.0, 1000.0, n).round(2).tolist()
    powers = rng.integers(-9, 10, n).tolist()
    texts = [f"{m}e{p}" if p > 0 else f"{m}" for m, p in zip(mantissas, powers)]
    return (np.array([list(text.ljust(WIDTH).encode()) for text in texts]),)


def f(codes):
    sign, number, places, power, part = 1.0, 0.0, 0, 0, 0
    for code in codes:
        if code == SPACE:
            break
        if code == MINUS:
            sign = -1.0
        elif code == POINT:
            part = 1
        elif code == E:
            part = 2
        elif part == 2:
            power = power * 10 + (code - ZERO)
        else:
            number = number * 10.0 + (code - ZERO)
            places += part
    return sign * number * 10.0 ** (power - places)


def in_numpy(codes):
    sign, number = np.ones(len(codes)), np.zeros(len(codes))
    places, power, part = (np.zeros(len(codes), np.int64) for _ in range(3))
    for code in codes.T:
        sign[code == MINUS] = -1.0
        part = np.where(code == POINT, 1, np.where(code == E, 2, part))
        digit, last = code >= ZERO, part == 2
        digit &= code < E
        power = np.where(digit & last, power * 10 + (code - ZERO), power)
        number = np.where(digit & ~last, number * 10.0 + (code - ZERO), number)
        places += digit & (part == 1)
    return sign * number * 10.0 ** (power - places)


def in_jax(codes):
    import jax
    import jax.numpy as jnp

    def read(i, state):
        sign, number, places, power, part = state
        code = codes[i]
        part = jnp.where(code == POINT, 1, jnp.where(code == E, 2, part))
        digit, last = (code >= ZERO) & (code < E), part == 2
        power = jnp.where(digit & last, power * 10 + (code - ZERO), power)
        number = jnp.where(digit & ~last, number * 10.0 + (code - ZERO), number)
        return jnp.where(code == MINUS, -1.0, sign), number, places + (digit & (part == 1)), power, part

    sign, number, places, power, _ = jax.lax.fori_loop(0, WIDTH, read, (1.0, 0.0, 0, 0, 0))
    return sign * number * 10.0 ** (power - places)


PEERS = {"numpy": in_numpy, "numba": f, "jax": in_jax}

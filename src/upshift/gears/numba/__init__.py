"""The numba gear: the function itself, compiled to machine code, with Python's own meaning."""

"""The library, in the Python that is compiled: what built-in functions and methods do, one small function each.

A function here is ordinary Python, and is tested as such against the original. It differs from it in what it leaves
out: what it cannot do, or need not, is left to the plain function.
"""

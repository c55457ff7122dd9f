"""Machine code of the function itself, made by our own compiler: one kernel over lanes, with Python's very results."""

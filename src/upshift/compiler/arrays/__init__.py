"""Whole arrays: indexing, arithmetic in one pass, NumPy's functions of them."""

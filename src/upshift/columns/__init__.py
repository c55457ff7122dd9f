"""Columns: what the user passes as columns of numbers, and results as what the user gets back."""

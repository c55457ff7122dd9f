"""Rows: how one operation on values of certain kinds is written as LLVM IR, with Python's very result or not at all."""

"""Traces: runs a function on one real element and records its path in the tree."""

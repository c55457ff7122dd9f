"""Finds slow maps in scripts and notebooks, measures what they cost, rewrites them: `upshift doctor`."""

from .running.notebook import load as load_ipython_extension

__all__ = ["load_ipython_extension"]

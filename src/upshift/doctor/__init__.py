"""Finds slow maps in scripts and notebooks, measures what they cost, rewrites them: `upshift doctor`."""

"""Runs a script, measures the places that the checks point at, and tries what would be faster on the recorded data."""

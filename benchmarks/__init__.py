"""Measures side by side how fast each way to map a function of one element over data is."""

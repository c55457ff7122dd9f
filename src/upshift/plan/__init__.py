"""Costs, choice and memory of choices: which gear runs a function, at what size, and why."""

"""Words and tables for people: what this machine has, what the gears do with real functions."""

"""One file per gear: a way to run a function over elements."""

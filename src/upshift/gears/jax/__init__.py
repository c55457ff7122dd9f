"""The gear `jax`: the tree as one XLA program without branches, on CPU or GPU."""

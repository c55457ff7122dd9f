"""The jax gear: a tree in; one XLA program without branches out, on CPU or GPU."""

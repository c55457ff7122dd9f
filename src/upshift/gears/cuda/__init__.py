"""The cuda gear: the function itself, or its tree, as a kernel of an NVIDIA GPU: one thread for every lane."""

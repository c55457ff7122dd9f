"""PyTorch's tensors as columns. Loaded when one is passed."""

"""A function and one real element in, a path of the tree out."""

"""Tables of functions with their data: what goes through the law in every gear."""

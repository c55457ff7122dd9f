"""The gear `ray`: blocks on a cluster. Loaded when it is asked for by name."""

"""The systems that are compared: the product, and one file per alternative."""

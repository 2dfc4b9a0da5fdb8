"""People whom a workspace has saved, and its lists of them."""

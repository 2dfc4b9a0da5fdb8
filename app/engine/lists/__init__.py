"""Import and export of lists."""

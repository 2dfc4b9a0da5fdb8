"""The types of the extension's JavaScript, which comments state and a compiler checks."""

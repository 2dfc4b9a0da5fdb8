"""The typed clients: the document that they are generated from, their generation and their packages."""

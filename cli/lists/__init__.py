"""Reading and writing lists of contacts and companies."""

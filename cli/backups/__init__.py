"""What `flask backup` does: create, verify and restore."""

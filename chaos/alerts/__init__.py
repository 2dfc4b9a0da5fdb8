"""Measures how soon each fault raises its alert, and that none is raised without a fault."""

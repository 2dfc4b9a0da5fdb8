"""The form of the links by which a workspace dials numbers."""

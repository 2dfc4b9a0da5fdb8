"""Values that several commands take as options."""

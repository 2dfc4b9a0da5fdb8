"""Credits, and what each workspace has paid for."""

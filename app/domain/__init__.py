"""Values and rules of the domain, without access to the database or the network."""

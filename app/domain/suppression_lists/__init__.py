"""Suppression lists as others publish them: the hashed forms of identifiers, and the formats of files."""

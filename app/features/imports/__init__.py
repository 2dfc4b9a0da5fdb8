"""Queued imports: lists that workers import, of the import folder or of a command."""

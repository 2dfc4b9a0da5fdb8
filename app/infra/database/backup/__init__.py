"""Encrypted backups of the database: the archive, and how SQLite and PostgreSQL are dumped and loaded."""

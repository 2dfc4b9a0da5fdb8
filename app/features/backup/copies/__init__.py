"""Making, checking and restoring copies: files, programs of PostgreSQL, and SQLite."""

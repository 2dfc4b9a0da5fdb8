"""The embedded Redis, a throw-away PostgreSQL, and the processes of a Procfile on one machine."""

"""The embedded Redis, a throw-away PostgreSQL, and the processes of the Procfile on one machine."""

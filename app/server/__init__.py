"""The gunicorn worker: connections, timeouts and concurrency limits of a web process."""

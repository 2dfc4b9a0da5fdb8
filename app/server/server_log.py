"""The log of gunicorn, without a line for each request, which would contain the address of a client."""

from __future__ import annotations

from gunicorn.glogging import Logger


class ServerLog(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's log of starts, stops and errors."""

    def access(self, resp: object, req: object, environ: object, request_time: object) -> None:
        """Do nothing, where gunicorn would format the request even if no log takes the line."""

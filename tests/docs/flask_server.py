"""Runs `flask` commands in one process, because importing the application takes seconds.

Usage: `flask_server.py SOCKET`. Each connection brings one command as a line of JSON and gets its output and
exit code as another.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys

from cli.application import create_app

TYPED = "a long enough password\n" * 2  # at every prompt


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Run one command, and answer with its output."""
        request = json.loads(self.rfile.readline())
        os.chdir(request["cwd"])
        result = RUNNER.invoke(args=request["args"], input=TYPED)
        self.wfile.write(json.dumps({"output": result.output, "exit": result.exit_code}).encode())


if __name__ == "__main__":
    RUNNER = create_app().test_cli_runner()
    with socketserver.UnixStreamServer(sys.argv[1], _Handler) as server:
        server.serve_forever()

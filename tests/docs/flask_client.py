"""Replaces the `flask` command: `flask_client.py SOCKET ARGUMENT…` forwards it to flask_server.py."""

from __future__ import annotations

import json
import os
import socket
import sys

if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        server.sendall(json.dumps({"cwd": os.getcwd(), "args": sys.argv[2:]}).encode() + b"\n")  # noqa: PTH109
        reply = json.loads(b"".join(iter(lambda: server.recv(65536), b"")))
    sys.stdout.write(reply["output"])
    sys.exit(reply["exit"])

"""Gunicorn's settings that are the same everywhere; address: Procfile, processes: WEB_CONCURRENCY.

Without it there is a process per processor, four at most: one process alone is busy with what it hears, and
then a sign-in stands in line behind a thousand who wait.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import tempfile
from typing import TYPE_CHECKING

# Set here, so that it is set for the API's processes and for no other: Flower would write into it too.
# It has to be there before prometheus_client is imported for the first time.
_own_directory = "PROMETHEUS_MULTIPROC_DIR" not in os.environ
if _own_directory:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="contact-lookup-metrics-")

from prometheus_client import multiprocess  # noqa: E402 - see above

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter
    from gunicorn.workers.base import Worker

MOST_PROCESSES = 4  # by themselves
MOST_CONNECTIONS = 8000  # 30 KiB each while a caller waits for a job, less otherwise
OTHER_FILES = 500  # databases, Redis, what Python opens


def _connections() -> int:
    """Give the connections for which there are file descriptors, and ask the system for what it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(MOST_CONNECTIONS, max(soft - OTHER_FILES, soft // 2))


# In the environment, because the application has to know among how many it is one.
os.environ.setdefault("WEB_CONCURRENCY", str(min(MOST_PROCESSES, os.cpu_count() or 1)))
workers = int(os.environ["WEB_CONCURRENCY"])
worker_class = (
    "app.server.web_worker.TimeoutGeventWorker"  # gevent: a waiting client costs a greenlet, not a process
)
worker_connections = _connections()
timeout = 60  # above the longest wait (25 s) that a client may ask for
graceful_timeout = 10
sendfile = False  # files are sent like all else, with an end to waiting for the reader
limit_request_line = 4094
limit_request_fields = 50
limit_request_field_size = 8190
max_requests = 0
accesslog = None  # one line per request is the application's own, without personal data
errorlog = "-"
control_socket_disable = True  # nobody steers it from outside; and its home may be read-only
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112 - heartbeat file; a disk may stall


def post_worker_init(worker: Worker) -> None:
    """Connect the worker with the services of its application."""
    services = worker.wsgi.extensions["services"]
    services.bulkhead.seats = worker.worker_connections // 2  # the rest is for calls that do not wait
    worker.on_closing = services.listener.close
    worker.connections.by_address = not services.settings.trusted_proxies
    gc.collect()
    gc.freeze()  # what stays for ever need not be looked through, with everybody waiting for 0.1 s and more


def child_exit(server: Arbiter, worker: Worker) -> None:  # noqa: ARG001 - gunicorn's signature
    """Drop the gauges of a worker that is gone."""
    multiprocess.mark_process_dead(worker.pid)


def on_exit(server: Arbiter) -> None:  # noqa: ARG001 - gunicorn's signature
    """Leave no metrics behind."""
    if _own_directory:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)

"""Gunicorn's settings. The address is in the Procfile, the number of processes in WEB_CONCURRENCY.

WEB_CONCURRENCY defaults to the number of processors, at most four: in a single process, a sign-in would wait
behind the notifications of a thousand waiting clients.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import tempfile
from typing import TYPE_CHECKING

# Set here, so that only the API's processes have it: Flower would write into the directory, too.
# It must be set before prometheus_client is first imported.
_own_directory = "PROMETHEUS_MULTIPROC_DIR" not in os.environ
if _own_directory:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="contact-lookup-metrics-")

from gevent import monkey  # noqa: E402 - see above

# Before the application is loaded, whose locks must be those of gevent. The arbiter handles its signals and
# children itself.
monkey.patch_all(os=False, signal=False)

from prometheus_client import multiprocess  # noqa: E402 - see above

from app.infra import listening  # noqa: E402 - see above
from app.infra.telemetry import metrics, tracing  # noqa: E402 - see above
from app.server.connection_counts import ConnectionCounts  # noqa: E402 - see above

if TYPE_CHECKING:
    from gunicorn.arbiter import Arbiter
    from gunicorn.workers.base import Worker

MAX_PROCESSES = 4  # unless WEB_CONCURRENCY is set
MAX_CONNECTIONS = 8000  # 30 KiB each while a client waits for a job, less otherwise
PREDECESSOR_SECONDS = 5.0  # as long as gunicorn tries to bind
OTHER_FILES = 500  # file descriptors for databases, Redis and Python itself


def _connections() -> int:
    """Raise the limit on file descriptors as far as allowed; return the connections that it permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = MAX_CONNECTIONS + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(MAX_CONNECTIONS, max(soft - OTHER_FILES, soft // 2))


# In the environment, because the application needs to know the number of processes.
os.environ.setdefault("WEB_CONCURRENCY", str(min(MAX_PROCESSES, os.cpu_count() or 1)))
workers = int(os.environ["WEB_CONCURRENCY"])
worker_class = (
    "app.server.web_worker.TimeoutGeventWorker"  # gevent: a waiting client costs a greenlet, not a process
)
_connection_counts = ConnectionCounts(workers)
preload_app = True  # the processes share the memory of what is loaded before they are forked
worker_connections = _connections()
timeout = 60  # longer than the longest wait that a client may request, 25 s
graceful_timeout = 10
sendfile = False  # so that the write timeout also applies to files
limit_request_line = 4094
limit_request_fields = 50
limit_request_field_size = 8190
max_requests = 0
logger_class = "app.server.server_log.ServerLog"
errorlog = "-"
logconfig_dict = {  # so that the application writes these lines, in the format of LOG_FORMAT
    "root": {"level": "INFO", "handlers": ["error_console"]},  # until the application is loaded
    "loggers": {"gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True}},
}
control_socket_disable = True  # unused, and the home directory may be read-only
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112 - for the heartbeat file; a disk may stall


def on_starting(server: Arbiter) -> None:
    """Exempt the application from collections, which would pause all requests for 0.1 s or more.

    They would also write to the memory that the workers share. End with a sentence if the address is in use,
    instead of gunicorn's dozen lines, unless systemd or a predecessor hands over its socket.
    """
    if not {"LISTEN_FDS", "GUNICORN_FD"} & os.environ.keys():
        for address in server.cfg.address:
            if isinstance(address, tuple):
                listening.require_free(*address[:2], setting="WEB_BIND", seconds=PREDECESSOR_SECONDS)
    gc.collect()
    gc.freeze()


def pre_fork(server: Arbiter, worker: Worker) -> None:  # noqa: ARG001 - gunicorn's signature
    """Share the number of the worker's connections with the other workers."""
    worker.connections.shared_count = _connection_counts.add()


def post_worker_init(worker: Worker) -> None:
    """Connect the worker with the services of its application."""
    services = worker.wsgi.extensions["services"]
    services.bulkhead.max_waiters = worker.worker_connections // 2  # the rest is for calls that do not wait
    worker.on_closing = services.listener.close
    worker.connections.by_address = not services.settings.trusted_proxies
    metrics.API_START_TIME.set_to_current_time()
    tracing.start(services.settings.otel_exporter_otlp_endpoint, service="contact-lookup-api")


def child_exit(server: Arbiter, worker: Worker) -> None:  # noqa: ARG001 - gunicorn's signature
    """Delete the gauges and the count of a worker that has exited."""
    if worker.connections.shared_count is not None:
        worker.connections.shared_count.remove()
    multiprocess.mark_process_dead(worker.pid)


def on_exit(server: Arbiter) -> None:  # noqa: ARG001 - gunicorn's signature
    """Delete the metrics directory."""
    if _own_directory:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)

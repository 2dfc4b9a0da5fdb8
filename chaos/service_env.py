"""The environment of the processes under fire: nothing of the caller's that could reach a real service."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from tools.services import ports
from tools.state import ROOT


def service_env(folder: Path, database_url: str, redis_url: str, port: int) -> dict[str, str]:
    """Give the processes' environment: nothing of the caller's that could reach a vendor or a real server."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    fixed = {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), kept.get("PATH", os.defpath)]),  # noqa: PTH120 - a link must stay one
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": secrets.token_urlsafe(48),
        "SUPPRESSION_KEY": secrets.token_urlsafe(48),
        "WEB_BIND": f"{ports.LOOPBACK}:{port}",
        "WEB_CONCURRENCY": "2",
        "BEAT_SCHEDULE": str(folder / "beat-schedule"),
        "CELERY_LOG_LEVEL": "info",
        "LOG_LEVEL": "info",
        "LIMIT_SPEND": "1000000/minute",
        "LIMIT_READ": "1000000/minute",
        "LIMIT_LOGIN_ADDRESS": "1000000/minute",
        "LIMIT_LOGIN_ACCOUNT": "1000000/minute",
        "PROVIDERS_EMAIL": "pattern,sandbox",
        "PROVIDERS_PHONE": "sandbox",
        "PROVIDERS_PERSON": "sandbox",
        "PROVIDERS_COMPANY": "sandbox",
        "PROVIDERS_VERIFICATION": "",
    }
    return kept | fixed

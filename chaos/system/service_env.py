"""The environment of the service under test, without variables that could lead to a real service."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from tools.services import ports
from tools.state import ROOT

UNLIMITED = "1000000/minute"


def service_env(folder: Path, database_url: str, redis_url: str, port: int) -> dict[str, str]:
    """Return the environment: only the sandbox as a provider, and rate limits that are never reached."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    fixed = {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), inherited.get("PATH", os.defpath)]),  # noqa: PTH120 - resolving the link would leave the environment
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
        "LIMIT_SPEND": UNLIMITED,
        "LIMIT_READ": UNLIMITED,
        "LIMIT_LOGIN_ADDRESS": UNLIMITED,
        "LIMIT_LOGIN_ACCOUNT": UNLIMITED,
        "PROVIDERS_EMAIL": "pattern,sandbox",
        "PROVIDERS_PHONE": "sandbox",
        "PROVIDERS_PERSON": "sandbox",
        "PROVIDERS_COMPANY": "sandbox",
        "PROVIDERS_PEOPLE": "sandbox",
        "PROVIDERS_VERIFICATION": "",
    }
    return inherited | fixed

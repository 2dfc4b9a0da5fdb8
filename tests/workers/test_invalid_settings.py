"""Processes of workers with invalid settings: they end with a sentence for each, without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.state import ROOT

WORKER = ("celery", "-A", "workers.main", "worker", "-Q", "interactive", "-P", "threads", "-c", "1")
BEAT = ("celery", "-A", "workers.application", "beat")
HEALTH = ("workers.health", "interactive")
NEXT_STEP = "To list everything that is missing or invalid: flask doctor"


@pytest.mark.release
@pytest.mark.parametrize(
    ("command", "variables", "sentence"),
    [
        (WORKER, {"SECRET_KEY": "short"}, "SECRET_KEY is shorter than 32 characters."),
        (WORKER, {"PROVIDERS_EMAIL": "nobody"}, "PROVIDERS_EMAIL names 'nobody', which is not a provider."),
        (WORKER, {"VERIFY_SMTP": "perhaps"}, '"VERIFY_SMTP" invalid: Not a valid boolean.'),
        (WORKER, {"DATABASE_URL": "mysql://host/name"}, "DATABASE_URL is not of a supported database."),
        (BEAT, {"LEASE_SECONDS": "0"}, "LEASE_SECONDS is 0; it must be from 1 to 3600."),
        (HEALTH, {"REDIS_URL": ""}, "REDIS_URL is not set."),
    ],
)
def test_an_invalid_setting_ends_the_process_with_a_sentence(
    command: tuple[str, ...], variables: dict[str, str], sentence: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert ended.stderr.endswith(f"{NEXT_STEP}\n")
    assert "Traceback" not in ended.stdout + ended.stderr

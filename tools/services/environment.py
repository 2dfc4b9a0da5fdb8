"""The environment of the service's processes: the caller's, completed from the local data directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tools.services.ports import LOOPBACK
from tools.state import DEMO_EMAIL, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.state import State


def for_children(
    state: State, base: Mapping[str, str], *, redis_url: str, web_bind: str = "", flower_port: int = 0
) -> dict[str, str]:
    """Return the caller's environment with every missing setting filled in.

    `web_bind` is the API's address in gunicorn's notation, such as `fd://5`.
    """
    stored = state.secrets()
    env = {name: value for name, value in base.items() if name != "HONCHO_PROCESS_NAME"}
    # An empty variable counts as unset, as it does for ${NAME:-…} in the Procfile. A provider order is the
    # exception: an empty one means no providers.
    for name, value in {
        "DATABASE_URL": f"sqlite:///{state.database}",
        "SECRET_KEY": stored["SECRET_KEY"],
        "SUPPRESSION_KEY": stored["SUPPRESSION_KEY"],
        "FLOWER_BASIC_AUTH": stored["FLOWER_BASIC_AUTH"],
        "OPERATORS": DEMO_EMAIL,
        "BEAT_SCHEDULE": str(state.path("beat-schedule")),
        "SPOOL_FOLDER": str(state.path("spool")),
        **{
            f"PROVIDERS_{field}": "default,sandbox"
            for field in ("EMAIL", "PHONE", "PERSON", "COMPANY", "PEOPLE")
        },
    }.items():
        is_order = name.startswith("PROVIDERS_")
        env[name] = env[name] if is_order and name in env else env.get(name) or value
    env["REDIS_URL"] = redis_url
    env["FLASK_APP"] = "cli.application:create_app"
    env["PYTHONUNBUFFERED"] = "1"
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    if web_bind:
        env["WEB_BIND"] = web_bind
    if flower_port:
        env |= {
            "FLOWER_PORT": str(flower_port),
            "FLOWER_ADDRESS": LOOPBACK,
            "FLOWER_URL": f"http://{LOOPBACK}:{flower_port}",
        }
    return env

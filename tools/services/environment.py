"""The environment of the child processes: what the settings need, from the caller's or from `.data`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tools.services.ports import LOOPBACK
from tools.state import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.state import State


def for_children(
    state: State, base: Mapping[str, str], *, redis_url: str, web_bind: str = "", flower_port: int = 0
) -> dict[str, str]:
    """Return the caller's environment, with everything that is not set there filled in.

    `web_bind` is where the API listens as gunicorn writes it, such as `fd://5`.
    """
    kept = state.secrets()
    env = {name: value for name, value in base.items() if name != "HONCHO_PROCESS_NAME"}
    # An empty variable counts as unset, as it does for the shell's ${NAME:-…} in the Procfile, but for an
    # order of providers, where it means nobody.
    for name, value in {
        "DATABASE_URL": f"sqlite:///{state.database}",
        "SECRET_KEY": kept["SECRET_KEY"],
        "SUPPRESSION_KEY": kept["SUPPRESSION_KEY"],
        "FLOWER_BASIC_AUTH": kept["FLOWER_BASIC_AUTH"],
        "BEAT_SCHEDULE": str(state.path("beat-schedule")),
        **{f"PROVIDERS_{field}": "default,sandbox" for field in ("EMAIL", "PHONE", "PERSON", "COMPANY")},
    }.items():
        is_order = name.startswith("PROVIDERS_")
        env[name] = env[name] if is_order and name in env else env.get(name) or value
    env["REDIS_URL"] = redis_url
    env["FLASK_APP"] = "app.factory:create_app"
    env["PYTHONUNBUFFERED"] = "1"
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    if web_bind:
        env["WEB_BIND"] = web_bind
    if flower_port:
        env |= {"FLOWER_PORT": str(flower_port), "FLOWER_ADDRESS": LOOPBACK}
    return env

from __future__ import annotations

import subprocess
import sys

from apiflask import APIFlask


def test_the_workers_commands_are_there(app: APIFlask) -> None:
    result = app.test_cli_runner().invoke(args=["providers", "--help"])

    assert result.exit_code == 0
    assert "check" in result.output
    assert "report" in result.output


def test_the_app_loads_no_worker_before_one_of_them_is_called() -> None:
    script = "import sys, app.factory; sys.exit('workers.commands' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

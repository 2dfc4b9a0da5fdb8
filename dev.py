"""Everything a fresh clone needs: `python3 dev.py demo`, or `up`, `test`, `check`, `run`, `lock`."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - on an older Python this sentence is all that runs
    sys.exit(
        "This needs Python 3.11 or newer, and this is Python {}.{}. ".format(*sys.version_info[:2])
        + "Start it with a newer one, such as python3.12."
    )

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tools import bootstrap  # noqa: E402 - only after the version is known to do

RUNTIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / "requirements-dev.lock"
TOP_LEVEL = {"chaos", "fuzz"}  # packages of their own; the other subcommands are modules of tools
WITH_TOOLS = {"test", "check", *TOP_LEVEL}  # what needs more than the service itself


def main(argv: list[str]) -> int:
    """Make the environment that the subcommand needs, and hand over to it; return the exit code."""
    known, rest = _parser().parse_known_args(argv)
    if rest and known.subcommand not in {"test", "run", *TOP_LEVEL}:
        _parser().error("unrecognized arguments: " + " ".join(rest))
    if sys.platform == "win32":
        sys.exit("This runs on Linux and macOS; on Windows, run it inside WSL.")
    try:
        if known.subcommand == "lock":
            return bootstrap.write_locks(ROOT, {RUNTIME: ["embedded"], DEVELOPMENT: ["embedded", "dev"]})
        locks = [DEVELOPMENT] if known.subcommand in WITH_TOOLS else [RUNTIME, DEVELOPMENT]
        python = bootstrap.environment(ROOT, locks)
    except bootstrap.BootstrapError as problem:
        sys.stderr.write(f"\n{problem}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    _hand_over(python, known.subcommand, argv[argv.index(known.subcommand) + 1 :])
    return 0


def _hand_over(python: Path, subcommand: str, arguments: list[str]) -> None:
    """Become `python -m <module of the subcommand>`: one process, so that signals need no passing on."""
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(python.parent), env.get("PATH", os.defpath)])
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    env["VIRTUAL_ENV"] = str(python.parent.parent)
    env.pop("PYTHONHOME", None)
    if subcommand != "run":
        os.chdir(ROOT)
    sys.stdout.flush()
    sys.stderr.flush()
    module = subcommand if subcommand in TOP_LEVEL else f"tools.{subcommand}"
    command = [str(python), "-m", module, *arguments]
    os.execve(command[0], command, env)  # noqa: S606 - no shell wanted: the words are passed on as they are


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__)
    commands = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo", help="start everything, walk through all endpoints, stay up until Ctrl-C"
    )
    demo.add_argument(
        "--once", action="store_true", help="stop after the walk; the exit code says if it went well"
    )
    demo.add_argument("--verbose", action="store_true", help="print every request and answer in full")
    up = commands.add_parser("up", help="start everything and stay up until Ctrl-C")
    up.add_argument("--port", help="of the API (default: 8000, or the next one that is free)")
    up.add_argument("--json", action="store_true", help="one line of JSON on stdout when ready")
    for command in (demo, up):
        command.add_argument(
            "--fresh", action="store_true", help="forget the local database, queue and secrets first"
        )
    commands.add_parser(
        "test", help="run the tests; further words go to pytest, --postgres runs them on PostgreSQL"
    )
    check = commands.add_parser(
        "check", help="format, lint, types, supply chain, tests with coverage: what CI runs"
    )
    check.add_argument(
        "--tested", action="store_true", help="the tests have just run, with --cov=app --cov-branch"
    )
    commands.add_parser(
        "chaos",
        help="kill everything around the service under load, and see whether its promises hold",
        add_help=False,  # it has options of its own, and says which
    )
    commands.add_parser(
        "fuzz",
        help="send thousands of requests made from /openapi.json, good and bad; none may break a promise",
        add_help=False,  # as above
    )
    extension = commands.add_parser(
        "extension", help="the Chrome extension in a browser, over the running demo, with websites to visit"
    )
    extension.add_argument("--zip", type=Path, metavar="FILE", help="write the zip for the store instead")
    run = commands.add_parser("run", help="run a command in the environment, with the services there")
    run.add_argument("command", nargs=argparse.REMAINDER, help="such as: flask accounts list")
    commands.add_parser("lock", help="write the two lock files anew (needs uv)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

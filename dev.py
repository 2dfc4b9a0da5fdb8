"""The command line of a fresh clone: `python3 dev.py demo`, or `up`, `test`, `check`, `run`, `lock`."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - on an older Python, this check is all that runs
    sys.exit(
        "This needs Python 3.11 or newer; this is Python {}.{}. ".format(*sys.version_info[:2])
        + "Run it with a newer one, such as python3.12."
    )

import signal

if __name__ == "__main__":  # outside `main`, Ctrl-C ends the process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tools import bootstrap  # noqa: E402 - after the version check

RUNTIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / "requirements-dev.lock"
BENCHMARKS = ROOT / "requirements-bench.lock"  # includes everything in requirements-dev.lock
MODULES = {  # the other subcommands are modules of tools
    "chaos": "chaos",
    "fuzz": "fuzz",
    "matrix": "tools.matrix",
    "bench": "benchmarks.comparison",
}
GROUPS = {
    RUNTIME: ["embedded"],
    DEVELOPMENT: ["embedded", "dev"],
    BENCHMARKS: ["embedded", "dev", "bench"],
}
DEVELOPING = {
    "test",
    "matrix",
    "check",
    "chaos",
    "fuzz",
    "clients",
    "manual",
    "release",
}  # these need the development packages


def main(argv: list[str]) -> int:
    """Install what the subcommand needs, then run it; return the exit code."""
    known, rest = _parser().parse_known_args(argv)
    if rest and known.subcommand not in {"test", "run", "release", *MODULES}:
        _parser().error("unrecognized arguments: " + " ".join(rest))
    if sys.platform == "win32":
        sys.exit("This runs on Linux and macOS; on Windows, run it inside WSL.")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if known.subcommand == "lock":
            bootstrap.write_locks(ROOT, GROUPS)
            return 0
        python = bootstrap.environment(ROOT, _locks(known.subcommand, argv))
    except bootstrap.BootstrapError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, before)
    _exec(python, known.subcommand, argv[argv.index(known.subcommand) + 1 :])
    return 0


def _locks(subcommand: str, arguments: list[str]) -> list[Path]:
    """Return the locks that have what the subcommand needs; the first is installed if none is."""
    if subcommand == "bench" or any(argument.startswith("benchmarks") for argument in arguments):
        return [BENCHMARKS]
    return [DEVELOPMENT, BENCHMARKS] if subcommand in DEVELOPING else [RUNTIME, DEVELOPMENT, BENCHMARKS]


def _exec(python: Path, subcommand: str, arguments: list[str]) -> None:
    """Replace this process with `python -m <module>`, so that signals need no forwarding."""
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(python.parent), env.get("PATH", os.defpath)])
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    env["VIRTUAL_ENV"] = str(python.parent.parent)
    env.pop("PYTHONHOME", None)
    if subcommand != "run":
        os.chdir(ROOT)
    sys.stdout.flush()
    sys.stderr.flush()
    module = MODULES.get(subcommand, f"tools.{subcommand}")
    command = [str(python), "-m", module, *arguments]
    os.execve(command[0], command, env)  # noqa: S606 - without a shell: the arguments are passed unchanged


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__)
    commands = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo", help="start everything, call every endpoint once, stay up until Ctrl-C"
    )
    demo.add_argument(
        "--once", action="store_true", help="stop after the calls; the exit code is 0 if all succeeded"
    )
    demo.add_argument("--verbose", action="store_true", help="print every request and response in full")
    up = commands.add_parser("up", help="start everything and stay up until Ctrl-C")
    up.add_argument("--port", help="of the API (default: 8000, or the next free port)")
    up.add_argument("--json", action="store_true", help="print one line of JSON to stdout when ready")
    for command in (demo, up):
        command.add_argument(
            "--fresh", action="store_true", help="delete the local database, queue and secrets first"
        )
    commands.add_parser(
        "test",
        help="run the tests; --fast leaves out those that use a browser, the service or a database, --release"
        " runs the builds and long walks that are left out otherwise, --postgres runs those that use a"
        " database on PostgreSQL, and other arguments go to pytest",
    )
    check = commands.add_parser(
        "check", help="run what CI runs: format, lint, types, supply chain, tests with coverage"
    )
    check.add_argument(
        "--tested",
        action="store_true",
        help="skip the tests: they have just run, with --cov=app --cov-branch",
    )
    commands.add_parser(
        "chaos",
        help="inject faults into the service under load, and check that its guarantees hold",
        add_help=False,  # it parses its own options
    )
    commands.add_parser(
        "matrix",
        help="run a part of the tests on each broker with each database, and print a table",
        add_help=False,  # as above
    )
    commands.add_parser(
        "fuzz",
        help="send thousands of valid and invalid requests, generated from /openapi.json",
        add_help=False,  # as above
    )
    commands.add_parser(
        "bench",
        help="compare the product's speed with that of other ways to build it",
        add_help=False,  # as above
    )
    commands.add_parser(
        "clients", help="build the typed clients for Python and TypeScript from the API as it is now"
    )
    manual = commands.add_parser("manual", help="build the manual, which the app serves at /manual/")
    manual.add_argument(
        "--diagrams", action="store_true", help="first draw changed Mermaid diagrams (needs npm and Chromium)"
    )
    commands.add_parser(
        "release",
        help="build a release: packages, extension, manual, bill of materials, checksums and signatures",
        add_help=False,  # it parses its own options
    )
    extension = commands.add_parser(
        "extension", help="open a browser with the Chrome extension and the sample websites, over the demo"
    )
    extension.add_argument(
        "--zip", type=Path, metavar="FILE", help="write the zip for the Chrome Web Store instead"
    )
    run = commands.add_parser("run", help="run a command in the environment, with the services it needs")
    run.add_argument("command", nargs=argparse.REMAINDER, help="such as: flask accounts list")
    commands.add_parser("lock", help="rewrite the lock files (needs uv)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

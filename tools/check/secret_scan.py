"""Secrets that look real, in every file that git knows or would add; what is allowed stands in a list.

Tests are full of made-up passwords, so what only guesses (by a variable's name, by a string's entropy) is not
asked there; what knows a real key by its shape (AWS, GitHub, Slack, a private key …) is asked everywhere.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import default_settings
from rich.console import Console
from rich.table import Table

from tools.state import ROOT

BASE64, HEX = "Base64 High Entropy String", "Hex High Entropy String"
KEYWORD, BASIC = "Secret Keyword", "Basic Auth Credentials"
ANNOTATED = "noqa: S105"  # ruff asked about this very name, and the line gives the reason
HEURISTIC_KINDS = frozenset({BASE64, HEX, KEYWORD, BASIC})
IP_DETECTOR = "IPPublicDetector"  # which are no secrets

# File and kind of finding: how many of them, and why they are none.
ALLOWED: dict[tuple[str, str], tuple[int, str]] = {
    (".env.example", BASIC): (1, "the form of a database URL"),
    ("README.md", HEX): (1, "the published hash of a website"),
    ("app/api/hash_schemas.py", HEX): (1, "an example of a hash, for the API's description"),
    ("app/cli/checks/database.py", BASIC): (1, "the form of a database URL, in a message"),
    ("docs/install.md", BASIC): (1, "the form of a database URL"),
    ("docs/install.md", KEYWORD): (1, "a placeholder in an example of SQL"),
    ("app/domain/data/vectors.json", BASIC): (1, "a URL with a user in it, for clients to test against"),
    ("app/domain/data/vectors.json", HEX): (22, "published hashes of websites; a test recomputes each"),
    ("app/domain/ids.py", BASE64): (1, "the alphabet of ids"),
    ("app/infra/db.py", BASIC): (1, "the form of a database URL, in a message"),
    ("benchmarks/sign_in_timing.py", KEYWORD): (1, "a wrong password, on purpose"),
    ("app/domain/tokens.py", KEYWORD): (1, "the shape of a token"),
}


def main() -> int:
    """Scan; return 1 if anything is found that is not allowed, or allowed that is no longer there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - found on the PATH
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        sys.stderr.write("The files to scan are those that git knows, and there is no git repository here.\n")
        return 1
    paths = [path for path in listed.stdout.decode().split("\0") if path and (ROOT / path).is_file()]
    return _report(Console(soft_wrap=True), scan(paths), len(paths))


def scan(paths: Iterable[str]) -> list[tuple[str, str, int]]:
    """Give what looks like a secret in these files: file, kind and line; nobody outside is asked."""
    secrets = SecretsCollection(root=str(ROOT))
    with default_settings() as settings:
        settings.disable_plugins(IP_DETECTOR)
        secrets.scan_files(*paths)
        found = [(path, secret.type, secret.line_number) for path, secret in secrets]
    return sorted(one for one in found if not _is_ignored(*one))


def _is_ignored(path: str, kind: str, line: int) -> bool:
    if path.startswith("tests/"):
        return kind in HEURISTIC_KINDS
    return kind == KEYWORD and ANNOTATED in (ROOT / path).read_text().splitlines()[line - 1]


def _report(console: Console, found: Sequence[tuple[str, str, int]], files: int) -> int:
    counts = Counter((path, kind) for path, kind, _line in found)
    table = Table("file", "line", "looks like", title="Possible secrets")
    for path, kind, line in found:
        if counts[path, kind] > ALLOWED.get((path, kind), (0, ""))[0]:
            table.add_row(path, str(line), kind)
    gone = [key for key, (count, _why) in ALLOWED.items() if counts[key] < count]
    for path, kind in gone:
        table.add_row(path, "", f"nothing any more: allow fewer of {kind} in tools/check/secret_scan.py")
    if table.row_count:
        console.print(table)
        console.print("Take a real one out and revoke it; what is none goes into ALLOWED, with its reason.")
        return 1
    allowed = sum(count for count, _why in ALLOWED.values())
    console.print(f"No secret in {files} files; {allowed} findings are allowed, each with its reason.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

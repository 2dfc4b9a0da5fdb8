"""Find strings that look like secrets in every file that git tracks or would add.

Tests contain many made-up passwords, so there only detectors of a key's format count (AWS, GitHub, Slack,
private keys …), not those that go by a variable's name or a string's entropy. Known false positives are
listed in ALLOWED.
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
PEM = "Private Key"
ANNOTATED = "noqa: S105"  # a line that ruff has reported, too, and that gives its reason
HEURISTIC_KINDS = frozenset({BASE64, HEX, KEYWORD, BASIC})
IP_DETECTOR = "IPPublicDetector"  # addresses are not secrets

# File and kind of finding: how many there are, and why they are not secrets.
ALLOWED: dict[tuple[str, str], tuple[int, str]] = {
    (".env.example", BASIC): (2, "the formats of a database URL and of a broker URL"),
    ("app/infra/database/engines.py", BASIC): (1, "the format of a database URL, in a message"),
    ("app/web/schemas/hash_schemas.py", HEX): (2, "examples of a hash and a public key, for the API"),
    ("cli/checks/database.py", BASIC): (1, "the format of a database URL, in a message"),
    ("docs/api/tour.md", HEX): (1, "the published hash of a website"),
    ("docs/install.md", BASIC): (1, "the format of a database URL"),
    ("docs/install.md", KEYWORD): (1, "a placeholder in an example of SQL"),
    ("app/domain/data/vectors.json", BASIC): (1, "a URL with a user name, for clients to test against"),
    ("app/domain/data/vectors.json", HEX): (22, "published hashes of websites; a test recomputes each"),
    ("app/domain/normal/texts/lookalikes.py", BASE64): (1, "letters that look alike"),
    ("app/domain/ids.py", BASE64): (4, "the alphabet of ids, and ids of examples"),
    ("app/features/company_sign_in/api.py", BASE64): (1, "the example of a verifier in RFC 7636"),
    ("app/features/webhooks/endpoints_api.py", BASE64): (
        1,
        "an example of a secret, that of Standard Webhooks",
    ),
    ("app/engine/accounts/totp.py", BASE64): (1, "the alphabet of recovery codes"),
    ("app/sign_in_readers.py", KEYWORD): (1, "the name of a setting, with a message"),
    ("benchmarks/website_people/labels.json", HEX): (657, "digests of pairs of names and addresses"),
    ("benchmarks/website_people/sites.json", HEX): (258, "commits of repositories"),
    ("benchmarks/website_people/sites.json", BASE64): (1, "the name of a repository"),
    ("benchmarks/sign_in_timing.py", KEYWORD): (1, "a wrong password, intentionally"),
    ("app/domain/tokens.py", KEYWORD): (1, "the format of a token"),
    ("app/features/company_filter/api/evaluation.py", HEX): (4, "the examples of RFC 9497"),
    ("app/api/session.py", BASE64): (1, "an example of a public key, that of RFC 8037"),
    ("app/engine/privacy/reencryption.py", KEYWORD): (1, "the name of a group of columns"),
    ("app/domain/audit_actions.py", KEYWORD): (3, "names of actions that the audit log records"),
    ("app/domain/data/company_filter_vectors.json", BASE64): (4, "made-up keys and filters, for clients"),
    ("app/domain/data/company_filter_vectors.json", HEX): (150, "hashes of made-up websites"),
    ("app/domain/data/company_card_vectors.json", BASE64): (3, "cards of made-up companies, for clients"),
    ("app/domain/data/company_card_vectors.json", HEX): (15, "their hashes, outputs and made-up keys"),
    ("app/mail_settings.py", BASIC): (1, "the format of a mail server's URL, in a message"),
    ("cli/checks/rabbitmq.py", BASIC): (1, "the format of a broker URL, in a message"),
    ("cli/database_move.py", BASIC): (1, "the format of a database URL, in a message"),
    ("docs/databases-and-brokers.md", BASIC): (2, "the formats of a database URL and of a broker URL"),
    ("docs/privacy-requests.md", BASIC): (1, "the format of a mail server's URL"),
    ("docs/upgrading.md", BASIC): (1, "the format of a database URL"),
    ("tests/release/test_release.py", PEM): (1, "a file that is no key, which the release refuses"),
}


def main() -> int:
    """Return 1 if there is a finding that is not allowed, or an allowed one that no longer exists."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - found on the PATH
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode:
        sys.stderr.write("The scan covers the files that git tracks, and this is not a git repository.\n")
        return 1
    paths = [path for path in listing.stdout.decode().split("\0") if path and (ROOT / path).is_file()]
    return _report(Console(soft_wrap=True), scan(paths), len(paths))


def scan(paths: Iterable[str]) -> list[tuple[str, str, int]]:
    """Return the file, kind and line of everything that looks like a secret; nothing leaves this machine."""
    secrets = SecretsCollection(root=str(ROOT))
    with default_settings() as settings:
        settings.disable_plugins(IP_DETECTOR)
        secrets.scan_files(*paths)
        findings = [(path, secret.type, secret.line_number) for path, secret in secrets]
    return sorted(finding for finding in findings if not _is_ignored(*finding))


def _is_ignored(path: str, kind: str, line: int) -> bool:
    if path.startswith("tests/"):
        return kind in HEURISTIC_KINDS
    return kind == KEYWORD and ANNOTATED in (ROOT / path).read_text().splitlines()[line - 1]


def _report(console: Console, findings: Sequence[tuple[str, str, int]], files: int) -> int:
    counts = Counter((path, kind) for path, kind, _line in findings)
    table = Table("file", "line", "looks like", title="Possible secrets")
    for path, kind, line in findings:
        if counts[path, kind] > ALLOWED.get((path, kind), (0, ""))[0]:
            table.add_row(path, str(line), kind)
    obsolete = [key for key, (count, _why) in ALLOWED.items() if counts[key] < count]
    for path, kind in obsolete:
        table.add_row(path, "", f"obsolete: allow fewer of {kind} in tools/check/secret_scan.py")
    if table.row_count:
        console.print(table)
        console.print("Remove and revoke a real secret. Add a false positive to ALLOWED, with the reason.")
        return 1
    allowed = sum(count for count, _why in ALLOWED.values())
    console.print(f"No secret in {files} files; {allowed} findings are known false positives.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

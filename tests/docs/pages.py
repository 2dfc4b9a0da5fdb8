"""The pages of the documentation, their code blocks, and the command blocks that no test runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from tools.state import ROOT

COMMANDS = "sh"
OUTPUTS = ("json", "http", "text")
SHELLS = frozenset({COMMANDS, "bash", "console", "shell", "shell-session", "zsh"})
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

OPERATING = (
    "docs/accounts-and-credits.md",
    "docs/importing.md",
    "docs/removing-people.md",
    "docs/watching.md",
)
API = (
    "docs/api/tour.md",
    "docs/api/people-searches.md",
    "docs/api/uploads.md",
    "docs/api/verifications.md",
    "docs/api/webhooks.md",
    "docs/api/feedback.md",
    "docs/api/normal-forms.md",
)
EXECUTED_PAGES = ("README.md", *API, *OPERATING, "docs/providers.md")
"""The pages whose commands run, in the order in which a reader meets them, in one shell."""

NOT_RUN = {
    ("README.md", "python3 dev.py demo"): "starts the stack that the other commands use, as the test does",
    ("CONTRIBUTING.md", ""): "runs the test suite, of which this test is a part",
    ("docs/benchmarks.md", ""): "runs for a quarter of an hour; tests/benchmarks tests the parts",
    (
        "docs/call-registers.md",
        "",
    ): "needs files of registers; tests/features/call_registers runs it",
    ("docs/credits.md", ""): "needs a workspace; tests/features/credit_grants runs it",
    ("docs/docker.md", ""): "needs Docker; tests/tools/test_deployment_files.py checks the Compose file",
    ("docs/going-live.md", ""): "names a server; test_empty_machine.py runs it, and the checklist's commands",
    ("docs/install.md", ""): "needs an empty machine; test_empty_machine.py runs it",
    ("docs/languages.md", ""): "changes the catalogues; `tools.languages check` runs with the checks",
    ("docs/programs.md", "curl"): "docs/api/tour.md has the same call, with its output",
    ("docs/programs.md", "pip"): "downloads packages from the registry",
    ("docs/programs.md", "CONTACT_LOOKUP_URL"): "serves until it is stopped; tests/e2e does the same",
    ("docs/programs.md", "python3 dev.py clients"): "downloads packages; tests/e2e builds the clients",
    ("docs/programs.md", "cd clients/bruno"): "downloads Bruno; tests/e2e runs the collection",
    ("docs/extension-rollout.md", "chromium"): "needs the key that signs the extension",
    ("docs/databases-and-brokers.md", "rabbitmqctl"): "needs RabbitMQ's own user",
    ("docs/privacy-requests.md", ""): "erases a person; tests/cli/test_people_cli.py runs the commands",
    ("docs/upgrading.md", ""): "needs PostgreSQL; tests/cli/test_database_move.py runs the commands",
    ("docs/scaling.md", "systemctl"): "needs root and systemd",
    ("docs/backup.md", ""): "needs a key in the settings; tests/features/backup runs the commands",
    ("docs/suppressions.md", ""): "needs lists and a backup; tests/features/suppressions runs it",
    ("docs/website-privacy.md", ""): "prints a random key; tests/test_settings_hash_lookups.py reads one",
    ("docs/reliability.md", ""): "runs for an hour; .ci/run runs the short forms",
}
"""A page, the start of its blocks that no test runs, and the reason."""


@dataclass(frozen=True, slots=True)
class Block:
    """Commands, and the output that the page prints below them, if it prints any."""

    page: str
    line: int
    commands: str
    language: str = ""
    output: str = ""

    @property
    def reason_not_run(self) -> str | None:
        """The reason why no test runs the block; None if it runs."""
        reasons = (
            reason
            for (page, start), reason in NOT_RUN.items()
            if page == self.page and self.commands.startswith(start)
        )
        return next(reasons, None)


def pages() -> list[str]:
    """Return the paths of all pages: those in the root and below docs."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text()


def code_blocks(page: str, language: str) -> list[str]:
    """Return the contents of the page's blocks of one language, in order."""
    return [match[2] for match in _BLOCK.finditer(text_of(page)) if match[1] == language]


def languages(page: str) -> set[str]:
    """Return the languages of the page's blocks."""
    return {match[1] for match in _BLOCK.finditer(text_of(page))}


def command_blocks(page: str) -> Iterator[Block]:
    """Yield the page's command blocks; a block of output belongs to the commands directly above it."""
    text = text_of(page)
    found = list(_BLOCK.finditer(text))
    for match, following in zip_longest(found, found[1:]):
        if match[1] != COMMANDS:
            continue
        line = text.count("\n", 0, match.start()) + 1
        if following and following[1] in OUTPUTS and not text[match.end() : following.start()].strip():
            yield Block(page, line, match[2], following[1], following[2])
        else:
            yield Block(page, line, match[2])

"""Every text of a page goes through the catalogues: a made-up language has marks around each."""

from __future__ import annotations

import re
from gettext import NullTranslations
from html.parser import HTMLParser

import pytest
from page_support import Visitor
from test_who_may_see_what import PAGES
from users_support import SignedInUser

from app.engine.accounts.accounts import Account, Role
from app.infra.languages import texts
from app.web.pages import rendering

pytestmark = pytest.mark.any_database

PATHS = [
    path
    for method, path in (route.split(" ") for route in PAGES)
    if method == "GET" and not re.search(r"<|/download|\.csv|\.xlsx|^/(?:manual|sign-in/|static)", path)
]
READ_ATTRIBUTES = {"alt", "aria-label", "placeholder", "title"}
WORD = re.compile(r"[^\W\d_]{2,}")
VALUES = re.compile(
    r"UTC|CRM|Acme|Ada Lovelace|\(Windows-\d+\)|English|Deutsch|Français|Español|[\w.+-]+@[\w.-]+|https?://\S+|\b[a-z]+_\w+|\b(?:wks|acc|key|ses)_\w+"
)
"""What is the same in every language: units, names of languages, addresses, identifiers."""


class Pseudo(NullTranslations):
    """A language in which every text has marks around it."""

    def gettext(self, message: str) -> str:
        return f"\u27e6{message}\u27e7"

    def pgettext(self, _context: str, message: str) -> str:
        return self.gettext(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"\u27e6{msgid1 if n == 1 else msgid2}\u27e7"


@pytest.fixture
def reader(operator: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    """A browser in which an admin and operator is signed in, and whose language is the made-up one."""
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    for module in (texts, rendering):
        monkeypatch.setattr(module, "catalogue", lambda _language: Pseudo())
    return operator


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_no_words_outside_of_the_catalogues(reader: Visitor, path: str) -> None:
    page = reader.open(path)

    assert page.status_code in {200, 303}
    left = unmarked(page.text) - NOT_YET.get(path, set()) - SAME
    assert {text for text in left if not re.fullmatch(f"{ENCODINGS}|{AUDIT_ACTIONS}", text)} == set()


def unmarked(html: str) -> set[str]:
    """Return the texts of a page that a reader sees or hears and that have no marks."""
    read = _Read()
    read.feed(html)
    whole = re.sub(r"\u27e6[^\u27e7]*\u27e7", "", "\n".join(read.found))
    while "\u27e6" in whole and (shorter := re.sub(r"\u27e6[^\u27e6\u27e7]*\u27e7", "", whole)) != whole:
        whole = shorter
    return {line.strip(" \u27e6\u27e7") for line in whole.split("\n") if WORD.search(VALUES.sub("", line))}


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in {"script", "style", "code"}
        self.found += [value for name, value in attrs if name in READ_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in {"script", "style", "code"}

    def handle_data(self, data: str) -> None:
        self.found += [] if self.silent else [" ".join(data.split())]


ENCODINGS = r".+ \((?:DOS|ISO .+|KOI8-U|Mac|GB18030|Big5|EUC|Shift JIS|UTF-\d+|Windows-\d+)\)"
AUDIT_ACTIONS = r"[a-z ]+\.[a-z ]+"
NOT_YET = {
    "/account/two-factor": {
        "With it, a sign-in with your password also needs the code that an app on your phone shows."
    },  # marks within marks
    "/admin/ledger": {"test"},  # the reason that an operator wrote
    "/admin/audit-log": {"commands", "sign in"},
    "/admin/all-audit-log": {"commands", "sign in"},
    "/admin/queues": {"enrichment", "interactive", "providers", "upkeep"},
}
"""Texts that are in English in every language, by page: names of actions and queues, and written texts."""
SAME = {"enrich", "lookup", "reveal", "save", "HubSpot", "Pipedrive", "Salesforce", "Twenty", "Zoho CRM"}
"""Names: of the scopes of API keys, and of products."""

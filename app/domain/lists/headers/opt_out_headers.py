"""The headers of opt-outs in English, word by word, since each CRM has its own.

`HasOptedOutOfEmail`, `UNSUB_TIME` and `Do not allow Phone Calls` are some. `data/lists/columns.txt` and
`data/lists/headers` list further ones, and those in other languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_OPT_OUT = re.compile(
    r"\b(?:opt(?:ed)? ?outs?|unsub(?:scribed?)?|bl(?:ack|ock) ?list(?:ed)?|suppress(?:ed|ions?)"
    r"|do ?n[o ]?t ?(?=[a-z])|(dnc|c?tps)\b)"
)
"""`opt out`, `optedout`, `unsubscribed`, `blacklisted`, `do not`, `don t` or `donot` before another word, and
the registers of numbers that must not be called."""


def opt_out_field(name: str, words: Mapping[str, str]) -> str | None:
    """Return `do_not_call` or `do_not_contact` for a folded header that says so; None for any other.

    `words` are the known words: of calls, e-mails, all contact, and fillers. A header with another word, such
    as `Fax Opt Out`, is about something else.
    """
    found = _OPT_OUT.search(name)
    if found is None:
        return None
    about = {words.get(word) for word in _OPT_OUT.sub(" ", name).split()}
    if None in about:
        return None
    is_about_calls = "calls" in about or found[1] is not None
    return "do_not_call" if is_about_calls and "emails" not in about else "do_not_contact"

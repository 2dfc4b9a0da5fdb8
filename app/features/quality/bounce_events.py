"""Reads events of mail programs in JSON: the address that each is about, and the words for what happened.

Checked against public sources, in November 2026:

- Amazon SES and SNS: docs.aws.amazon.com/ses/latest/dg/notification-contents.html
  (github.com/awsdocs/amazon-ses-developer-guide, doc-source/notification-contents.md)
- SendGrid: twilio.com/docs/sendgrid/for-developers/tracking-events/event
- Postmark, Mailgun, Brevo, SendGrid, Mailjet, MailerSend, Mandrill, Resend, SparkPost: the webhooks and their
  tests in github.com/anymail/django-anymail
- Brevo's blocked contacts: `GetTransacBlockedContacts` in the clients of github.com/getbrevo
- HubSpot: developers.hubspot.com/docs/api-reference/legacy/email-analytics-v1/guide
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from app.domain.errors import InvalidValue
from app.domain.messages import Message

NOT_TEXT = Message("The file is not text in UTF-8 or UTF-16. Export it again as UTF-8.")
NOT_JSON = Message("This is not JSON, or it is cut off. Export it again.")
TOO_DEEP = Message("This is nested too deeply to be an event of a mail program.")
UNKNOWN = Message("This event has no address in a field such as email or recipient.")
_DEPTH = 5
"""Levels of wrappers around an event: a list of records of a queue, of notifications, of lists has four."""
_BEGINNING = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_HEAD = 200
_MAX_BROKEN = 20
_BETWEEN = re.compile(r"[\s,]*")
_CLOSE = "]"
_NAME = re.compile(r"[^a-z0-9]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_ADDRESS = ("email", "emailaddress", "recipient", "contactemail", "address", "rawrcptto", "rcptto", "to")
_WRAPPERS = (
    *("detail", "eventdata", "sns", "msg", "data", "payload", "originalmessage", "email", "recipient"),
    *("msys", "messageevent", "unsubscribeevent", "genevent", "trackevent", "message"),
)
_LISTS = (
    *("records", "bounces", "suppressions", "suppresseddestinationsummaries"),
    *("items", "events", "members", "contacts", "results"),
)
_SAID = (
    *("bouncetype", "type", "event", "eventtype", "notificationtype", "severity", "suppressionreason"),
    *("category", "status", "bouncesubtype", "bounceclassification", "reason", "code", "deliverystatus"),
    *("error", "details", "rawreason", "response", "diag", "diagnosticcode", "description", "message"),
    *("smtpreply", "bouncedescription", "bouncecode", "bouncemessage", "dropreason", "activitytype"),
    "recordtype",
)
"""Fields that say what happened, the surest first."""
_SOFT = "soft bounce"
_CLASSES = {
    **dict.fromkeys(("10", "30"), "hard bounce"),
    **dict.fromkeys(("20", "21", "22", "23", "24", "40", "60", "70", "100"), _SOFT),
    **dict.fromkeys(("25", "50", "51", "52", "53", "54"), "blocked"),
    "1": "undetermined",
    "80": "subscribe",
    "90": "unsubscribe",
}
"""What the numbers of SparkPost's field `bounce_class` mean."""
_NESTED: Mapping[str, tuple[str, ...]] = {
    "reason": ("code", "message"),
    "deliverystatus": ("bouncetype", "code", "enhancedcode", "message", "description"),
}
_OF_SENDGRID = "sgeventid"


class Event(NamedTuple):
    """An event: the line where it or its list begins, its address, and what was said about it.

    An event without an address has no recipient, or its `fault` says why it cannot be read.
    """

    line: int
    address: str | None = None
    said: tuple[str, ...] = ()
    fault: str | None = None


def is_json(content: bytes) -> bool:
    """Return whether the file begins like a JSON object or list, in any encoding of JSON."""
    head = content[:_HEAD]
    return _BEGINNING.match(head.decode(json.detect_encoding(head), errors="ignore")) is not None


def read(content: bytes) -> Iterator[Event]:
    """Yield the events of a list, of an object, or of one object after another, such as one a line.

    Raises:
        InvalidValue: the file is not text, or hardly anything in it is JSON.

    """
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise InvalidValue(NOT_TEXT) from error
    for line, value, in_list in _values(text):
        if isinstance(value, _Broken):
            yield Event(line, fault=value.detail)
        else:
            yield from _events(line, value, int(in_list))


class _Broken(NamedTuple):
    detail: str


def _values(text: str) -> Iterator[tuple[int, object, bool]]:
    """Yield each value of the list, or of a row of values: its line, itself, and whether it is in a list.

    After one that cannot be read, the next that begins a line is read: objects inside of others are indented.
    """
    position, line, counted, broken = _after_space(text, 0), 1, 0, 0
    in_list = text.startswith("[", position)
    position = _after_space(text, position + in_list)
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        if in_list and text[position] == _CLOSE:
            in_list, position = False, _after_space(text, position + 1)
            continue
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield line, _Broken(TOO_DEEP if isinstance(error, RecursionError) else NOT_JSON), in_list
            broken += 1
            if broken == _MAX_BROKEN:
                raise InvalidValue(NOT_JSON) from error
            next_line = -1 if in_list else text.find("\n{", position)
            if next_line < 0:
                return
            position = next_line
        else:
            yield line, value, in_list
        position = _after_space(text, position)
    if in_list:
        yield line, _Broken(NOT_JSON), in_list


def _after_space(text: str, position: int) -> int:
    """Return the position after the white space and the commas there."""
    return cast("re.Match[str]", _BETWEEN.match(text, position)).end()


def _events(line: int, value: object, depth: int) -> Iterator[Event]:
    if depth > _DEPTH:
        yield Event(line, fault=TOO_DEEP)
    elif isinstance(value, str) and depth:  # of a list of addresses
        yield Event(line, _shown(value))
    elif isinstance(value, list):
        for one in value:
            yield from _events(line, one, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(line, value, depth)
    else:
        yield Event(line, fault=UNKNOWN)


def _of_object(
    line: int, value: Mapping[str, object], depth: int, said: tuple[str, ...] = ()
) -> Iterator[Event]:
    fields = {_NAME.sub("", name.casefold()): content for name, content in value.items()}
    said = (*said, *_said(fields))
    address = next((text for name in _ADDRESS if isinstance(text := fields.get(name), str)), None)
    bounce = fields.get("bounce")
    if address is not None:
        yield Event(line, _shown(address), said)
    elif isinstance(to := fields.get("to"), list):  # of Resend
        of_all = bounce if isinstance(bounce, dict) else {}
        yield from _of_recipients(line, of_all, [{"email": one} for one in to], said)
    elif isinstance(bounce, dict) and "originalmessage" not in fields:
        yield from _of_recipients(line, bounce, bounce.get("bouncedRecipients"), ())
    elif (inner := _inner(fields)) is not None:
        yield from _of_inner(line, inner, depth + 1, said)
    elif isinstance(message := fields.get("message"), str) and "topicarn" in fields:
        yield from _of_notification(line, message, depth)
    else:
        yield Event(line, None, said)


def _of_inner(line: int, inner: object, depth: int, said: tuple[str, ...]) -> Iterator[Event]:
    """Yield the events in a wrapper; what this says of a single one counts first."""
    if isinstance(inner, dict) and depth <= _DEPTH:
        yield from _of_object(line, inner, depth, said)
    else:
        yield from _events(line, inner, depth)


def _of_recipients(
    line: int, bounce: Mapping[str, object], recipients: object, said: tuple[str, ...]
) -> Iterator[Event]:
    """Yield the recipients of a bounce: its type is of all, the status of Amazon SES is of each."""
    for one in recipients if isinstance(recipients, list) else [None]:
        if isinstance(one, dict):
            yield from _of_object(line, {**bounce, **one, "bouncedRecipients": None}, _DEPTH, said)
        else:
            yield Event(line, fault=UNKNOWN)


def _of_notification(line: int, message: str, depth: int) -> Iterator[Event]:
    """Yield the events in the text of a notification of Amazon SNS."""
    try:
        inner = _DECODER.decode(message)
    except RecursionError:
        yield Event(line, fault=TOO_DEEP)
    except ValueError:
        yield Event(line, fault=UNKNOWN)
    else:
        yield from _events(line, inner, depth + 1)


def _inner(fields: Mapping[str, object]) -> object | None:
    """Return what a wrapper contains; None if the object is not one."""
    wrapped = next((fields[name] for name in _WRAPPERS if isinstance(fields.get(name), dict)), None)
    if wrapped is not None:
        return wrapped
    return next((fields[name] for name in _LISTS if isinstance(fields.get(name), list)), None)


def _said(fields: Mapping[str, object]) -> tuple[str, ...]:
    # SendGrid's `category` is what the sender calls its mail.
    names = [name for name in _SAID if name != "category" or _OF_SENDGRID not in fields]
    said = [_shown(text) for name in names for text in _texts(name, fields.get(name))]
    if fields.get("hardbounce") is False:  # of Mailjet
        said.insert(0, _SOFT)
    if isinstance(number := fields.get("bounceclass"), str) and number in _CLASSES:
        said.insert(0, _CLASSES[number])
    return tuple(said)


def _texts(name: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and name in _NESTED:
        inner = {_NAME.sub("", key.casefold()): content for key, content in value.items()}
        yield from (text for key in _NESTED[name] if isinstance(text := inner.get(key), str))


def _shown(text: str) -> str:
    """Return the text without lone surrogates, which no answer can carry."""
    return _SURROGATES.sub("\ufffd", text)

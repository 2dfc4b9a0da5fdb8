"""Lists of bounces in JSON, as mail programs send and export their events."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from app.domain.errors import InvalidValue
from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_events, bounce_lists
from app.features.quality.bounce_events import NOT_JSON, NOT_TEXT, TOO_DEEP, UNKNOWN
from app.features.quality.no_bounces import NoBounce

pytestmark = pytest.mark.any_database

MAIL = {"source": "us@sender.com", "destination": ["ada@acme.com", "bob@acme.com"]}
BOUNCE = {
    "bounceType": "Permanent",
    "bounceSubType": "General",
    "bouncedRecipients": [
        {
            "status": "5.0.0",
            "action": "failed",
            "diagnosticCode": "550 user unknown",
            "emailAddress": "ada@acme.com",
        },
        {"status": "4.0.0", "action": "delayed", "emailAddress": "bob@acme.com"},
    ],
    "reportingMTA": "example.com",
}
SES = {"notificationType": "Bounce", "mail": MAIL, "bounce": BOUNCE}
SNS = {"Type": "Notification", "TopicArn": "arn:aws:sns:us-west-2:1:bounces", "Message": json.dumps(SES)}
POSTMARK = {
    "RecordType": "Bounce",
    "Type": "HardBounce",
    "TypeCode": 1,
    "Details": "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
    "Description": "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
    "Email": "ada@acme.com",
    "From": "us@sender.com",
}
SENDGRID = [
    {
        "email": "ada@acme.com",
        "timestamp": 1513299569,
        "event": "bounce",
        "type": "bounce",
        "status": "5.1.1",
        "reason": "550 5.1.1 Recipient address rejected: User unknown",
        "category": "content policy",
        "sg_event_id": "a",
    },
    {"email": "bob@acme.com", "event": "bounce", "type": "blocked", "status": "5.7.1", "sg_event_id": "b"},
    {"email": "bob@acme.com", "event": "deferred", "response": "400 try again later", "sg_event_id": "c"},
    {"email": "bob@acme.com", "event": "spamreport", "sg_event_id": "d"},
    {"email": "bob@acme.com", "event": "dropped", "reason": "Unsubscribed Address", "sg_event_id": "e"},
]
MAILGUN = {
    "event": "failed",
    "severity": "permanent",
    "reason": "bounce",
    "recipient": "ada@acme.com",
    "message": {"headers": {"to": "eve@acme.com", "from": "us@sender.com"}},
    "delivery-status": {
        "code": 550,
        "message": "5.1.1 <ada@acme.com>: no such user",
        "mx-host": "mx.acme.com",
    },
}
MAILGUN_SOFT = {**MAILGUN, "severity": "temporary", "reason": "greylisted", "recipient": "bob@acme.com"}
BREVO = {
    "event": "hard_bounce",
    "email": "ada@acme.com",
    "reason": " RecipientError: 550 5.5.0 mailbox unavailable",
}
HUBSPOT = {"type": "BOUNCE", "recipient": "ada@acme.com", "category": "UNKNOWN_USER", "status": "5.1.1"}


def _reported(content: bytes) -> list[tuple[str, FeedbackKind]]:
    return [(line.value, line.kind) for line in bounce_lists.read(BytesIO(content)).lines.values()]


def _left_out(content: bytes) -> list[tuple[int, str]]:
    return [(each.line, each.detail) for each in bounce_lists.read(BytesIO(content)).left_out]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(SES, id="SES"),
        pytest.param([SES, SES], id="SES, a list"),
        pytest.param({**SES, "notificationType": None, "eventType": "Bounce"}, id="SES, event publishing"),
        pytest.param({"detail-type": "Email Bounced", "source": "aws.ses", "detail": SES}, id="EventBridge"),
        pytest.param(SNS, id="SNS"),
        pytest.param({"Records": [{"EventSource": "aws:sns", "Sns": SNS}]}, id="SNS to a function"),
        pytest.param(
            {"SuppressedDestinationSummaries": [{"EmailAddress": "ada@acme.com", "Reason": "BOUNCE"}]},
            id="SES suppressions",
        ),
        pytest.param(POSTMARK, id="Postmark"),
        pytest.param({"TotalCount": 1, "Bounces": [POSTMARK]}, id="Postmark, a page"),
        pytest.param(
            {"Suppressions": [{"EmailAddress": "ada@acme.com", "SuppressionReason": "HardBounce"}]},
            id="Postmark suppressions",
        ),
        pytest.param(SENDGRID, id="SendGrid"),
        pytest.param(
            [
                {
                    "created": 1443651125,
                    "email": "ada@acme.com",
                    "reason": "550 5.1.1 unknown",
                    "status": "5.1.1",
                }
            ],
            id="SendGrid suppressions",
        ),
        pytest.param(
            [{"email": "ada@acme.com", "event": "dropped", "reason": "Bounced Address", "status": "5.0.0"}],
            id="SendGrid, dropped",
        ),
        pytest.param({"items": [MAILGUN, MAILGUN_SOFT], "paging": {}}, id="Mailgun"),
        pytest.param({"signature": {"token": "x"}, "event-data": MAILGUN}, id="Mailgun webhook"),
        pytest.param(
            {"items": [{"address": "ada@acme.com", "code": "550", "error": "No such mailbox"}]},
            id="Mailgun bounces",
        ),
        pytest.param(BREVO, id="Brevo"),
        pytest.param({"events": [{"email": "ada@acme.com", "event": "hardBounces"}]}, id="Brevo, a page"),
        pytest.param(
            {
                "contacts": [
                    {"email": "ada@acme.com", "reason": {"code": "hardBounce", "message": "Hard bounced"}}
                ]
            },
            id="Brevo, blocked contacts",
        ),
        pytest.param({"hasMore": False, "events": [HUBSPOT]}, id="HubSpot"),
        pytest.param({"members": [{"email_address": "ada@acme.com", "status": "cleaned"}]}, id="Mailchimp"),
        pytest.param(["ada@acme.com", "Ada <ADA@acme.com>"], id="addresses"),
        pytest.param([{"email": "ada@acme.com"}], id="addresses in objects"),
    ],
)
def test_only_the_hard_bounce_of_a_mail_program_is_reported(value: object) -> None:
    assert _reported(json.dumps(value).encode()) == [("ada@acme.com", FeedbackKind.BOUNCE)]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({**SES, "bounce": {**BOUNCE, "bounceType": "Transient"}}, NoBounce.TEMPORARY),
        ({**SES, "bounce": {**BOUNCE, "bounceType": "Undetermined"}}, NoBounce.UNCLEAR),
        ({**SES, "bounce": {**BOUNCE, "bounceSubType": "OnAccountSuppressionList"}}, NoBounce.NOT_SENT),
        ({"notificationType": "Complaint", "mail": MAIL, "complaint": {}}, NoBounce.UNWANTED),
        ({"notificationType": "Delivery", "mail": MAIL, "delivery": {}}, NoBounce.OTHER),
        ({"eventType": "DeliveryDelay", "mail": MAIL, "deliveryDelay": {}}, NoBounce.TEMPORARY),
        ({**POSTMARK, "Type": "SoftBounce"}, NoBounce.TEMPORARY),
        ({**POSTMARK, "Type": "Transient"}, NoBounce.TEMPORARY),
        ({**POSTMARK, "Type": "Blocked"}, NoBounce.REFUSED),
        ({**POSTMARK, "Type": "SpamNotification"}, NoBounce.REFUSED),
        ({**POSTMARK, "Type": "AddressChange"}, NoBounce.OTHER),
        ({**POSTMARK, "Type": "Unknown"}, NoBounce.UNCLEAR),
        ({**POSTMARK, "Type": "ManuallyDeactivated"}, NoBounce.NOT_SENT),
        ({**POSTMARK, "Details": "smtp;550 5.7.1 blocked by policy"}, NoBounce.REFUSED),
        ({**POSTMARK, "Details": "smtp;552 mailbox is full"}, NoBounce.TEMPORARY),
        ({**MAILGUN, "reason": "suppress-complaint"}, NoBounce.UNWANTED),
        ({**MAILGUN, "reason": "espblock"}, NoBounce.REFUSED),
        ({**MAILGUN, "event": "delivered"}, NoBounce.OTHER),
        (MAILGUN_SOFT, NoBounce.TEMPORARY),
        ({**BREVO, "event": "soft_bounce"}, NoBounce.TEMPORARY),
        ({**BREVO, "event": "blocked"}, NoBounce.REFUSED),
        ({**BREVO, "event": "error", "reason": ""}, NoBounce.UNCLEAR),
        ({**BREVO, "event": "request"}, NoBounce.OTHER),
        ({"email": "ada@acme.com", "reason": {"code": "unsubscribedViaMA"}}, NoBounce.UNWANTED),
        ({"email": "ada@acme.com", "reason": {"code": "adminBlocked"}}, NoBounce.NOT_SENT),
        ({**HUBSPOT, "category": "MAILBOX_FULL", "status": "5.0.0"}, NoBounce.TEMPORARY),
        ({**HUBSPOT, "category": "POLICY", "status": "5.0.0"}, NoBounce.REFUSED),
        ({"email": "ada@acme.com", "event": "a new word"}, NoBounce.UNCLEAR),
    ],
)
def test_what_is_no_hard_bounce_is_left_out_with_the_reason(event: dict[str, Any], why: NoBounce) -> None:
    content = json.dumps(event).encode()

    assert _reported(content) == []
    assert {detail for _line, detail in _left_out(content)} <= {why.value, NoBounce.TEMPORARY.value}
    assert why.value in {detail for _line, detail in _left_out(content)}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_byte_order_mark_and_other_encodings_are_read(encoding: str) -> None:
    assert _reported(json.dumps(SENDGRID).encode(encoding)) == [("ada@acme.com", FeedbackKind.BOUNCE)]


@pytest.mark.parametrize("between", [b"\n", b"\r\n\r\n", b"", b",\n"])
def test_one_object_after_another_is_read(between: bytes) -> None:
    content = between.join(json.dumps(one).encode() for one in (SES, BREVO, HUBSPOT))

    assert _reported(content) == [("ada@acme.com", FeedbackKind.BOUNCE)]


def test_a_broken_line_is_left_out_and_the_others_are_read() -> None:
    content = b'{"email": "bob@acme.com", "event": \n' + json.dumps(BREVO).encode() + b"\n"

    assert _reported(content) == [("ada@acme.com", FeedbackKind.BOUNCE)]
    assert _left_out(content) == [(1, NOT_JSON)]


def test_the_lines_of_events_are_those_of_the_file() -> None:
    content = b'[\n {"email": "a@@b"},\n\n 7, ["x"]\n]\n' + json.dumps(BREVO).encode()

    assert [line for line, _detail in _left_out(content)] == [2, 4, 4]
    assert [one.line for one in bounce_lists.read(BytesIO(content)).lines.values()] == [6]


def test_nothing_is_reported_of_an_object_that_is_cut_off() -> None:
    whole = json.dumps(SES, indent=1).encode()
    contents = [whole[:end] for end in range(1, len(whole) - 1)]

    assert [_reported(content) for content in contents if bounce_events.is_json(content)].count([]) > len(
        whole
    ) / 2
    assert not any(_reported(content) for content in contents if bounce_events.is_json(content))


def test_of_a_list_that_is_cut_off_the_whole_events_are_reported() -> None:
    content = json.dumps([BREVO, HUBSPOT]).encode()

    assert _left_out(content[:-1]) == [(1, NOT_JSON)]
    assert _left_out(content[:-5]) == [(1, NOT_JSON)]
    assert _reported(content[:-5]) == [("ada@acme.com", FeedbackKind.BOUNCE)]


def _nested(levels: int) -> bytes:
    return b'[{"items":' * levels + b"[]" + b"}]" * levels


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(b'[{"email": NaN, "event": Infinity}]', NoBounce.UNCLEAR.value, id="NaN"),
        pytest.param(b'[{"email": ' + b"9" * 10_000 + b"}]", "The address is too long.", id="a long number"),
        pytest.param(
            b'[{"email": 1e999999}]',
            "This is not an e-mail address such as ada@acme.com.",
            id="a huge number",
        ),
        pytest.param(b'[{"email": ["ada@acme.com"]}, null, true]', UNKNOWN, id="wrong types"),
        pytest.param(b'{"bounce": {"bouncedRecipients": 7}}', UNKNOWN, id="no recipients"),
        pytest.param(b'{"bounce": {"bouncedRecipients": [7]}}', UNKNOWN, id="recipients of a wrong type"),
        pytest.param(
            b'{"bounce": {"bouncedRecipients": [{"bounce": {}}]}}', UNKNOWN, id="a bounce in a bounce"
        ),
        pytest.param(
            b'{"TopicArn": "a", "Message": "Successfully validated"}', UNKNOWN, id="no event in SNS"
        ),
        pytest.param(b'{"TopicArn": "a", "Message": "' + b"[" * 5_000 + b'"}', TOO_DEEP, id="deep in SNS"),
        pytest.param(b"[" * 100_000, TOO_DEEP, id="deep lists"),
        pytest.param(b'{"a":' * 100_000, TOO_DEEP, id="deep objects"),
        pytest.param(_nested(10), TOO_DEEP, id="many wrappers"),
        pytest.param(b"{}", UNKNOWN, id="nothing"),
    ],
)
def test_a_hostile_file_reports_nothing_and_says_why(content: bytes, why: str) -> None:
    assert _reported(content) == []
    assert {detail for _line, detail in _left_out(content)} == {why}


@pytest.mark.parametrize(
    "text", ["\\ud800ada@acme.com", "ada@acme.com\\u0000", "a@\\udfff", "\\ud83d", "NaN"]
)
def test_text_that_no_answer_can_carry_is_not_passed_on(text: str) -> None:
    content = f'["{text}"]'.encode()

    passed_on = [*_reported(content), *_left_out(content)]

    assert len(passed_on) == 1
    assert json.dumps(passed_on, ensure_ascii=False).encode()


def test_of_two_fields_of_one_name_the_last_counts_as_in_other_programs() -> None:
    assert _reported(b'{"email": "bob@acme.com", "email": "ada@acme.com"}') == [
        ("ada@acme.com", FeedbackKind.BOUNCE)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"email": "\xff\xfe"}', NOT_TEXT),
        (b'{"a":\n' * 30, NOT_JSON),
        (b"[" + b'"ada@acme.com",' * 10_001 + b'""]', "more than 10,000"),
        (b'{"items": [' + b"{}," * 10_001 + b"{}]}", "more than 10,000"),
    ],
)
def test_a_file_that_is_not_readable_as_a_list_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        bounce_lists.read(BytesIO(content))


@pytest.mark.parametrize("content", [b"[Email];[Reason]\n", b"{email},type\n", b"email\n{}\n"])
def test_a_csv_file_with_brackets_is_not_taken_for_json(content: bytes) -> None:
    assert not bounce_events.is_json(content)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("hard,552 5.2.2 over quota", NoBounce.TEMPORARY),
        ("hard,MAILBOX_FULL", NoBounce.TEMPORARY),
        ("hard,POLICY", NoBounce.REFUSED),
        ("hard,550 5.7.1 see https://acme.com/unknown", NoBounce.REFUSED),
        ("552,", NoBounce.TEMPORARY),
        ("5.1.8,", NoBounce.REFUSED),
        ("5.3.4,", NoBounce.REFUSED),
        ("5.4.7,", NoBounce.TEMPORARY),
    ],
)
def test_a_server_may_contradict_what_a_program_calls_hard(said: str, why: NoBounce) -> None:
    assert _left_out(f"email,type,reason\nada@acme.com,{said}\n".encode()) == [(2, why.value)]


@pytest.mark.parametrize(
    "said",
    [
        "hard,550 5.1.1 <full.content@acme.com> unknown",
        "hard,550 see https://acme.com/policy and mail.spam.acme.com",
        "hard,550 5.4.1 Recipient address rejected: Access denied",
        "5.0.0,user unknown",
        "554,",
    ],
)
def test_names_in_a_message_say_nothing_of_its_cause(said: str) -> None:
    assert _reported(f"email,type,reason\nada@acme.com,{said}\n".encode()) == [
        ("ada@acme.com", FeedbackKind.BOUNCE)
    ]

"""Lists of bounces as mail programs export them."""

from __future__ import annotations

import time
from io import BytesIO

import pytest

from app.domain.errors import InvalidValue
from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_lists, bounce_words
from app.features.quality.no_bounces import NoBounce

pytestmark = pytest.mark.any_database

SENDGRID = b"""status,reason,email,created
5.1.1,"550 5.1.1 The email account that you tried to reach does not exist.",ada@acme.com,1698765432
5.2.2,552 5.2.2 The email account is over quota,bob@acme.com,1698765432
5.7.1,550 5.7.1 Message rejected due to local policy,eve@acme.com,1698765432
"""
MAILCHIMP = b"""\xef\xbb\xbf"Email Address","First Name",MEMBER_RATING,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE
ada@acme.com,Ada,2,"2026-10-01 10:00:00",Autumn
"""
MAILGUN = b"""address,code,error,created_at
ada@acme.com,550,"No such mailbox","Mon, 06 May 2024 18:11:58 UTC"
bob@acme.com,421,"Try again later","Mon, 06 May 2024 18:11:58 UTC"
"""
POSTMARK = b"""EmailAddress,SuppressionReason,Origin,CreatedAt
ada@acme.com,HardBounce,Recipient,2026-10-01T10:00:00-04:00
bob@acme.com,SpamComplaint,Recipient,2026-10-01T10:00:00-04:00
eve@acme.com,ManualSuppression,Customer,2026-10-01T10:00:00-04:00
"""
POSTMARK_BOUNCES = b"""Type,To,Details,BouncedAt
HardBounce,ada@acme.com,smtp;550 5.1.1 The user does not exist,2026-10-01
SoftBounce,bob@acme.com,Temporary,2026-10-01
DMARCPolicy,eve@acme.com,,2026-10-01
"""
SES = b"""EmailAddress,Reason,LastUpdateTime
ada@acme.com,BOUNCE,2026-10-01
bob@acme.com,COMPLAINT,2026-10-01
"""
HUBSPOT = b"""Recipient,Bounce Type,Bounce Reason
Ada Lovelace <ada@acme.com>,Hard,UNKNOWN_USER
bob@acme.com,Soft,MAILBOX_FULL
"""
BREVO = b"""email;event;reason
ada@acme.com;hard_bounce;
bob@acme.com;soft_bounce;
"""
PLAIN = b"ada@acme.com\nmailto:ada@acme.com\nADA@ACME.COM\n"


@pytest.mark.parametrize(
    "content",
    [SENDGRID, MAILCHIMP, MAILGUN, POSTMARK, POSTMARK_BOUNCES, SES, HUBSPOT, BREVO, PLAIN],
    ids=[
        "SendGrid",
        "Mailchimp",
        "Mailgun",
        "Postmark",
        "Postmark bounces",
        "SES",
        "HubSpot",
        "Brevo",
        "none",
    ],
)
def test_only_the_hard_bounce_of_an_export_is_reported(content: bytes) -> None:
    found = bounce_lists.read(BytesIO(content))

    reported = [
        (line.field, line.value, line.kind) for line in found.lines.values() if line.value != "eve@acme.com"
    ]
    assert reported == [("email", "ada@acme.com", FeedbackKind.BOUNCE)]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("SoftBounce", NoBounce.TEMPORARY),
        ("Transient", NoBounce.TEMPORARY),
        ("mailbox full", NoBounce.TEMPORARY),
        ("4.2.2", NoBounce.TEMPORARY),
        ("451 try later", NoBounce.TEMPORARY),
        ("5.2.2 over quota", NoBounce.TEMPORARY),
        ("DnsError", NoBounce.TEMPORARY),
        ("Blocked", NoBounce.REFUSED),
        ("DMARCPolicy", NoBounce.REFUSED),
        ("VirusNotification", NoBounce.REFUSED),
        ("SpamComplaint", NoBounce.UNWANTED),
        ("5.7.26", NoBounce.REFUSED),
        ("Unsubscribe", NoBounce.UNWANTED),
        ("Ticket 77", NoBounce.UNCLEAR),
        ("2.0.0 OK", NoBounce.OTHER),
        ("delivered", NoBounce.OTHER),
    ],
)
def test_what_is_no_bounce_is_left_out_with_the_reason(said: str, why: NoBounce) -> None:
    found = bounce_lists.read(BytesIO(f"email,type\nada@acme.com,{said}\n".encode()))

    assert not found.lines
    assert [(each.line, each.detail) for each in found.left_out] == [(2, why.value)]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Permanent", FeedbackKind.BOUNCE),
        ("hard_bounce", FeedbackKind.BOUNCE),
        ("5.2.1", FeedbackKind.BOUNCE),
        ("554", FeedbackKind.BOUNCE),
        ("", FeedbackKind.BOUNCE),
        ("has_left", FeedbackKind.HAS_LEFT),
        ("No longer with the company", FeedbackKind.HAS_LEFT),
        ("wrong person", FeedbackKind.WRONG_PERSON),
        ("wrong number", FeedbackKind.BOUNCE),
        ("replied", FeedbackKind.VALID),
    ],
)
def test_the_words_of_a_line_say_what_is_reported_of_an_address(said: str, kind: FeedbackKind) -> None:
    found = bounce_lists.read(BytesIO(f"email,type\nada@acme.com,{said}\n".encode()))

    assert [line.kind for line in found.lines.values()] == [kind]


@pytest.mark.parametrize(
    ("name", "is_of_bounces"),
    [
        ("unsubscribed_members_export_4c1e.csv", False),
        ("suppression_unsubscribes.csv", False),
        ("suppression_spam_reports.csv", False),
        ("acme.com-complaints.csv", False),
        ("Opt-Outs May.xlsx", False),
        ("OptOuts.csv", False),
        ("désabonnés.csv", False),
        ("Abmeldungen.csv", False),
        ("suppression_bounces.csv", True),
        ("bounces-and-unsubscribes.csv", True),
        ("cleaned_members_export.csv", True),
        ("subscribers.csv", True),
        ("", True),
    ],
)
def test_the_name_of_a_file_says_that_its_addresses_did_not_bounce(name: str, *, is_of_bounces: bool) -> None:
    found = bounce_lists.read(BytesIO(b"email,type\nada@acme.com,\nbob@acme.com,hard\n"), name)

    assert [line.value for line in found.lines.values()][-1] == "bob@acme.com"
    assert (("email", "ada@acme.com", FeedbackKind.BOUNCE) in found.lines) is is_of_bounces
    assert [each.detail for each in found.left_out] == ([] if is_of_bounces else [NoBounce.UNWANTED.value])


def test_a_column_of_numbers_reports_wrong_numbers() -> None:
    found = bounce_lists.read(
        BytesIO(
            b"phone,result\n+1 202 555 0143,disconnected\n+12025550143,\nnot a number,\n+12025550144,left\n"
        )
    )

    assert [(line.field, line.value, line.kind) for line in found.lines.values()] == [
        ("phone", "+12025550143", FeedbackKind.WRONG_NUMBER),
        ("phone", "+12025550144", FeedbackKind.HAS_LEFT),
    ]
    assert [each.line for each in found.left_out] == [4]


def test_an_address_that_cannot_be_read_and_a_broken_row_are_left_out() -> None:
    found = bounce_lists.read(
        BytesIO(b"email,type\nada@@acme,hard\na@acme.com,hard,more,cells\nbob@acme.com,hard\n")
    )

    assert [line.value for line in found.lines.values()] == ["bob@acme.com"]
    assert sorted(each.line for each in found.left_out) == [2, 3]


def test_a_list_without_addresses_says_what_to_do() -> None:
    with pytest.raises(InvalidValue, match="Name the columns email or phone"):
        bounce_lists.read(BytesIO(b"first,second\nx,y\n"))


def test_a_list_that_is_too_long_is_refused() -> None:
    rows = b"".join(b"a%d@acme.com\n" % number for number in range(bounce_lists.MAX_ROWS + 1))

    with pytest.raises(InvalidValue, match=r"more than 10,000 rows"):
        bounce_lists.read(BytesIO(b"email\n" + rows))


@pytest.mark.parametrize("answer", ["a" * 100_000, "a." * 50_000, "unknown a " * 10_000, "user " * 20_000])
def test_a_long_answer_is_read_in_linear_time(answer: str) -> None:
    started = time.process_time()

    bounce_words.meaning([answer])
    bounce_lists.read(BytesIO(f"From,To,Body\nada@acme.com,bob@acme.com,{answer}\n".encode()))

    assert time.process_time() - started < 2  # seconds; with a search at each letter, 50

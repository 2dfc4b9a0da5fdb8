from __future__ import annotations

import time

import pytest

from app.domain.findings import EmailStatus
from workers.mail import catch_all_cache, host_locks
from workers.mail.catch_all_cache import CatchAllCache
from workers.mail.host_locks import HostBusy, HostLocks
from workers.mail.smtp_replies import (
    ProbeResult,
    SmtpReply,
    of_mailbox,
    of_random_mailbox,
    of_sender,
    verdict,
)

ACCEPTED, NO_MAILBOX, FULL = SmtpReply.ACCEPTED, SmtpReply.NO_MAILBOX, SmtpReply.FULL
DISABLED, LATER, UNCLEAR = SmtpReply.DISABLED, SmtpReply.LATER, SmtpReply.UNCLEAR
BLOCKED = SmtpReply.BLOCKED


@pytest.mark.parametrize(
    ("code", "text", "answer"),
    [
        (250, "2.1.5 OK", ACCEPTED),
        (252, "2.1.5 Cannot verify", UNCLEAR),
        (354, "Go on", UNCLEAR),
        (550, "5.1.1 The email account that you tried to reach does not exist.", NO_MAILBOX),
        (550, "5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found", NO_MAILBOX),
        (
            550,
            "5.4.1 Recipient address rejected: Access denied. [VI1EUR05.prod.outlook.com]",
            NO_MAILBOX,
        ),
        (554, "5.1.1 <ada@acme.com>: Recipient address rejected", NO_MAILBOX),
        (550, "No such user", NO_MAILBOX),
        (550, "Requested action not taken: mailbox unavailable", NO_MAILBOX),
        (551, "User not local", NO_MAILBOX),
        (552, "1 Requested mail action aborted, mailbox not found", NO_MAILBOX),
        (553, "sorry, that recipient is not here", NO_MAILBOX),
        (554, "delivery error: This user doesn't have an account", NO_MAILBOX),
        (550, "5.1.0 Address rejected", NO_MAILBOX),
        (550, "<blocked.quota@spamhaus.com>: User unknown in relay recipient table", NO_MAILBOX),
        (552, "Requested mail action aborted: exceeded storage allocation", FULL),
        (552, "5.2.2 Mailbox full", FULL),
        (550, "Mailbox quota exceeded", FULL),
        (452, "4.2.2 The email account that you tried to reach is over quota.", FULL),
        (450, "4.2.2 mailbox full", FULL),
        (550, "5.2.1 The email account that you tried to reach is disabled.", DISABLED),
        (550, "Account inactive", DISABLED),
        (550, "5.7.1 Service unavailable; client host blocked using zen.spamhaus.org", BLOCKED),
        (554, "5.7.1 Relay access denied", UNCLEAR),
        (550, "JunkMail rejected - host is in an RBL", BLOCKED),
        (550, "Reverse DNS lookup failed: no PTR", BLOCKED),
        (550, "We do not accept mail from this address", BLOCKED),
        (550, "Mail from your network is not accepted here", BLOCKED),
        (554, "Connections from dynamic IP addresses are rejected", BLOCKED),
        (550, "5.7.1 Mail from your server was refused: use your provider's relay", BLOCKED),
        (550, "5.7.606 Access denied, banned sending IP [192.0.2.1]", BLOCKED),
        (550, "User unknown. If you are sure of your address book, call", NO_MAILBOX),
        (550, "5.4.1 No answer from host", UNCLEAR),
        (552, "5.3.4 Message too big", UNCLEAR),
        (552, "5.7.0 This message was blocked", UNCLEAR),
        (554, "Transaction failed", UNCLEAR),
        (503, "5.5.1 Bad sequence", UNCLEAR),
        (450, "4.2.0 Greylisted, see http://postgrey.schweikert.ch/", LATER),
        (450, "4.7.1 Client host rejected: Greylisted", LATER),
        (451, "4.7.1 Temporarily rejected", LATER),
        (452, "4.3.1 Insufficient system storage", LATER),
        (450, "4.2.1 The user you are trying to contact is receiving mail too quickly", LATER),
        (450, "4.7.1 Client host rejected: cannot find your reverse hostname", BLOCKED),
        (451, "4.7.1 Blocked by spamcop", BLOCKED),
        (421, "4.7.0 Try again later", LATER),
        (421, "4.7.0 Blocked by spamcop", BLOCKED),
        (550, "#5.1.0 Address rejected", NO_MAILBOX),
        (550, "sorry, no mailbox here by that name. (#5.1.1)", NO_MAILBOX),
        (550, "5.5.0 Requested action not taken: mailbox unavailable (S2017062302).", NO_MAILBOX),
        (550, "5.7.1 <ada@acme.com>: Recipient address rejected: User email address is invalid", NO_MAILBOX),
        (
            550,
            "Requested action not taken: mailbox unavailable. See https://acme.com/error?ip=192.0.2.1",
            NO_MAILBOX,
        ),
        (550, "Benutzer unbekannt", NO_MAILBOX),
        (554, "5.7.1 <ada@acme.com>: Recipient address rejected: Policy restrictions", UNCLEAR),
        (550, "5.7.1 <ada@acme.com>: Recipient address rejected: User unknown", NO_MAILBOX),
        (550, "5.7.1 <ada@acme.com>: Recipient address rejected: User over quota", UNCLEAR),
        (550, "5.7.1 Recipient address rejected: unknown sender domain", UNCLEAR),
        (550, "5.5.0 Requested action not taken: mailbox unavailable by policy", UNCLEAR),
        (554, "5.7.1 <ada@acme.com>: Recipient address rejected: Access denied", UNCLEAR),
        (550, "#5.7.1 Your access has been rejected.", BLOCKED),
        (553, "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", UNCLEAR),
        (550, "5.1.0 sender rejected", UNCLEAR),
        (550, "you are not allowed to send mail to <ada@acme.com>", UNCLEAR),
        (550, "permanent failure for one or more recipients (ada@acme.com:blocked)", UNCLEAR),
        (550, "Relaying denied", UNCLEAR),
        (550, "Rejected", UNCLEAR),
        (-1, "", UNCLEAR),
    ],
)
def test_an_smtp_reply_is_classified(code: int, text: str, answer: SmtpReply) -> None:
    assert of_mailbox(code, text) is answer


@pytest.mark.parametrize(
    ("code", "text", "answer"),
    [
        (250, "OK", ACCEPTED),
        (451, "4.7.1 Greylisted", LATER),
        (550, "5.1.8 Sender rejected", UNCLEAR),
        (550, "No such user", UNCLEAR),
        (552, "Mailbox full", UNCLEAR),
    ],
)
def test_a_rejected_sender_leaves_the_mailbox_unclear(code: int, text: str, answer: SmtpReply) -> None:
    assert of_sender(code, text) is answer


@pytest.mark.parametrize(
    ("code", "text", "answer"),
    [
        (250, "OK", ACCEPTED),
        (550, "5.1.1 No", NO_MAILBOX),
        (550, "No such user", NO_MAILBOX),
        (554, "5.7.1 Relay access denied", NO_MAILBOX),
        (450, "4.1.1 Unverified address", NO_MAILBOX),
        (550, "5.5.3 Too many recipients", UNCLEAR),
        (550, "5.7.1 Rejected by policy", UNCLEAR),
        (554, "Transaction failed", UNCLEAR),
        (552, "5.2.2 Full", UNCLEAR),
        (451, "4.7.1 Greylisted", LATER),
        (452, "4.2.2 Over quota", UNCLEAR),
        (421, "Closing", LATER),
    ],
)
def test_only_a_rejection_due_to_the_recipient_excludes_a_catch_all(
    code: int, text: str, answer: SmtpReply
) -> None:
    assert of_random_mailbox(code, text) is answer


@pytest.mark.parametrize(
    ("result", "status", "reasons"),
    [
        (ProbeResult(ACCEPTED, NO_MAILBOX), EmailStatus.VALID, ()),
        (ProbeResult(ACCEPTED, ACCEPTED), EmailStatus.ACCEPT_ALL, ()),
        (ProbeResult(ACCEPTED, UNCLEAR), EmailStatus.UNKNOWN, ()),
        (ProbeResult(ACCEPTED, LATER), EmailStatus.UNKNOWN, ()),
        (ProbeResult(NO_MAILBOX), EmailStatus.INVALID, ()),
        (ProbeResult(FULL), EmailStatus.RISKY, ("full_inbox",)),
        (ProbeResult(DISABLED), EmailStatus.RISKY, ("disabled",)),
        (ProbeResult(LATER), EmailStatus.UNKNOWN, ()),
        (ProbeResult(UNCLEAR), EmailStatus.UNKNOWN, ()),
    ],
)
def test_the_probe_result_determines_the_verdict(
    result: ProbeResult, status: EmailStatus, reasons: tuple[str, ...]
) -> None:
    assert verdict("ada@acme.com", result) == (status, reasons)


@pytest.mark.parametrize(
    ("email", "status", "reasons"),
    [
        ("info@acme.com", EmailStatus.VALID, ("role",)),
        ("ada@gmail.com", EmailStatus.VALID, ("webmail",)),
        ("ada@mailinator.com", EmailStatus.RISKY, ("disposable",)),
    ],
)
def test_reasons_evident_from_the_address_are_added(
    email: str, status: EmailStatus, reasons: tuple[str, ...]
) -> None:
    assert verdict(email, ProbeResult(ACCEPTED, NO_MAILBOX)) == (status, reasons)


def test_cached_catch_all_replies_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    known = CatchAllCache()
    known.store("acme.com", "mail.acme.com", ACCEPTED)

    soon = known.get("acme.com", "mail.acme.com")
    monkeypatch.setattr(catch_all_cache, "TTL_SECONDS", 0)

    assert (soon, known.get("acme.com", "mail.acme.com")) == (ACCEPTED, None)


def test_the_oldest_domains_are_evicted_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catch_all_cache, "MAX_ENTRIES", 2)
    known = CatchAllCache()

    for domain in ("one.com", "two.com", "one.com", "three.com"):
        known.store(domain, "mail", NO_MAILBOX)

    assert [known.get(domain, "mail") for domain in ("one.com", "two.com", "three.com")] == [
        NO_MAILBOX,
        None,
        NO_MAILBOX,
    ]


def test_an_unclear_reply_is_not_cached() -> None:
    known = CatchAllCache()

    known.store("acme.com", "mail.acme.com", UNCLEAR)

    assert known.get("acme.com", "mail.acme.com") is None


def test_locks_of_unused_hosts_are_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_locks, "MAX_IDLE_HOSTS", 3)
    hosts = HostLocks(0.0)

    for number in range(20):
        with hosts.lock_host(f"mail{number}.acme.com", deadline=time.monotonic() + 60):
            assert len(hosts._hosts) <= 3  # noqa: SLF001 -- its internal state


def test_a_host_in_use_stays_locked_during_evictions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_locks, "MAX_IDLE_HOSTS", 1)
    hosts = HostLocks(0.0)

    with hosts.lock_host("mail1.acme.com", deadline=time.monotonic() + 60):
        with hosts.lock_host("mail2.acme.com", deadline=time.monotonic() + 60):
            pass
        with pytest.raises(HostBusy), hosts.lock_host("mail1.acme.com", deadline=time.monotonic()):
            pass

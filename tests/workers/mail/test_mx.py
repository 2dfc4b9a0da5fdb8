"""Verification with real name and mail servers on loopback; the run ends with a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest
from dnslib import AAAA, MX, A
from local_servers import free_port
from mail_support import (
    LOOPBACK,
    MAIL,
    NOTHING,
    ZONE,
    FakeDnsServer,
    FakeMailServer,
    dns_server,
    dripping,
    flooding,
    mail_server,
    mx,
    offering_starttls,
    raw_server,
    recording,
    saying,
    scripted,
    server_tls,
    settings,
    silent_dns_server,
    silent_in_tls,
    summary,
    verify,
)

from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.mail.settings import MailSettings
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.mx import RETRY_SECONDS, Mx

EVERYTHING = "250 OK"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def dns_port(stack: ExitStack) -> int:
    return stack.enter_context(dns_server(FakeDnsServer(ZONE)))


def ada(*answers: str, otherwise: str = "550 5.1.1 No such user here", **more: Any) -> FakeMailServer:
    return FakeMailServer({"ada": list(answers)}, otherwise=otherwise, **more)


def says(answer: str) -> AbstractContextManager[int]:
    """Run a server with this reply for ada's mailbox, and no other mailboxes."""
    return mail_server(ada(answer))


def table() -> list[Any]:
    """Return the behaviours of servers, each with its expected verdict."""
    rows: list[tuple[str, AbstractContextManager[int], str]] = [
        ("250", says("250 2.1.5 OK"), "valid"),
        ("251 will forward", says("251 OK"), "valid"),
        ("550", says("550 No such user"), "invalid"),
        ("550 5.1.1", says("550 5.1.1 User unknown"), "invalid"),
        ("550 5.1.10", says("550 5.1.10 Recipient not found"), "invalid"),
        ("550 5.2.1", says("550 5.2.1 Account disabled"), "risky disabled"),
        ("550 5.7.1 block list", says("550 5.7.1 Blocked using zen.spamhaus.org"), "unknown"),
        ("552", says("552 Mailbox full"), "risky full_inbox"),
        ("452 4.2.2", says("452 4.2.2 Over quota"), "risky full_inbox"),
        ("451 greylist", says("451 4.7.1 Greylisted, try again later"), "later"),
        ("421 at RCPT", says("421 4.3.2 Closing"), "later"),
        ("sender refused", mail_server(ada(EVERYTHING, to_sender="550 5.1.8 Bad sender")), "unknown"),
        ("sender greylisted", mail_server(ada(EVERYTHING, to_sender="450 4.7.1 Later")), "later"),
        ("accept everything", mail_server(FakeMailServer(otherwise=EVERYTHING)), "accept_all"),
        ("tarpit", raw_server(dripping(b"")), "unknown"),
        ("tarpit after the banner", raw_server(dripping(b"220 hello\r\n")), "unknown"),
        ("endless banner", raw_server(flooding), "unknown"),
        ("drop", raw_server(saying(b"")), "unknown"),
        ("drop at RCPT", raw_server(scripted("220 hi", "250 hi", "250 OK")), "unknown"),
        ("drop at the second RCPT", raw_server(scripted("220 hi", "250 hi", "250 OK", "250 OK")), "unknown"),
        ("bad banner", raw_server(saying(b"HTTP/1.1 400 Bad Request\r\n\r\n")), "unknown"),
        ("banner 421", raw_server(saying(b"421 4.3.2 Too busy\r\n")), "unknown"),
        ("banner 554", raw_server(saying(b"554 5.7.1 Go away\r\n")), "unknown"),
        ("no hello", raw_server(scripted("220 hi", "500 what", "500 what")), "unknown"),
    ]
    return [pytest.param(*row, id=row[0]) for row in rows]


@pytest.mark.parametrize(("case", "server", "verdict"), table())
def test_the_behaviour_of_a_mail_server_determines_the_verdict(  # noqa: PLR0917 -- three of them are the case
    stack: ExitStack,
    dns_port: int,
    record_property: Callable[[str, object], None],
    case: str,
    server: AbstractContextManager[int],
    verdict: str,
) -> None:
    provider = mx(settings(stack.enter_context(server), dns_port))
    started = time.monotonic()

    seconds = 1 if verdict == "unknown" else 10  # some servers without a verdict answer for ever

    reply = verify(provider, seconds=seconds)

    record_property("verification", (case, summary(reply)))
    assert summary(reply) == verdict
    assert time.monotonic() - started < 4 * seconds


DNS_CASES = [
    ("MX", FakeDnsServer(ZONE), "valid"),
    ("no MX, but A", FakeDnsServer({("acme.com", "A"): (A(LOOPBACK),)}), "valid"),
    ("no MX, no A", FakeDnsServer({("acme.com", "TXT"): NOTHING}), "invalid no_mx"),
    ("null MX", FakeDnsServer({("acme.com", "MX"): (MX(".", 0),)}), "invalid no_mx"),
    ("NXDOMAIN", FakeDnsServer({}), "invalid no_mx"),
    ("SERVFAIL", FakeDnsServer(ZONE, rcode="SERVFAIL"), "unknown"),
    ("REFUSED", FakeDnsServer(ZONE, rcode="REFUSED"), "unknown"),
    ("MX without address", FakeDnsServer({("acme.com", "MX"): MAIL}), "unknown"),
    ("MX at a special-use name", FakeDnsServer({("acme.com", "MX"): (MX("mail.local", 1),)}), "unknown"),
    ("DNS timeout", None, "unknown"),
]


@pytest.mark.parametrize(("case", "dns", "verdict"), DNS_CASES, ids=[case for case, *_rest in DNS_CASES])
def test_the_response_of_a_name_server_determines_the_verdict(
    stack: ExitStack,
    record_property: Callable[[str, object], None],
    case: str,
    dns: FakeDnsServer | None,
    verdict: str,
) -> None:
    port = stack.enter_context(says("250 OK"))
    dns_port = stack.enter_context(dns_server(dns) if dns else silent_dns_server())

    reply = verify(mx(settings(port, dns_port)))

    record_property("verification", (case, summary(reply)))
    assert summary(reply) == verdict


def test_a_silent_name_server_gives_no_verdict(stack: ExitStack) -> None:
    provider = mx(settings(free_port(), stack.enter_context(silent_dns_server())))
    started = time.monotonic()

    reply = verify(provider)

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS, reason="unreachable")
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("domain", ["acme.example", "acme.test", "acme.invalid", "a.localhost", "x.onion"])
def test_special_use_domains_are_not_looked_up(stack: ExitStack, domain: str) -> None:
    dns = FakeDnsServer({})
    provider = mx(settings(free_port(), stack.enter_context(dns_server(dns))))

    reply = verify(provider, f"ada@{domain}")

    assert summary(reply) == "unknown"
    assert dns.queries == []


def test_with_smtp_off_no_mail_server_is_called(stack: ExitStack, dns_port: int) -> None:
    server = FakeMailServer()
    port = stack.enter_context(mail_server(server))
    provider = mx(settings(port, dns_port, smtp=False))

    reply = verify(provider)

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS, reason="smtp_off")
    assert provider.terms is FREE
    assert (server.hellos, server.recipients) == ([], [])


def test_with_smtp_off_a_domain_without_mail_hosts_is_still_invalid(stack: ExitStack) -> None:
    dns_port = stack.enter_context(dns_server(FakeDnsServer({})))

    reply = verify(mx(settings(free_port(), dns_port, smtp=False)), "info@acme.com")

    assert summary(reply) == "invalid no_mx role"


@pytest.mark.parametrize(
    ("server", "verdict"),
    [
        (ada("250 OK"), "risky disposable"),
        (ada("550 5.1.1 No"), "invalid disposable"),
        (ada("552 5.2.2 Full"), "risky full_inbox disposable"),
    ],
)
def test_a_disposable_address_is_at_best_risky(
    stack: ExitStack, server: FakeMailServer, verdict: str
) -> None:
    port = stack.enter_context(mail_server(server))
    zone = ZONE | {("mailinator.com", "MX"): MAIL}
    dns_port = stack.enter_context(dns_server(FakeDnsServer(zone)))

    assert summary(verify(mx(settings(port, dns_port)), "ada@mailinator.com")) == verdict


def test_a_disposable_address_is_recognized_without_a_server(stack: ExitStack) -> None:
    zone = {("mailinator.com", "MX"): MAIL}
    dns_port = stack.enter_context(dns_server(FakeDnsServer(zone)))

    reply = verify(mx(settings(free_port(), dns_port, smtp=False)), "ada@mailinator.com")

    assert summary(reply) == "risky disposable"


def test_a_verdict_has_its_time_and_source_and_is_free(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(says("250 OK"))

    reply = verify(mx(settings(port, dns_port)))

    assert isinstance(reply, ProviderResponse)
    [found] = reply.emails
    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, 0)
    assert (found.email, found.type, found.source.provider) == ("ada@acme.com", "work", "mx")
    assert found.verified_at == found.source.at


def test_a_greylisted_address_is_polled_until_it_is_accepted(stack: ExitStack, dns_port: int) -> None:
    server = FakeMailServer({"ada": ["451 4.7.1 Greylisted", "250 OK"]})
    provider = mx(settings(stack.enter_context(mail_server(server)), dns_port))

    first = verify(provider)
    assert isinstance(first, Pending)
    second = verify(provider, ticket=first.poll_token)

    assert first.after == RETRY_SECONDS[0]
    assert summary(second) == "valid"


def test_a_poll_after_greylisting_repeats_both_recipients(stack: ExitStack, dns_port: int) -> None:
    """A new random mailbox in every poll would be greylisted every time."""
    server = ada("451 Greylisted", otherwise="451 Greylisted")
    mail = settings(stack.enter_context(mail_server(server)), dns_port)

    first = verify(mx(mail))
    assert isinstance(first, Pending)
    verify(mx(mail), ticket=first.poll_token)

    assert server.recipients[:2] == server.recipients[2:]


def test_an_accepted_mailbox_with_an_unclear_catch_all_check_is_pending(
    stack: ExitStack, dns_port: int
) -> None:
    port = stack.enter_context(mail_server(ada("250 OK", otherwise="451 Greylisted")))

    assert summary(verify(mx(settings(port, dns_port)))) == "later"


def test_after_the_last_attempt_there_is_no_verdict(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(says("451 4.3.2 Later"))
    provider = mx(settings(port, dns_port))
    replies = [verify(provider)]

    for _ in RETRY_SECONDS:
        replies.append(verify(provider, ticket=getattr(replies[-1], "poll_token", None)))

    assert [summary(reply) for reply in replies] == ["later", "later", "later", "unknown"]
    assert [getattr(reply, "reason", None) for reply in replies] == [None, None, None, "greylisted"]


def test_the_attempts_outlast_a_greylist_of_half_an_hour(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(says("451 4.7.1 Greylisted"))
    provider = mx(settings(port, dns_port))
    replies = [verify(provider)]

    while isinstance(replies[-1], Pending):
        replies.append(verify(provider, ticket=replies[-1].poll_token))

    assert sum(reply.after for reply in replies[:-1] if isinstance(reply, Pending)) >= 1800


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        ("451 4.7.1 Greylisting in action, please come back in 00:20:00", 1200),
        ("451 Greylisted, try again in 1500 seconds", 1500),
        ("450 4.2.0 Greylisted, try again in 12 min.", 720),
        ("451 Greylisted, try again in 3 days, 99999 seconds", 2700),
        ("451 4.3.2 Later", RETRY_SECONDS[0]),
    ],
)
def test_a_longer_delay_that_the_server_names_is_kept(
    stack: ExitStack, dns_port: int, reply: str, seconds: float
) -> None:
    provider = mx(settings(stack.enter_context(says(reply)), dns_port))

    first = verify(provider)

    assert isinstance(first, Pending)
    assert first.after == seconds


def test_a_provider_that_blocks_this_client_is_not_asked_for_its_next_customer(
    stack: ExitStack, dns_port: int
) -> None:
    server = ada("550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org", "250 OK")
    provider = mx(settings(stack.enter_context(mail_server(server)), dns_port))

    replies = [verify(provider), verify(provider)]

    assert [summary(reply) for reply in replies] == ["unknown", "unknown"]
    assert [getattr(reply, "reason", None) for reply in replies] == ["blocked", "blocked"]
    assert len(server.senders) == 1


def test_a_host_that_cannot_be_reached_is_the_reason_of_an_unknown_verdict(dns_port: int) -> None:
    reply = verify(mx(settings(free_port(), dns_port)))

    assert isinstance(reply, ProviderResponse)
    assert (summary(reply), reply.reason) == ("unknown", "unreachable")


def test_all_attempts_fit_into_the_poll_timeout(dns_port: int) -> None:
    provider = mx(settings(free_port(), dns_port))

    assert provider.terms.poll_timeout > sum(RETRY_SECONDS)


def test_no_mail_is_sent_and_the_session_ends_with_quit(stack: ExitStack, dns_port: int) -> None:
    received: list[bytes] = []
    provider = mx(settings(stack.enter_context(raw_server(recording(received))), dns_port))

    verify(provider)

    verbs = [line.split(b":")[0].split()[0].upper() for line in received]
    assert verbs == [b"EHLO", b"MAIL", b"RCPT", b"RCPT", b"RSET", b"QUIT"]
    assert received[:3] == [
        b"ehlo verifier.com\r\n",
        b"mail FROM:<probe@verifier.com>\r\n",
        b"rcpt TO:<ada@acme.com>\r\n",
    ]


def test_no_data_command_is_sent(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    provider = mx(settings(stack.enter_context(mail_server(server)), dns_port))

    verify(provider)

    assert (server.hellos, server.senders) == (["verifier.com"], ["probe@verifier.com"])
    assert server.data == []


def test_the_catch_all_check_runs_once_per_domain(stack: ExitStack, dns_port: int) -> None:
    server = FakeMailServer(otherwise=EVERYTHING)
    provider = mx(settings(stack.enter_context(mail_server(server)), dns_port))

    verdicts = [summary(verify(provider, email)) for email in ("ada@acme.com", "bob@acme.com", "cy@acme.com")]

    local_parts = [address.partition("@")[0] for address in server.recipients]
    assert verdicts == ["accept_all"] * 3
    assert len(local_parts) == 4
    assert [local_part for local_part in local_parts if local_part not in {"ada", "bob", "cy"}] == [
        local_parts[1]
    ]


def test_a_missing_mailbox_needs_no_catch_all_check(stack: ExitStack, dns_port: int) -> None:
    server = ada("550 5.1.1 No")
    provider = mx(settings(stack.enter_context(mail_server(server)), dns_port))

    verify(provider)

    assert server.recipients == ["ada@acme.com"]


def test_starttls_is_used_with_any_certificate(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server, tls_context=server_tls()))

    reply = verify(mx(settings(port, dns_port)))

    assert (summary(reply), server.encrypted) == ("valid", [True])


def test_starttls_can_be_switched_off(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server, tls_context=server_tls()))

    reply = verify(mx(settings(port, dns_port, starttls=False)))

    assert (summary(reply), server.encrypted) == ("valid", [False])


@pytest.mark.parametrize(
    ("answer", "hang_up"),
    [
        (b"220 go ahead\r\nthis is no TLS at all\r\n", True),
        (b"220 go ahead\r\n", True),
        (b"", True),
        (b"454 4.7.0 TLS not available\r\n", False),
    ],
)
def test_broken_starttls_falls_back_to_plain_smtp(
    stack: ExitStack, dns_port: int, answer: bytes, *, hang_up: bool
) -> None:
    port = stack.enter_context(raw_server(offering_starttls(answer, hang_up=hang_up)))

    assert summary(verify(mx(settings(port, dns_port)))) == "valid"


def test_a_starttls_handshake_that_hangs_is_limited_by_the_timeout(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(raw_server(silent_in_tls))
    started = time.monotonic()

    reply = verify(mx(settings(port, dns_port)), seconds=0.5)

    assert summary(reply) == "unknown"
    assert time.monotonic() - started < 4


def test_an_endless_greeting_is_limited_by_the_timeout(stack: ExitStack, dns_port: int) -> None:
    provider = mx(settings(stack.enter_context(raw_server(flooding)), dns_port))
    started = time.monotonic()

    reply = verify(provider, seconds=8)

    assert summary(reply) == "unknown"
    assert time.monotonic() - started < 7


def test_the_next_mail_host_is_called_if_the_first_is_unreachable(stack: ExitStack) -> None:
    zone = ZONE | {
        ("acme.com", "MX"): (MX("mail.acme.com", 20), MX("dead.acme.com", 10), MX("gone.acme.com", 5)),
        ("dead.acme.com", "AAAA"): (AAAA("::1"),),
    }
    dns_port = stack.enter_context(dns_server(FakeDnsServer(zone)))
    port = stack.enter_context(says("250 OK"))
    provider = Mx(ProviderSettings(), settings(port, dns_port), allowed={LOOPBACK, "::1"}.__contains__)

    assert summary(verify(provider)) == "valid"


def test_what_the_usual_host_said_of_other_addresses_does_not_count_for_a_backup_host(
    stack: ExitStack,
) -> None:
    dns = FakeDnsServer({**ZONE, ("backup.acme.com", "A"): (A(LOOPBACK),)}, ttl=0)
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server))
    provider = mx(settings(port, stack.enter_context(dns_server(dns))))

    usual = summary(verify(provider))
    dns.zone = {**dns.zone, ("acme.com", "MX"): (MX("backup.acme.com", 20),)}
    server.otherwise = EVERYTHING
    backup = summary(verify(provider, "nobody@acme.com"))

    assert (usual, backup) == ("valid", "accept_all")


def test_a_host_at_a_private_address_is_not_called(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server))
    provider = Mx(ProviderSettings(), settings(port, dns_port))

    reply = verify(provider)

    assert summary(reply) == "unknown"
    assert server.hellos == []


def test_the_source_address_of_the_settings_is_used(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server))

    verify(mx(settings(port, dns_port, source="127.0.0.7")))

    assert server.peers == ["127.0.0.7"]


def test_two_sessions_with_one_host_are_spaced_by_the_pause(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(says("250 OK"))
    provider = mx(settings(port, dns_port, pause_seconds=0.3))
    verify(provider)
    started = time.monotonic()

    reply = verify(provider)

    assert summary(reply) == "valid"
    assert 0.2 < time.monotonic() - started < 10


def test_a_verification_that_would_wait_too_long_for_a_host_is_pending(
    stack: ExitStack, dns_port: int
) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server))
    provider = mx(settings(port, dns_port, pause_seconds=60.0))
    verify(provider)
    started = time.monotonic()

    reply = verify(provider, ticket="1.nobody", seconds=3)

    assert isinstance(reply, Pending)
    assert reply.poll_token == "1.nobody"
    assert 50 < reply.after <= 60
    assert time.monotonic() - started < 4
    assert len(server.hellos) == 1


def test_concurrent_sessions_with_one_host_run_one_at_a_time(stack: ExitStack, dns_port: int) -> None:
    server = ada("250 OK")
    port = stack.enter_context(mail_server(server))
    provider = mx(settings(port, dns_port, pause_seconds=0.05))
    started = time.monotonic()

    with ThreadPoolExecutor(6) as threads:
        replies = list(threads.map(lambda _number: verify(provider), range(6)))

    assert {summary(reply) for reply in replies} == {"valid"}
    assert time.monotonic() - started > 0.25


def test_verifications_are_pending_while_a_host_is_busy(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(raw_server(dripping(b"")))
    provider = mx(settings(port, dns_port, pause_seconds=0.1))

    with ThreadPoolExecutor(2) as threads:
        replies = list(threads.map(lambda _number: verify(provider, seconds=1), range(2)))

    assert sorted(summary(reply) for reply in replies) == ["later", "unknown"]


def test_a_local_part_beyond_ascii_needs_smtputf8(stack: ExitStack, dns_port: int) -> None:
    server = FakeMailServer({"adá": ["250 OK"]})
    able = stack.enter_context(mail_server(server, enable_SMTPUTF8=True))
    unable = stack.enter_context(mail_server(FakeMailServer({"adá": ["250 OK"]}), enable_SMTPUTF8=False))

    verdicts = [summary(verify(mx(settings(port, dns_port)), "adá@acme.com")) for port in (able, unable)]

    assert verdicts == ["valid", "unknown"]


@pytest.mark.parametrize(
    "provider_request",
    [
        ProviderRequest(field=ProviderField.EMAIL, subject=Subject(email="ada@acme.com")),
        ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(full_name="Ada")),
    ],
)
def test_a_request_without_an_address_is_ineligible(provider_request: ProviderRequest) -> None:
    assert Mx(ProviderSettings(), MailSettings()).unavailability(provider_request) is TraceOutcome.INELIGIBLE


def test_a_request_with_an_address_is_eligible() -> None:
    request = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))

    assert Mx(ProviderSettings(), MailSettings()).unavailability(request) is None


def test_an_unknown_poll_token_starts_a_new_verification(stack: ExitStack, dns_port: int) -> None:
    port = stack.enter_context(says("451 Later"))

    reply = verify(mx(settings(port, dns_port)), ticket="req_123")

    assert isinstance(reply, Pending)
    assert reply.poll_token.startswith("1.")


def test_the_next_address_of_a_host_is_tried_if_one_is_down(stack: ExitStack) -> None:
    zone = ZONE | {("mail.acme.com", "A"): (A("127.0.0.2"), A(LOOPBACK))}
    dns_port = stack.enter_context(dns_server(FakeDnsServer(zone)))

    reply = verify(mx(settings(stack.enter_context(says("250 OK")), dns_port)))

    assert summary(reply) == "valid"

"""Invalid requests get a documented response or are disconnected: no 5xx, HTML, hang, job or charge."""

# ruff: noqa: RUF001 -- ambiguous letters are test inputs

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e_stack import Stack
from raw_support import PERSON, ask, chunk, chunked, exchange, get, memory, post, sized
from sqlalchemy import func, select

from app.core.accounts import workspaces
from app.core.jobs.jobs import Job

JOBS, LEADS = b"/api/ext/jobs", b"/api/ext/leads-by-website-hash"
LOOKUP, LOGIN = b"/api/ext/lookup", b"/api/ext/login"
MALFORMED, INVALID = (400, "malformed_json"), (422, "validation_error")
LARGE, MEDIA = (413, "payload_too_large"), (415, "unsupported_media_type")
NOWHERE, METHOD = (404, "not_found"), (405, "method_not_allowed")
ALWAYS = {"x-request-id", "api-version", "cache-control", "x-content-type-options"}
TEN_MB = 10_000_000


@pytest.fixture(scope="module")
def workspace(stack: Stack) -> tuple[str, str]:
    """The workspace id and session token with which all invalid requests are sent."""
    return stack.workspace(grant=50)


@pytest.fixture
def token(stack: Stack, workspace: tuple[str, str]) -> Iterator[str]:
    """The session token; the test must not create a job, charge credits or log an error."""
    log = Path(stack.redis_folder / "web.log")
    written_before, before = log.stat().st_size, _jobs_and_balance(stack, workspace[0])
    yield workspace[1]
    assert _jobs_and_balance(stack, workspace[0]) == before
    written = log.read_bytes()[written_before:]
    assert b"unexpected error" not in written
    assert b"Traceback" not in written


def _jobs_and_balance(stack: Stack, workspace_id: str) -> tuple[int, int, int]:
    with stack.database.reading() as session:
        jobs = session.scalar(select(func.count()).where(Job.workspace_id == workspace_id))
        left = workspaces.balance(session, workspace_id)
    return int(jobs or 0), left.available, left.held


def body(value: object) -> bytes:
    """Return a reveal request for an unknown person with these fields changed."""
    return json.dumps({**json.loads(PERSON), **value}).encode() if isinstance(value, dict) else b""


BODIES = {
    "nothing": (b"", *MALFORMED),
    "not JSON": (b"{", *MALFORMED),
    "a list": (b"[]", *MALFORMED),
    "null": (b"null", *MALFORMED),
    "a number": (b"7", *MALFORMED),
    "a text": (b'"text"', *MALFORMED),
    "two objects": (PERSON + PERSON, *MALFORMED),
    "a form": (b"subject=ada", *MALFORMED),
    "a comment": (PERSON[:-1] + b"/* */}", *MALFORMED),
    "a trailing comma": (PERSON[:-1] + b",}", *MALFORMED),
    "a byte order mark": (b"\xef\xbb\xbf" + PERSON, *MALFORMED),
    "UTF-16": (PERSON.decode().encode("utf-16"), *MALFORMED),
    "Latin-1": ('{"subject": {"email": "zoë@a.example"}}'.encode("latin-1"), *MALFORMED),
    "not UTF-8": (b'{"subject": "\xff"}', *MALFORMED),
    "overlong UTF-8": (b'{"subject": {"full_name": "\xc0\x80"}}', *MALFORMED),
    "30,000 brackets": (b'{"a":' + b"[" * 30_000, *MALFORMED),
    "30,000 closed brackets": (b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}", *MALFORMED),
    "30,000 objects": (b'{"a":' * 30_000 + b"1" + b"}" * 30_000, *MALFORMED),
    "NaN": (b'{"max_age_days": NaN}', *MALFORMED),
    "Infinity": (b'{"max_age_days": -Infinity}', *MALFORMED),
    "5,000 digits": (b'{"max_age_days": ' + b"9" * 5_000 + b"}", *MALFORMED),
    "a name twice": (PERSON[:-1] + b', "subject": {"email": "a@b.example"}}', *MALFORMED),
    "a name twice inside": (b'{"subject": {"email": "a@b.example", "email": "c@d.example"}}', *MALFORMED),
    "beyond 64 bits": (b'{"max_age_days": 99999999999999999999}', *INVALID),
    "1e999": (b'{"max_age_days": 1e999}', *INVALID),
    "NUL": (b'{"subject": {"full_name": "a\\u0000"}}', *INVALID),
    "half a surrogate": (b'{"subject": {"full_name": "\\ud800"}}', *INVALID),
    "half a surrogate in a name": (b'{"\\ud800": 1}', *INVALID),
    "an unknown field": (body({"admin": True}), *INVALID),
    "__proto__": (body({"__proto__": {"price": 0}}), *INVALID),
    "a text for an object": (b'{"subject": "ada"}', *INVALID),
    "a number for a text": (b'{"subject": {"full_name": 7}}', *INVALID),
    "a list for a text": (b'{"subject": {"full_name": ["a"]}}', *INVALID),
    "an object for a number": (body({"max_age_days": {}}), *INVALID),
    "a list for a number": (body({"max_age_days": [1]}), *INVALID),
    "a text for a number": (body({"max_age_days": "90"}), *INVALID),
    "true for a number": (body({"max_age_days": True}), *INVALID),
    "part of a number": (body({"max_age_days": 1.5}), *INVALID),
    "1e3": (PERSON[:-1] + b', "max_age_days": 1e3}', *INVALID),
    "zero": (body({"max_age_days": 0}), *INVALID),
    "less than zero": (body({"max_age_days": -1}), *INVALID),
    "a huge number": (body({"max_age_days": 2**62}), *INVALID),
    "a text for a list": (body({"types": "work"}), *INVALID),
    "an empty list": (body({"types": []}), *INVALID),
    "a thousand types": (body({"types": ["work"] * 1000}), *INVALID),
    "an object in a list": (body({"types": [{}]}), *INVALID),
    "an empty text": (b'{"subject": {"full_name": ""}}', *INVALID),
    "blanks": (b'{"subject": {"full_name": " \\u3000\\t"}}', *INVALID),
    "10,000 characters": (b'{"subject": {"full_name": "' + b"a" * 10_000 + b'"}}', *INVALID),
    "too few words": (b'{"subject": {"first_name": "Ada"}}', 422, "insufficient_identifiers"),
    "only nulls": (b'{"subject": {"email": null}}', 422, "insufficient_identifiers"),
    "no profile": (b'{"subject": {"linkedin_url": "https://a.example/in/b"}}', 422, "not_a_profile_url"),
    "an unknown contact": (b'{"subject": {"contact_id": "con_0"}}', 404, "contact_not_found"),
    "a contact with NUL, told apart": (b'{"subject": {"contact_id": "con_%"}}', 404, "contact_not_found"),
    "too large": (b'{"a": "' + b"a" * 300_000 + b'"}', *LARGE),
}


@pytest.mark.parametrize(("sent", "status", "code"), BODIES.values(), ids=BODIES)
def test_a_bad_body_gets_its_own_error(stack: Stack, token: str, sent: bytes, status: int, code: str) -> None:
    answer = ask(stack, sized(sent), token)

    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (answer.code, answer.body["status"]) == (code, status)
    assert answer.body["detail"]


PERSON_CHUNK = chunk(PERSON)
FRAMES = {
    "packed": (sized(gzip.compress(PERSON), b"Content-Encoding: gzip"), *MEDIA),
    "packed a thousandfold": (sized(gzip.compress(b" " * 10**7), b"Content-Encoding: gzip"), *MEDIA),
    "said to be packed": (sized(PERSON, b"Content-Encoding: br"), *MEDIA),
    "another charset": (sized(PERSON, kind=b"application/json; charset=utf-16"), *MEDIA),
    "no type": (sized(PERSON, kind=b""), *MEDIA),
    "a type that is none": (sized(PERSON, kind=b";;;=\xff"), *MEDIA),
    "a text": (sized(PERSON, kind=b"text/plain"), *MEDIA),
    "parts": (sized(PERSON, kind=b"multipart/form-data; boundary=x"), *MEDIA),
    "no length": (post(PERSON), *MALFORMED),
    "a length in words": (post(PERSON, b"Content-Length: ten"), *MALFORMED),
    "a length below zero": (post(PERSON, b"Content-Length: -5"), *MALFORMED),
    "a length with a sign": (post(PERSON, b"Content-Length: +%d" % len(PERSON)), *MALFORMED),
    "a length of 23 digits": (post(PERSON, b"Content-Length: " + b"9" * 23), *LARGE),
    "two lengths": (sized(PERSON, b"Content-Length: 3"), *MALFORMED),
    "the same length twice": (sized(PERSON, b"Content-Length: %d" % len(PERSON)), *MALFORMED),
    "a list of lengths": (post(PERSON, b"Content-Length: 3, 3"), *MALFORMED),
    "a shorter length": (post(PERSON, b"Content-Length: %d" % (len(PERSON) - 3)), *MALFORMED),
    "a longer length": (post(PERSON, b"Content-Length: %d" % (len(PERSON) + 3)), *MALFORMED),
    "length and chunks": (sized(PERSON_CHUNK, b"Transfer-Encoding: chunked"), *MALFORMED),
    "chunks twice": (chunked(PERSON_CHUNK, b"Transfer-Encoding: chunked"), *MALFORMED),
    "chunks to HTTP/1.0": (chunked(PERSON_CHUNK).replace(b"HTTP/1.1", b"HTTP/1.0"), *MALFORMED),
    "packed chunks": (post(PERSON_CHUNK, b"Transfer-Encoding: gzip, chunked"), *MEDIA),
    "another coding": (post(PERSON, b"Transfer-Encoding: identity"), *MALFORMED),
    "nearly chunks": (post(PERSON_CHUNK, b"Transfer-Encoding: xchunked"), *MALFORMED),
    "hidden chunks": (post(PERSON_CHUNK, b"Transfer-Encoding:\x0bchunked"), *MALFORMED),
    "a chunk's size in words": (chunked(b"zz\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "a chunk's size below zero": (chunked(b"-5\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "a chunk's size with 0x": (chunked(b"0x" + PERSON_CHUNK), *MALFORMED),
    "a chunk's size of 20 digits": (chunked(b"f" * 20 + b"\r\n" + PERSON), *MALFORMED),
    "a chunk longer than its size": (chunked(b"9\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "a chunk without an end": (chunked(b"%x\r\n" % len(PERSON) + PERSON), *MALFORMED),
    "no last chunk": (chunked(chunk(PERSON, b"")), *MALFORMED),
    "line feeds alone": (chunked(PERSON_CHUNK.replace(b"\r\n", b"\n")), *MALFORMED),
    "a bad trailer": (chunked(chunk(PERSON, b"0\r\nBad Trailer\r\n\r\n")), *MALFORMED),
    "a trailer with a length": (chunked(chunk(PERSON, b"0\r\nContent-Length: 5\r\n\r\n")), *MALFORMED),
    "an endless chunk extension": (chunked(b"4;" + b"a" * 20_000 + b"\r\n"), *MALFORMED),
}


@pytest.mark.parametrize(("sent", "status", "code"), FRAMES.values(), ids=FRAMES)
def test_a_body_whose_frame_is_broken_is_refused(
    stack: Stack, token: str, sent: bytes, status: int, code: str
) -> None:
    answer = ask(stack, sent, token)

    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.code == code
    assert answer.raw.count(b"HTTP/1.1 ") == 1


HASH = b'{"hash": "' + b"0" * 64 + b'", %s}'
MISSING, TOKENS = (401, "missing_token"), (401, "invalid_token")
REQUESTS = {
    "a folded header": (get(LOOKUP, b"X-A: b\r\n c"), *MALFORMED),
    "NUL in a header": (get(LOOKUP, b"X-A: b\0c"), *MALFORMED),
    "CR in a header": (get(LOOKUP, b"X-A: b\rc"), *MALFORMED),
    "LF in a header": (get(LOOKUP, b"X-A: b\nX-B: c"), *MALFORMED),
    "DEL in a header": (get(LOOKUP, b"X-A: a\x7fb"), *MALFORMED),
    "a blank before the colon": (get(LOOKUP, b"X-A : b"), *MALFORMED),
    "a header without a name": (get(LOOKUP, b": b"), *MALFORMED),
    "a header without a colon": (get(LOOKUP, b"X-A"), *MALFORMED),
    "100 headers": (get(LOOKUP, *(b"X-%d: 1" % number for number in range(100))), *LARGE),
    "a header of 20 KB": (get(LOOKUP, b"X-A: " + b"a" * 20_480), *LARGE),
    "an address of 10 KB": (get(b"/" + b"x" * 10_240), *LARGE),
    "a query of 10 KB": (get(JOBS + b"?" + b"a" * 10_240), *LARGE),
    "another scheme": (get(b"ftp://x/api/ext/login"), *METHOD),
    "a tunnel": (get(b"evil.example:443", method=b"CONNECT"), *NOWHERE),
    "a host for an address": (get(b"evil.example:443"), *MALFORMED),
    "an asterisk": (get(b"*"), *MALFORMED),
    "an asterisk with OPTIONS": (get(b"*", method=b"OPTIONS"), *NOWHERE),
    "two slashes inside": (get(b"/api//ext/session"), *NOWHERE),
    "a slash behind": (get(b"/api/ext/session/"), *NOWHERE),
    "a way up": (get(b"/api/ext/../ext/session"), *NOWHERE),
    "a way up in escapes": (get(b"/api/ext/%2e%2e/ext/session"), *NOWHERE),
    "a way out of the docs": (get(b"/docs/assets/../../../../etc/passwd"), *NOWHERE),
    "a way out in escapes": (get(b"/docs/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd"), *NOWHERE),
    "a way out with slashes": (get(b"/docs/assets/..%2f..%2f..%2fetc%2fpasswd"), *NOWHERE),
    "a way out with backslashes": (get(b"/docs/assets/..%5c..%5c..%5cetc%5cpasswd"), *NOWHERE),
    "a long name in the docs": (get(b"/docs/assets/" + b"a" * 3_000), *NOWHERE),
    "NUL in the docs": (get(b"/docs/assets/a%00b"), *NOWHERE),
    "NUL in the path": (get(b"/api/ext/session%00"), *NOWHERE),
    "NUL in an id": (get(b"/api/keys/%00", method=b"DELETE"), *NOWHERE),
    "bytes in an id": (get(b"/api/keys/%ff%fe", method=b"DELETE"), *NOWHERE),
    "raw bytes in an id": (get(b"/api/keys/\xff\xfe", method=b"DELETE"), *MALFORMED),
    "NUL in a code": (get(b"/problems/%00"), *NOWHERE),
    "a bad escape": (get(b"/api/ext/%zz"), *NOWHERE),
    "a semicolon": (get(b"/api/ext/session;a=b"), *NOWHERE),
    "a blank": (get(b"/api/ext/ses sion"), *MALFORMED),
    "NUL for an id": (get(JOBS + b"?id=%00"), 404, "job_not_found"),
    "bytes for an id": (get(JOBS + b"?id=%ff%fe"), 404, "job_not_found"),
    "a wildcard for an id": (get(JOBS + b"?id=job_%25"), 404, "job_not_found"),
    "10,000 waits": (get(JOBS + b"?id=job_0", b"Prefer: " + b"wait=1," * 1_000), 404, "job_not_found"),
    "NUL for a cursor": (get(JOBS + b"?cursor=%00"), *INVALID),
    "a wildcard for a cursor": (get(JOBS + b"?cursor=%25"), *INVALID),
    "bytes for a cursor": (get(JOBS + b"?cursor=%ff"), *INVALID),
    "a bad escape for a cursor": (get(JOBS + b"?cursor=%zz"), *INVALID),
    "a wildcard for a status": (get(JOBS + b"?status=%25"), *INVALID),
    "-1": (get(JOBS + b"?limit=-1"), *INVALID),
    "0": (get(JOBS + b"?limit=0"), *INVALID),
    "101": (get(JOBS + b"?limit=101"), *INVALID),
    "10^20": (get(JOBS + b"?limit=1" + b"0" * 20), *INVALID),
    "3,000 digits": (get(JOBS + b"?limit=" + b"9" * 3_000), *INVALID),
    "1e3 in a query": (get(JOBS + b"?limit=1e3"), *INVALID),
    "1.5": (get(JOBS + b"?limit=1.5"), *INVALID),
    "1.0": (get(JOBS + b"?limit=1.0"), *INVALID),
    "0x10": (get(JOBS + b"?limit=0x10"), *INVALID),
    "1_0": (get(JOBS + b"?limit=1_0"), *INVALID),
    "a blank and 10": (get(JOBS + b"?limit=%2010"), *INVALID),
    "Arabic digits": (get(JOBS + b"?limit=%D9%A3"), *INVALID),
    "two limits, the first bad": (get(JOBS + b"?limit=x&limit=1"), *INVALID),
    "no limit": (get(JOBS + b"?limit="), *INVALID),
    "a lead's cursor": (sized(HASH % b'"cursor": "%"', target=LEADS), *INVALID),
    "a department of wildcards": (sized(HASH % b'"department": "%_\\u0000"', target=LEADS), *INVALID),
    "TRACE": (get(method=b"TRACE"), *METHOD),
    "PUT": (get(method=b"PUT"), *METHOD),
    "BREW": (get(method=b"BREW"), *METHOD),
    "a method in lower case": (get(method=b"get"), *MALFORMED),
    "a method of 300 letters": (get(method=b"A" * 300), *MALFORMED),
    "a method with a tab": (get(method=b"G\tT"), *MALFORMED),
    "HTTP/0.9": (b"GET /api/ext/session\r\n", *MALFORMED),
    "HTTP/2.0": (get(version=b"HTTP/2.0"), *MALFORMED),
    "HTTP/1.1.1": (get(version=b"HTTP/1.1.1"), *MALFORMED),
    "an unknown protocol": (get(version=b"SIP/2.0"), *MALFORMED),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", *MALFORMED),
    "an expectation": (sized(PERSON, b"Expect: tea"), *MALFORMED),
    "no host": (get(host=b""), *MALFORMED),
    "an empty host": (get(host=b"Host: "), *MALFORMED),
    "two hosts": (get(LOOKUP, b"Host: y"), *MALFORMED),
    "a host of markup": (get(host=b'Host: a"><script>'), *MALFORMED),
    "a host with a blank": (get(host=b"Host: a b"), *MALFORMED),
    "a host with a path": (get(host=b"Host: a/b"), *MALFORMED),
    "a host with a user": (get(host=b"Host: a@b"), *MALFORMED),
    "a host of 5,000 letters": (get(host=b"Host: " + b"a" * 5_000), *MALFORMED),
    "a host with a huge port": (get(host=b"Host: a:999999"), *MALFORMED),
    "a host of bytes": (get(host=b"Host: \xff\xfe"), *MALFORMED),
    "no token": (get(authorization=b""), *MISSING),
    "an empty token": (get(authorization=b"Authorization: "), *MISSING),
    "Bearer alone": (get(authorization=b"Authorization: Bearer"), *MISSING),
    "Basic": (get(authorization=b"Authorization: Basic YTpi"), *MISSING),
    "bad Basic": (get(authorization=b"Authorization: Basic %%%"), *MISSING),
    "Digest": (get(authorization=b'Authorization: Digest username="a'), *MISSING),
    "a token with =": (get(authorization=b"Authorization: Bearer a=b"), *TOKENS),
    "a padded token": (get(authorization=b"Authorization: Bearer abc=="), *TOKENS),
    "a token of bytes": (get(authorization=b"Authorization: Bearer \xff\xe9"), *TOKENS),
    "a token of 7 KB": (get(authorization=b"Authorization: Bearer " + b"a" * 7_000), *TOKENS),
    "a token of 10 KB": (get(authorization=b"Authorization: Bearer " + b"a" * 10_240), *LARGE),
    "two tokens": (get(b"/api/ext/session", b"Authorization: Bearer x"), *TOKENS),
    "a key of letters": (sized(PERSON, "Idempotency-Key: ключ".encode()), *INVALID),
    "a key of 256": (sized(PERSON, b"Idempotency-Key: " + b"k" * 256), *INVALID),
    "a key with a tab": (sized(PERSON, b"Idempotency-Key: a\tb"), *INVALID),
    "a bad key of what is not kept": (
        sized(b'{"prefix": "00ff"}', b"Idempotency-Key: ", target=b"/api/ext/company-by-hash"),
        *INVALID,
    ),
    "an empty key": (sized(PERSON, b"Idempotency-Key: "), *INVALID),
    "two keys": (
        sized(PERSON, b"Idempotency-Key: " + b"a" * 200, b"Idempotency-Key: " + b"b" * 200),
        *INVALID,
    ),
}


@pytest.mark.parametrize(("sent", "status", "code"), REQUESTS.values(), ids=REQUESTS)
def test_a_bad_request_gets_its_own_error(
    stack: Stack, token: str, sent: bytes, status: int, code: str
) -> None:
    answer = ask(stack, sent, token)

    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (answer.code, answer.body["request_id"]) == (code, answer.headers["x-request-id"])
    assert answer.headers.keys() >= ALWAYS
    assert "evil.example" not in answer.raw.decode("latin-1")


ODD = {
    "an absolute address": get(b"http://evil.example/api/ext/session"),
    "two slashes in front": get(b"//api/ext/session"),
    "a fragment": get(b"/api/ext/session#evil.example"),
    "HTTP/1.0 without a host": get(version=b"HTTP/1.0", host=b""),
    "an address in brackets": get(host=b"Host: [::1]:8000"),
    "a foreign host": get(host=b"Host: evil.example"),
    "what a proxy might say": get(
        b"/api/ext/session",
        b"X-Forwarded-Host: evil.example",
        b"Forwarded: host=evil.example",
        b"X-Forwarded-Prefix: /evil.example",
        b"X-Original-URL: /evil.example",
        b"X-HTTP-Method-Override: DELETE",
    ),
    "the name of a variable": get(b"/api/ext/session", b"REMOTE_USER: evil.example", b"X_A: 1"),
    "two limits": get(JOBS + b"?limit=1&limit=2"),
    "300 parameters": get(JOBS + b"?" + b"&".join(b"a%d=" % number for number in range(300))),
    "a weird preference": get(JOBS, b'Prefer: wait=\xff, wait=-1, wait=1e3;;;,,=, wait="99999999999"'),
    "an id of the request with markup": get(b"/api/ext/session", b"X-Request-Id: evil.example<script>"),
    "an id of the request of 7 KB": get(b"/api/ext/session", b"X-Request-Id: " + b"a" * 7_000),
    "an id of the request of bytes": get(b"/api/ext/session", b"X-Request-Id: \xff"),
    "an expectation that is known": sized(PERSON, b"Expect: 100-continue", target=LOOKUP),
    "chunks": chunked(PERSON_CHUNK).replace(b"/reveal/email", b"/lookup"),
    "a chunk extension": chunked(PERSON_CHUNK.replace(b"\r\n", b";a=b\r\n", 1)).replace(
        b"/reveal/email", b"/lookup"
    ),
    "a trailer": chunked(chunk(PERSON, b"0\r\nX-Tr: 1\r\n\r\n")).replace(b"/reveal/email", b"/lookup"),
}


@pytest.mark.parametrize("sent", ODD.values(), ids=ODD)
def test_what_is_only_odd_is_answered_and_not_repeated(stack: Stack, token: str, sent: bytes) -> None:
    answer = ask(stack, sent, token)

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "evil.example" not in answer.raw.decode("latin-1")
    assert len(answer.headers["x-request-id"]) == len("req_") + 24


def test_the_docs_and_the_document_name_no_host_they_were_asked_by(stack: Stack, token: str) -> None:
    pages = [
        exchange(stack, get(path, host=b"Host: evil.example"), token) for path in (b"/docs", b"/openapi.json")
    ]

    assert [page.split(b"\r\n")[0] for page in pages] == [b"HTTP/1.1 200 OK"] * 2
    assert not any(b"evil.example" in page for page in pages)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n\r\n\r\n",
        b"\0\1\2\3\r\n\r\n",
        bytes.fromhex("16030100ee010000ea0303") + b"\1" * 220,
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"GET",
    ],
    ids=["nothing", "blank lines", "bytes", "TLS", "SSH", "Redis", "half a word"],
)
def test_what_is_no_http_is_refused_or_hung_up_on(stack: Stack, token: str, sent: bytes) -> None:
    answer = exchange(stack, sent, token)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert b"<html" not in answer


def test_a_request_hidden_in_the_body_of_another_is_not_answered(stack: Stack, token: str) -> None:
    hidden = get(b"/healthz")
    smuggled = sized(b"0\r\n\r\n" + hidden, b"Transfer-Encoding: chunked").replace(
        b"Connection: close\r\n", b""
    )

    answer = exchange(stack, smuggled, token)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


LARGE_BODIES = {
    "with a length": sized(b'{"a": "' + b"x" * TEN_MB + b'"}'),
    "in chunks": chunked(chunk(b" " * 65_536, b"") * 160 + b"0\r\n\r\n"),
    "in one chunk": chunked(chunk(b" " * TEN_MB)),
    "of another type": sized(b"x" * TEN_MB, kind=b"text/plain"),
}


@pytest.mark.parametrize("sent", LARGE_BODIES.values(), ids=LARGE_BODIES)
def test_ten_megabytes_are_refused_at_once_and_kept_nowhere(stack: Stack, token: str, sent: bytes) -> None:
    kept_open = sent.replace(b"Connection: close\r\n", b"")
    before, started = memory(stack), time.monotonic()

    answers = [ask(stack, kept_open, token, hang_up=False) for _ in range(3)]

    assert [(answer.status, answer.code) for answer in answers] == [LARGE] * 3
    assert time.monotonic() - started < 30
    assert memory(stack) - before < 20_000_000


RIGHT_TO_LEFT, ZERO_WIDTH = "\u202e", "\u200b\u2060\ufeff"
ODD_VALUES = {
    "email": (
        *("%@%", "_@_.example", "a@b", "@", "a@", "a b@c.example", "a@b@c.example", "a@[127.0.0.1]"),
        *('"a b"@c.example', "a(b)@c.example", "a@-b.example", "a@b..example", ".a@b.example"),
        *("a\r\nBcc: b@c.example@d.example", "аdmin@acme.example", f"a{RIGHT_TO_LEFT}@b.example"),
        *(
            f"a{ZERO_WIDTH}@b.example",
            "a@ｂ.example",
            "a@" + "b." * 500 + "example",
            "a" * 2_000 + "@b.example",
        ),
        *(
            "a@xn--a.example",
            "a@\u2603.example",
            "a@b.example\u0085",
            "' OR 1=1 --@b.example",
            "a@b.example;drop",
        ),
    ),
    "linkedin_url": (
        *("javascript:alert(1)", "file:///etc/passwd", "http://[::1", "http://a:99999/in/b", "//", "http://"),
        *("https://www.linkedin.com/in/", "https://www.linkedin.com/in/%", "https://www.linkedin.com/in/%00"),
        *(
            "https://www.linkedin.com/in/%ff",
            "https://www.linkedin.com/in/..%2f..",
            "https://linkedin.com:x/in/a",
        ),
        *("https://www.linkedin.com@evil.example/in/a", "https://www.linkedin.com\\@evil.example/in/a"),
        *(f"https://www.linkedin.com/in/{RIGHT_TO_LEFT}a", "https://www.linkedin.com/in/" + "a" * 2_000),
        *(
            "https://www.linkedin.com/in/%25_",
            "https://ｗｗｗ.linkedin.com/in/a",
            "https://www.linkedin.com/in/e\u0301",
        ),
    ),
    "phone": (
        *("+", "+1", "0", "+" * 500, "+1" + "2" * 1_000, "+1202555019\u0663", "tel:+12025550193;ext=\u202e1"),
        *("+12025550193;DROP", "+1 (202) 555-0193 x" + "9" * 100, "%", "００１１２３", "+\u200b12025550193"),
    ),
    "company_domain": (
        "%",
        "..",
        "a..b",
        "http://",
        "127.0.0.1",
        "[::1]",
        "xn--",
        "a" * 2_000,
        "\u2603",
        "com",
    ),
    "full_name": (
        *(
            "%",
            "_",
            "\\",
            "'",
            '"; DROP TABLE contacts; --',
            "\u202eadA",
            ZERO_WIDTH + "A",
            "Zoe\u0308",
            "Zoë",
        ),
        *(
            "\ufdfa" * 400,
            "a" * 500,
            "👩‍👩‍👧‍👦" * 50,
            "\u0301" * 400,
            "İ" * 500,
            "ß" * 500,
            "<script>",
            "{{7*7}}",
            "${7*7}",
        ),
        *("\x01\x1b[31m", "\u2028\u2029", "NULL", "None", "\ufffe\uffff", "𒐫" * 400),
    ),
    "company_name": ("%", "_%", "\\%", "%" * 500, "\u202e", "ⅷ" * 500),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in ODD_VALUES.items() for value in values],
    ids=[f"{name} {number}" for name, values in ODD_VALUES.items() for number in range(len(values))],
)
def test_odd_words_are_read_or_refused_and_stand_for_nobody(
    stack: Stack, token: str, name: str, value: str
) -> None:
    subject = {"full_name": "%", "company_name": "%", name: value}

    answer = ask(stack, sized(json.dumps({"subject": subject}).encode(), target=LOOKUP), token)

    told = answer.body.get("outcome", answer.body.get("code"))
    assert (answer.status, told) in {(200, "none"), INVALID, (422, "not_a_profile_url")}
    assert answer.headers["content-type"] in {"application/json", "application/problem+json"}


HASHES = [
    "%" * 64,
    "_" * 64,
    "０" * 64,
    "٣" * 64,
    "0" * 63,
    "0" * 65,
    "A" * 64,
    " " + "0" * 63,
    "0" * 63 + "\n",
    "",
]


@pytest.mark.parametrize("digest", HASHES, ids=range(len(HASHES)))
@pytest.mark.parametrize("name", ["hash", "hashes", "prefix"])
def test_odd_hashes_are_no_hashes(stack: Stack, token: str, name: str, digest: str) -> None:
    sent = {"hashes": [digest]} if name == "hashes" else {name: digest}

    answer = ask(stack, sized(json.dumps(sent).encode(), target=b"/api/ext/company-by-hash"), token)

    assert (answer.status, answer.code) == (422, "bad_hash")


def test_wildcards_of_the_database_match_themselves_only(stack: Stack, token: str) -> None:
    stack.contacts(1)
    saved = {
        "profile": {"linkedin_url": "https://www.linkedin.com/in/wild"},
        "list": "a_%",
        "tags": ["%", "_", "\\"],
    }

    kept = ask(stack, sized(json.dumps(saved).encode(), target=b"/api/ext/linkedin-save"), token)
    anybody = [
        ask(stack, sized(json.dumps({"subject": subject}).encode(), target=LOOKUP), token).body["outcome"]
        for subject in (
            {"full_name": "Person %", "company_name": "%"},
            {"full_name": "Person ______ _", "company_name": "%"},
            {"first_name": "%", "last_name": "%", "company_name": "_"},
            {"email": "%@a.example"},
            {"email": "p_@a.example"},
        )
    ]
    nobodys_job = ask(stack, get(JOBS + b"?id=job_" + b"_" * 24), token)

    assert (kept.body["saved_profile"]["list"], kept.body["saved_profile"]["tags"]) == (
        "a_%",
        ["%", "_", "\\"],
    )
    assert anybody == ["none"] * 5
    assert (nobodys_job.status, nobodys_job.code) == (404, "job_not_found")


def test_a_sign_in_of_bad_words_is_refused_like_any_other(stack: Stack, token: str) -> None:
    words = [
        {"email": "a@b.example", "password": "x" * 10_000},
        {"email": "a@b.example", "password": ["x"]},
        {"email": "a@b.example", "password": "x", "client": {"name": "\u202e" * 101}},
        {"email": "a@b.example", "password": "\u0000"},
    ]

    answers = [ask(stack, sized(json.dumps(word).encode(), target=LOGIN), token) for word in words]

    assert [(answer.status, answer.code) for answer in answers] == [INVALID] * 4

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
from raw_support import PERSON, chunk, chunked, exchange, get, memory, post, send, sized
from sqlalchemy import func, select

from app.engine.accounts import workspaces
from app.engine.jobs.jobs import Job

pytestmark = pytest.mark.any_database

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
    return stack.create_workspace(grant=50)


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
        balance = workspaces.balance(session, workspace_id)
    return int(jobs or 0), balance.available, balance.held


def body(value: object) -> bytes:
    """Return a reveal request for an unknown person with these fields changed."""
    return json.dumps({**json.loads(PERSON), **value}).encode() if isinstance(value, dict) else b""


INVALID_BODIES = {
    "nothing": (b"", *MALFORMED),
    "not JSON": (b"{", *MALFORMED),
    "a list": (b"[]", *MALFORMED),
    "null": (b"null", *MALFORMED),
    "a number": (b"7", *MALFORMED),
    "a string": (b'"text"', *MALFORMED),
    "two objects": (PERSON + PERSON, *MALFORMED),
    "a form": (b"subject=ada", *MALFORMED),
    "a comment": (PERSON[:-1] + b"/* */}", *MALFORMED),
    "a trailing comma": (PERSON[:-1] + b",}", *MALFORMED),
    "a byte order mark": (b"\xef\xbb\xbf" + PERSON, *MALFORMED),
    "UTF-16": (PERSON.decode().encode("utf-16"), *MALFORMED),
    "Latin-1": ('{"subject": {"email": "zoë@a.example"}}'.encode("latin-1"), *MALFORMED),
    "not UTF-8": (b'{"subject": "\xff"}', *MALFORMED),
    "overlong UTF-8": (b'{"subject": {"full_name": "\xc0\x80"}}', *MALFORMED),
    "30,000 opening brackets": (b'{"a":' + b"[" * 30_000, *MALFORMED),
    "30,000 nested lists": (b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}", *MALFORMED),
    "30,000 nested objects": (b'{"a":' * 30_000 + b"1" + b"}" * 30_000, *MALFORMED),
    "NaN": (b'{"max_age_days": NaN}', *MALFORMED),
    "Infinity": (b'{"max_age_days": -Infinity}', *MALFORMED),
    "5,000 digits": (b'{"max_age_days": ' + b"9" * 5_000 + b"}", *MALFORMED),
    "a duplicate key": (PERSON[:-1] + b', "subject": {"email": "a@b.example"}}', *MALFORMED),
    "a duplicate nested key": (b'{"subject": {"email": "a@b.example", "email": "c@d.example"}}', *MALFORMED),
    "beyond 64 bits": (b'{"max_age_days": 99999999999999999999}', *INVALID),
    "1e999": (b'{"max_age_days": 1e999}', *INVALID),
    "NUL": (b'{"subject": {"full_name": "a\\u0000"}}', *INVALID),
    "half a surrogate": (b'{"subject": {"full_name": "\\ud800"}}', *INVALID),
    "half a surrogate in a key": (b'{"\\ud800": 1}', *INVALID),
    "an unknown field": (body({"admin": True}), *INVALID),
    "__proto__": (body({"__proto__": {"price": 0}}), *INVALID),
    "a string for an object": (b'{"subject": "ada"}', *INVALID),
    "a number for a string": (b'{"subject": {"full_name": 7}}', *INVALID),
    "a list for a string": (b'{"subject": {"full_name": ["a"]}}', *INVALID),
    "an object for a number": (body({"max_age_days": {}}), *INVALID),
    "a list for a number": (body({"max_age_days": [1]}), *INVALID),
    "a string for a number": (body({"max_age_days": "90"}), *INVALID),
    "true for a number": (body({"max_age_days": True}), *INVALID),
    "a fraction": (body({"max_age_days": 1.5}), *INVALID),
    "1e3": (PERSON[:-1] + b', "max_age_days": 1e3}', *INVALID),
    "zero": (body({"max_age_days": 0}), *INVALID),
    "a negative number": (body({"max_age_days": -1}), *INVALID),
    "a huge number": (body({"max_age_days": 2**62}), *INVALID),
    "a string for a list": (body({"types": "work"}), *INVALID),
    "an empty list": (body({"types": []}), *INVALID),
    "a thousand types": (body({"types": ["work"] * 1000}), *INVALID),
    "an object in a list": (body({"types": [{}]}), *INVALID),
    "an empty string": (b'{"subject": {"full_name": ""}}', *INVALID),
    "white space": (b'{"subject": {"full_name": " \\u3000\\t"}}', *INVALID),
    "10,000 characters": (b'{"subject": {"full_name": "' + b"a" * 10_000 + b'"}}', *INVALID),
    "too few identifiers": (b'{"subject": {"first_name": "Ada"}}', 422, "insufficient_identifiers"),
    "only nulls": (b'{"subject": {"email": null}}', 422, "insufficient_identifiers"),
    "not a profile URL": (
        b'{"subject": {"linkedin_url": "https://a.example/in/b"}}',
        422,
        "not_a_profile_url",
    ),
    "an unknown contact": (b'{"subject": {"contact_id": "con_0"}}', 404, "contact_not_found"),
    "a wildcard for a contact": (b'{"subject": {"contact_id": "con_%"}}', 404, "contact_not_found"),
    "too large": (b'{"a": "' + b"a" * 300_000 + b'"}', *LARGE),
}


@pytest.mark.parametrize(("request_bytes", "status", "code"), INVALID_BODIES.values(), ids=INVALID_BODIES)
def test_an_invalid_body_gets_its_documented_error(
    stack: Stack, token: str, request_bytes: bytes, status: int, code: str
) -> None:
    response = send(stack, sized(request_bytes), token)

    assert (response.status, response.headers["content-type"]) == (status, "application/problem+json")
    assert (response.code, response.body["status"]) == (code, status)
    assert response.body["detail"]


PERSON_CHUNK = chunk(PERSON)
INVALID_FRAMING = {
    "gzip": (sized(gzip.compress(PERSON), b"Content-Encoding: gzip"), *MEDIA),
    "a gzip bomb": (sized(gzip.compress(b" " * 10**7), b"Content-Encoding: gzip"), *MEDIA),
    "a wrong content coding": (sized(PERSON, b"Content-Encoding: br"), *MEDIA),
    "another charset": (sized(PERSON, kind=b"application/json; charset=utf-16"), *MEDIA),
    "no type": (sized(PERSON, kind=b""), *MEDIA),
    "an invalid type": (sized(PERSON, kind=b";;;=\xff"), *MEDIA),
    "a string": (sized(PERSON, kind=b"text/plain"), *MEDIA),
    "multipart": (sized(PERSON, kind=b"multipart/form-data; boundary=x"), *MEDIA),
    "no length": (post(PERSON), *MALFORMED),
    "a length that is not a number": (post(PERSON, b"Content-Length: ten"), *MALFORMED),
    "a negative length": (post(PERSON, b"Content-Length: -5"), *MALFORMED),
    "a length with a sign": (post(PERSON, b"Content-Length: +%d" % len(PERSON)), *MALFORMED),
    "a length of 23 digits": (post(PERSON, b"Content-Length: " + b"9" * 23), *LARGE),
    "two lengths": (sized(PERSON, b"Content-Length: 3"), *MALFORMED),
    "the same length twice": (sized(PERSON, b"Content-Length: %d" % len(PERSON)), *MALFORMED),
    "a list of lengths": (post(PERSON, b"Content-Length: 3, 3"), *MALFORMED),
    "a shorter length": (post(PERSON, b"Content-Length: %d" % (len(PERSON) - 3)), *MALFORMED),
    "a longer length": (post(PERSON, b"Content-Length: %d" % (len(PERSON) + 3)), *MALFORMED),
    "length and chunks": (sized(PERSON_CHUNK, b"Transfer-Encoding: chunked"), *MALFORMED),
    "chunks twice": (chunked(PERSON_CHUNK, b"Transfer-Encoding: chunked"), *MALFORMED),
    "chunks over HTTP/1.0": (chunked(PERSON_CHUNK).replace(b"HTTP/1.1", b"HTTP/1.0"), *MALFORMED),
    "gzip and chunks": (post(PERSON_CHUNK, b"Transfer-Encoding: gzip, chunked"), *MEDIA),
    "an unsupported transfer coding": (post(PERSON, b"Transfer-Encoding: identity"), *MALFORMED),
    "an unknown transfer coding": (post(PERSON_CHUNK, b"Transfer-Encoding: xchunked"), *MALFORMED),
    "a vertical tab before the coding": (post(PERSON_CHUNK, b"Transfer-Encoding:\x0bchunked"), *MALFORMED),
    "a chunk size that is not a number": (chunked(b"zz\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "a negative chunk size": (chunked(b"-5\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "a chunk size with 0x": (chunked(b"0x" + PERSON_CHUNK), *MALFORMED),
    "a chunk size of 20 digits": (chunked(b"f" * 20 + b"\r\n" + PERSON), *MALFORMED),
    "a chunk longer than its size": (chunked(b"9\r\n" + PERSON + b"\r\n0\r\n\r\n"), *MALFORMED),
    "an incomplete chunk": (chunked(b"%x\r\n" % len(PERSON) + PERSON), *MALFORMED),
    "no last chunk": (chunked(chunk(PERSON, b"")), *MALFORMED),
    "line feeds without carriage returns": (chunked(PERSON_CHUNK.replace(b"\r\n", b"\n")), *MALFORMED),
    "a bad trailer": (chunked(chunk(PERSON, b"0\r\nBad Trailer\r\n\r\n")), *MALFORMED),
    "a trailer with a length": (chunked(chunk(PERSON, b"0\r\nContent-Length: 5\r\n\r\n")), *MALFORMED),
    "an endless chunk extension": (chunked(b"4;" + b"a" * 20_000 + b"\r\n"), *MALFORMED),
}


@pytest.mark.parametrize(("request_bytes", "status", "code"), INVALID_FRAMING.values(), ids=INVALID_FRAMING)
def test_a_body_with_invalid_framing_is_refused(
    stack: Stack, token: str, request_bytes: bytes, status: int, code: str
) -> None:
    response = send(stack, request_bytes, token)

    assert (response.status, response.headers["content-type"]) == (status, "application/problem+json")
    assert response.code == code
    assert response.raw.count(b"HTTP/1.1 ") == 1


HASH = b'{"hash": "' + b"0" * 64 + b'", %s}'
MISSING, TOKENS = (401, "missing_token"), (401, "invalid_token")
INVALID_REQUESTS = {
    "a folded header": (get(LOOKUP, b"X-A: b\r\n c"), *MALFORMED),
    "NUL in a header": (get(LOOKUP, b"X-A: b\0c"), *MALFORMED),
    "CR in a header": (get(LOOKUP, b"X-A: b\rc"), *MALFORMED),
    "LF in a header": (get(LOOKUP, b"X-A: b\nX-B: c"), *MALFORMED),
    "DEL in a header": (get(LOOKUP, b"X-A: a\x7fb"), *MALFORMED),
    "a space before the colon": (get(LOOKUP, b"X-A : b"), *MALFORMED),
    "a header without a name": (get(LOOKUP, b": b"), *MALFORMED),
    "a header without a colon": (get(LOOKUP, b"X-A"), *MALFORMED),
    "100 headers": (get(LOOKUP, *(b"X-%d: 1" % number for number in range(100))), *LARGE),
    "a header of 20 KB": (get(LOOKUP, b"X-A: " + b"a" * 20_480), *LARGE),
    "a path of 10 KB": (get(b"/" + b"x" * 10_240), *LARGE),
    "a query of 10 KB": (get(JOBS + b"?" + b"a" * 10_240), *LARGE),
    "another scheme": (get(b"ftp://x/api/ext/login"), *METHOD),
    "CONNECT": (get(b"evil.example:443", method=b"CONNECT"), *NOWHERE),
    "a host as target": (get(b"evil.example:443"), *MALFORMED),
    "an asterisk": (get(b"*"), *MALFORMED),
    "an asterisk with OPTIONS": (get(b"*", method=b"OPTIONS"), *NOWHERE),
    "two slashes in the path": (get(b"/api//ext/session"), *NOWHERE),
    "a trailing slash": (get(b"/api/ext/session/"), *NOWHERE),
    "a parent path": (get(b"/api/ext/../ext/session"), *NOWHERE),
    "an escaped parent path": (get(b"/api/ext/%2e%2e/ext/session"), *NOWHERE),
    "path traversal from the docs": (get(b"/docs/assets/../../../../etc/passwd"), *NOWHERE),
    "path traversal, escaped": (get(b"/docs/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd"), *NOWHERE),
    "path traversal, escaped slashes": (get(b"/docs/assets/..%2f..%2f..%2fetc%2fpasswd"), *NOWHERE),
    "path traversal, escaped backslashes": (get(b"/docs/assets/..%5c..%5c..%5cetc%5cpasswd"), *NOWHERE),
    "a long name in the docs": (get(b"/docs/assets/" + b"a" * 3_000), *NOWHERE),
    "NUL in the docs": (get(b"/docs/assets/a%00b"), *NOWHERE),
    "NUL in the path": (get(b"/api/ext/session%00"), *NOWHERE),
    "NUL in an id": (get(b"/api/keys/%00", method=b"DELETE"), *NOWHERE),
    "bytes in an id": (get(b"/api/keys/%ff%fe", method=b"DELETE"), *NOWHERE),
    "raw bytes in an id": (get(b"/api/keys/\xff\xfe", method=b"DELETE"), *MALFORMED),
    "NUL in a code": (get(b"/problems/%00"), *NOWHERE),
    "a bad escape": (get(b"/api/ext/%zz"), *NOWHERE),
    "a semicolon": (get(b"/api/ext/session;a=b"), *NOWHERE),
    "a space in the path": (get(b"/api/ext/ses sion"), *MALFORMED),
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
    "a space and 10": (get(JOBS + b"?limit=%2010"), *INVALID),
    "Arabic digits": (get(JOBS + b"?limit=%D9%A3"), *INVALID),
    "two limits, the first bad": (get(JOBS + b"?limit=x&limit=1"), *INVALID),
    "an empty limit": (get(JOBS + b"?limit="), *INVALID),
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
    "a host with a space": (get(host=b"Host: a b"), *MALFORMED),
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
    "a key of non-ASCII letters": (sized(PERSON, "Idempotency-Key: ключ".encode()), *INVALID),
    "a key of 256": (sized(PERSON, b"Idempotency-Key: " + b"k" * 256), *INVALID),
    "a key with a tab": (sized(PERSON, b"Idempotency-Key: a\tb"), *INVALID),
    "an empty key for a request that is not stored": (
        sized(b'{"prefix": "ff"}', b"Idempotency-Key: ", target=b"/api/ext/company-by-hash"),
        *INVALID,
    ),
    "an empty key": (sized(PERSON, b"Idempotency-Key: "), *INVALID),
    "two keys": (
        sized(PERSON, b"Idempotency-Key: " + b"a" * 200, b"Idempotency-Key: " + b"b" * 200),
        *INVALID,
    ),
}


@pytest.mark.parametrize(("request_bytes", "status", "code"), INVALID_REQUESTS.values(), ids=INVALID_REQUESTS)
def test_an_invalid_request_gets_its_documented_error(
    stack: Stack, token: str, request_bytes: bytes, status: int, code: str
) -> None:
    response = send(stack, request_bytes, token)

    assert (response.status, response.headers["content-type"]) == (status, "application/problem+json")
    assert (response.code, response.body["request_id"]) == (code, response.headers["x-request-id"])
    assert response.headers.keys() >= ALWAYS
    assert "evil.example" not in response.raw.decode("latin-1")


UNUSUAL = {
    "an absolute target": get(b"http://evil.example/api/ext/session"),
    "two leading slashes": get(b"//api/ext/session"),
    "a fragment": get(b"/api/ext/session#evil.example"),
    "HTTP/1.0 without a host": get(version=b"HTTP/1.0", host=b""),
    "an address in brackets": get(host=b"Host: [::1]:8000"),
    "a foreign host": get(host=b"Host: evil.example"),
    "headers of a proxy": get(
        b"/api/ext/session",
        b"X-Forwarded-Host: evil.example",
        b"Forwarded: host=evil.example",
        b"X-Forwarded-Prefix: /evil.example",
        b"X-Original-URL: /evil.example",
        b"X-HTTP-Method-Override: DELETE",
    ),
    "a header that looks like a WSGI variable": get(
        b"/api/ext/session", b"REMOTE_USER: evil.example", b"X_A: 1"
    ),
    "two limits": get(JOBS + b"?limit=1&limit=2"),
    "300 parameters": get(JOBS + b"?" + b"&".join(b"a%d=" % number for number in range(300))),
    "invalid preferences": get(JOBS, b'Prefer: wait=\xff, wait=-1, wait=1e3;;;,,=, wait="99999999999"'),
    "a request id with markup": get(b"/api/ext/session", b"X-Request-Id: evil.example<script>"),
    "a request id of 7 KB": get(b"/api/ext/session", b"X-Request-Id: " + b"a" * 7_000),
    "a request id of bytes": get(b"/api/ext/session", b"X-Request-Id: \xff"),
    "Expect: 100-continue": sized(PERSON, b"Expect: 100-continue", target=LOOKUP),
    "chunks": chunked(PERSON_CHUNK).replace(b"/reveal/email", b"/lookup"),
    "a chunk extension": chunked(PERSON_CHUNK.replace(b"\r\n", b";a=b\r\n", 1)).replace(
        b"/reveal/email", b"/lookup"
    ),
    "a trailer": chunked(chunk(PERSON, b"0\r\nX-Tr: 1\r\n\r\n")).replace(b"/reveal/email", b"/lookup"),
}


@pytest.mark.parametrize("request_bytes", UNUSUAL.values(), ids=UNUSUAL)
def test_an_unusual_but_valid_request_is_answered_and_not_echoed(
    stack: Stack, token: str, request_bytes: bytes
) -> None:
    response = send(stack, request_bytes, token)

    assert (response.status, response.headers["content-type"]) == (200, "application/json")
    assert "evil.example" not in response.raw.decode("latin-1")
    assert len(response.headers["x-request-id"]) == len("req_") + 24


def test_the_docs_and_the_openapi_document_do_not_contain_the_host_header(stack: Stack, token: str) -> None:
    pages = [
        exchange(stack, get(path, host=b"Host: evil.example"), token) for path in (b"/docs", b"/openapi.json")
    ]

    assert [page.split(b"\r\n")[0] for page in pages] == [b"HTTP/1.1 200 OK"] * 2
    assert not any(b"evil.example" in page for page in pages)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"",
        b"\r\n\r\n\r\n",
        b"\0\1\2\3\r\n\r\n",
        bytes.fromhex("16030100ee010000ea0303") + b"\1" * 220,
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"GET",
    ],
    ids=["nothing", "blank lines", "bytes", "TLS", "SSH", "Redis", "an incomplete line"],
)
def test_bytes_that_are_not_http_are_refused_or_disconnected(
    stack: Stack, token: str, request_bytes: bytes
) -> None:
    response = exchange(stack, request_bytes, token)

    assert response == b"" or response.startswith(b"HTTP/1.1 400 ")
    assert b"<html" not in response


def test_a_request_hidden_in_the_body_of_another_is_not_answered(stack: Stack, token: str) -> None:
    hidden = get(b"/healthz")
    smuggled = sized(b"0\r\n\r\n" + hidden, b"Transfer-Encoding: chunked").replace(
        b"Connection: close\r\n", b""
    )

    response = exchange(stack, smuggled, token)

    assert response.startswith(b"HTTP/1.1 400 ")
    assert response.count(b"HTTP/1.1 ") == 1


LARGE_BODIES = {
    "with a length": sized(b'{"a": "' + b"x" * TEN_MB + b'"}'),
    "in chunks": chunked(chunk(b" " * 65_536, b"") * 160 + b"0\r\n\r\n"),
    "in one chunk": chunked(chunk(b" " * TEN_MB)),
    "with another type": sized(b"x" * TEN_MB, kind=b"text/plain"),
}


@pytest.mark.parametrize("request_bytes", LARGE_BODIES.values(), ids=LARGE_BODIES)
def test_a_body_of_ten_megabytes_is_refused_without_being_buffered(
    stack: Stack, token: str, request_bytes: bytes
) -> None:
    keep_alive = request_bytes.replace(b"Connection: close\r\n", b"")
    before, started = memory(stack), time.monotonic()

    responses = [send(stack, keep_alive, token, half_close=False) for _ in range(3)]

    assert [(response.status, response.code) for response in responses] == [LARGE] * 3
    assert time.monotonic() - started < 30
    assert memory(stack) - before < 20_000_000


RIGHT_TO_LEFT, ZERO_WIDTH = "\u202e", "\u200b\u2060\ufeff"
UNUSUAL_VALUES = {
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
    [(name, value) for name, values in UNUSUAL_VALUES.items() for value in values],
    ids=[f"{name} {number}" for name, values in UNUSUAL_VALUES.items() for number in range(len(values))],
)
def test_an_unusual_value_is_accepted_or_refused_and_matches_nobody(
    stack: Stack, token: str, name: str, value: str
) -> None:
    subject = {"full_name": "%", "company_name": "%", name: value}

    response = send(stack, sized(json.dumps({"subject": subject}).encode(), target=LOOKUP), token)

    result = response.body.get("outcome", response.body.get("code"))
    assert (response.status, result) in {
        (200, "none"),
        INVALID,
        (422, "not_a_profile_url"),
        (422, "insufficient_identifiers"),
    }
    assert response.headers["content-type"] in {"application/json", "application/problem+json"}


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
def test_a_malformed_hash_is_refused(stack: Stack, token: str, name: str, digest: str) -> None:
    request_body = {"hashes": [digest]} if name == "hashes" else {name: digest}

    response = send(
        stack, sized(json.dumps(request_body).encode(), target=b"/api/ext/company-by-hash"), token
    )

    assert (response.status, response.code) == (422, "bad_hash")


def test_sql_wildcards_match_only_themselves(stack: Stack, token: str) -> None:
    stack.create_contacts(1)
    saved = {
        "profile": {"linkedin_url": "https://www.linkedin.com/in/wild"},
        "list": "a_%",
        "tags": ["%", "_", "\\"],
    }

    response = send(stack, sized(json.dumps(saved).encode(), target=b"/api/ext/linkedin-save"), token)
    outcomes = [
        send(stack, sized(json.dumps({"subject": subject}).encode(), target=LOOKUP), token).body["outcome"]
        for subject in (
            {"full_name": "Person Low_", "company_name": "a%"},
            {"full_name": "Person L__", "company_name": "a%"},
            {"first_name": "An_", "last_name": "Low_", "company_name": "a_"},
            {"email": "__@a.example"},
            {"email": "p_@a.example"},
        )
    ]
    unknown_job = send(stack, get(JOBS + b"?id=job_" + b"_" * 24), token)

    assert (response.body["saved_profile"]["list"], response.body["saved_profile"]["tags"]) == (
        "a_%",
        ["%", "_", "\\"],
    )
    assert outcomes == ["none"] * 5
    assert (unknown_job.status, unknown_job.code) == (404, "job_not_found")


def test_a_sign_in_with_invalid_values_is_refused(stack: Stack, token: str) -> None:
    logins = [
        {"email": "a@b.example", "password": "x" * 10_000},
        {"email": "a@b.example", "password": ["x"]},
        {"email": "a@b.example", "password": "x", "client": {"name": "\u202e" * 101}},
        {"email": "a@b.example", "password": "\u0000"},
    ]

    responses = [send(stack, sized(json.dumps(login).encode(), target=LOGIN), token) for login in logins]

    assert [(response.status, response.code) for response in responses] == [INVALID] * 4

"""Reads the file of page rules, and signs what clients download."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from marshmallow import ValidationError

from app.features.page_rules import signing_keys
from app.features.page_rules.rule_schemas import HOST, NAME, RulesSchema
from app.provider_settings import SettingsError
from app.settings import Settings

SHIPPED = Path(__file__).with_name("rules.json")
MAX_BYTES = 200_000
ETAG_DIGITS = 32
FILE, OFF = "PAGE_RULES_FILE", "PAGE_RULES_OFF"


class PageRulesError(ValueError):
    """The text is not a file of page rules; the message says where and why."""


class SignedRules(NamedTuple):
    """The rules as JSON text, their signature in base64, and the entity tag of both."""

    rules: str
    signature: str
    etag: str


def parse(text: str) -> dict[str, Any]:
    """Return the rules of a file.

    Raises:
        PageRulesError: it is too long, not JSON, or does not follow the schema.

    """
    if len(text.encode()) > MAX_BYTES:
        raise PageRulesError(f"It has more than {MAX_BYTES:,} bytes.")
    try:
        rules = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PageRulesError(f"It is not JSON: {error}.") from error
    if not isinstance(rules, dict):
        raise PageRulesError("It is JSON, but not an object.")
    try:
        RulesSchema().load(rules)
    except ValidationError as error:
        raise PageRulesError("; ".join(_faults(error.messages, ""))) from error
    repeated = [name for name, count in Counter(names(rules)).items() if count > 1]
    if repeated:
        raise PageRulesError(f"Two rules have the name {repeated[0]}.")
    return rules


def _faults(messages: Any, pointer: str) -> list[str]:  # noqa: ANN401 -- marshmallow nests lists and objects
    if isinstance(messages, dict):
        return [fault for key, inner in messages.items() for fault in _faults(inner, f"{pointer}/{key}")]
    return [f"{pointer}: {' '.join(messages)}"]


def names(rules: dict[str, Any]) -> list[str]:
    """Return the names of all rules."""
    return [rule["name"] for rule in (*rules["sites"], *rules["generic"])]


def read(file: str, off: tuple[str, ...]) -> dict[str, Any]:
    """Return the rules of the file, or the shipped ones if it is empty, with `off` added to what is off.

    Raises:
        SettingsError: the file cannot be read or is invalid, or `off` has something else than names of rules
            and patterns of hosts.

    """
    path = Path(file) if file else SHIPPED
    try:
        rules = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{FILE}: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{FILE}: {path} is not UTF-8.") from error
    except PageRulesError as error:
        raise SettingsError(f"{FILE}: {path} is invalid. {error}") from error
    if unknown := unknown_off(rules, off):
        message = f"{OFF} has {unknown[0]!r}, which is neither a rule nor a host such as www.example.com."
        raise SettingsError(message)
    return rules | {"off": [*rules["off"], *off]}


def unknown_off(rules: dict[str, Any], off: tuple[str, ...]) -> list[str]:
    """Return what is neither the name of a rule nor the pattern of a host."""
    known = set(names(rules))
    return [text for text in off if text not in known and (re.match(NAME, text) or not re.match(HOST, text))]


def signed(settings: Settings) -> SignedRules:
    """Return the file that clients download; each process reads it once.

    Raises:
        SettingsError: as in `read`.

    """
    return _signed(settings.page_rules_file, settings.page_rules_off, signing_keys.seed(settings))


@lru_cache(maxsize=4)
def _signed(file: str, off: tuple[str, ...], seed: bytes) -> SignedRules:
    rules = json.dumps(read(file, off), ensure_ascii=False, separators=(",", ":"))
    signature = signing_keys.sign(seed, rules)
    etag = hashlib.sha256(f"{signature}{rules}".encode()).hexdigest()[:ETAG_DIGITS]
    return SignedRules(rules, signature, etag)

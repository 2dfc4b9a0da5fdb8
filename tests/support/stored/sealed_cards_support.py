"""Stores the card keys of a keyed company filter, and opens company cards as a client does."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.engine.lookups.company_filters import SIZES, CompanyCardKey, CompanyFilter
from app.infra import clock
from app.infra.crypto import company_cards
from app.infra.crypto.oprf import OprfKey
from app.infra.database.session import Session


def store_card_keys(session: Session, key: OprfKey, *digests: bytes) -> None:
    """Store what a build with this key stores of the hashes, but no file."""
    session.add(CompanyFilter(bits=SIZES[-1], checked_at=clock.now(), oprf_public_key=key.public))
    for digest in digests:
        card_id, card_key = company_cards.card_key(key.output(digest))
        row = {"card_id": card_id, "company_hash": digest, "oprf_key_id": key.id}
        session.add(CompanyCardKey(wrapped_key=key.wrap(card_key, card_id), **row))


def open_card(response: Mapping[str, Any], output: bytes) -> Any:
    """Return the company that an output opens in the response to its prefix; None if it has no card there.

    A card of another output raises InvalidTag.
    """
    card_id = output[:16]
    ids = [bytes.fromhex(response["prefix"] + match["suffix"]) for match in response["matches"]]
    if card_id not in ids:
        return None
    sealed = base64.b64decode(response["matches"][ids.index(card_id)]["sealed"])
    key = HKDF(SHA256(), 32, None, b"company card").derive(output)
    context = bytes.fromhex(response["key"]) + card_id
    return json.loads(AESGCM(key).decrypt(sealed[:12], sealed[12:], context))

"""The vectors of RFC 9497 in Python and with the extension's modules; the latter needs Node.js."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from node_support import run_in_node
from voprf import ristretto

from app.infra.crypto.oprf import InvalidElement, OprfKey

VECTORS = Path(__file__).with_name("oprf_vectors.json")
READER = Path(__file__).with_name("oprf_reader.mjs")
RFC = json.loads(VECTORS.read_text())
CASES = RFC["vectors"]
IDENTITY = bytes(32)
NOT_CANONICAL = b"\xff" * 32


def raw(texts: list[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in texts]


@pytest.fixture
def key() -> OprfKey:
    return OprfKey.derive(bytes.fromhex(RFC["seed"]), bytes.fromhex(RFC["key_info"]))


def test_the_public_key_is_that_of_the_rfc(key: OprfKey) -> None:
    assert key.public.hex() == RFC["public_key"]
    assert RFC["seed"] not in repr(key)


@pytest.mark.parametrize("case", CASES)
def test_elements_and_outputs_are_those_of_the_rfc(key: OprfKey, case: dict[str, Any]) -> None:
    evaluation = key.evaluate(raw(case["blinded"]))

    assert [element.hex() for element in evaluation.elements] == case["evaluated"]
    assert [key.output(message).hex() for message in raw(case["inputs"])] == case["outputs"]
    assert len(evaluation.proof) == 64


def test_a_client_verifies_the_proof_of_the_same_key_only(key: OprfKey) -> None:
    hashes = [bytes([number]) * 32 for number in range(8)]
    clients, blinded = zip(*map(ristretto.Client.blind, hashes), strict=True)
    elements, proof = key.evaluate([one.serialize() for one in blinded])
    reply = ristretto.VerifiableBatchOutput.deserialize(proof + b"".join(elements))
    other = OprfKey.derive(bytes(32))

    outputs = ristretto.Client.finalize_batch(clients, reply, ristretto.PublicKey.deserialize(key.public))

    assert outputs == [key.output(digest) for digest in hashes]
    [element], one_proof = key.evaluate([blinded[0].serialize()])
    single = ristretto.VerifiableOutput.deserialize(one_proof + element)
    with pytest.raises(ValueError, match="invalid proof"):
        clients[0].finalize(single, ristretto.PublicKey.deserialize(other.public))


@pytest.mark.parametrize("invalid", [IDENTITY, NOT_CANONICAL, b"", bytes(31)])
def test_invalid_elements_are_refused_with_their_position(key: OprfKey, invalid: bytes) -> None:
    valid = bytes.fromhex(CASES[0]["blinded"][0])

    with pytest.raises(InvalidElement) as raised:
        key.evaluate([valid, invalid])

    assert raised.value.index == 1
    with pytest.raises(InvalidElement):
        key.evaluate([valid + b"\0"])


@pytest.fixture(scope="module")
def in_javascript() -> dict[str, Any]:
    """The results of the extension's modules."""
    answers: dict[str, Any] = run_in_node(READER, VECTORS)
    return answers


def test_javascript_computes_the_keys_of_the_rfc(in_javascript: dict[str, Any]) -> None:
    assert in_javascript["keys"] == {name: RFC[name] for name in ("secret_key", "public_key")}


@pytest.mark.parametrize("number", range(len(CASES)))
def test_javascript_computes_the_vectors_of_the_rfc(in_javascript: dict[str, Any], number: int) -> None:
    computed = in_javascript["computed"][number]

    assert computed == {name: CASES[number][name] for name in computed}
    assert set(computed) == {"blinds", "blinded", "evaluated", "proof", "outputs"}


def test_javascript_refuses_replies_of_another_key_and_malformed_ones(in_javascript: dict[str, Any]) -> None:
    faults = in_javascript["faults"]

    assert faults.pop("none") is None
    assert len(faults) == 4
    assert set(faults.values()) == {"InvalidProof"}

from __future__ import annotations

from app.engine.call_registers import blocks


def test_a_block_is_searched_by_halves() -> None:
    rests = [number.to_bytes(blocks.REST_BYTES, "big") for number in range(0, 20, 2)]
    block = b"".join(rests)

    assert all(blocks.contains(block, rest) for rest in rests)
    assert not any(
        blocks.contains(block, number.to_bytes(blocks.REST_BYTES, "big")) for number in range(1, 21, 2)
    )

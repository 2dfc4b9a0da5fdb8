"""The confidence of a match, and the thresholds for accepting it.

A confidence estimates the share of such matches that are the same person. The synthetic labelled pairs of
`tests/domain/records/test_matching_calibration.py` check the figures.

| matched on                              | name             | confidence |
|-----------------------------------------|------------------|------------|
| contact_id                              | any              | 1.00       |
| linkedin_url                            | any form of the name | 0.98   |
| linkedin_url                            | another person's, or several people have it | 0.59 |
| email; phone                            | not given        | 0.97; 0.90 |
| email; phone                            | agrees           | half the doubt: 0.985; 0.95 |
| email; phone                            | disagrees        | 0.58; 0.54 |
| company_domain; company_name            | the same         | 0.95; 0.90 |
| company_domain; company_name            | without a middle name | 0.89; 0.85 |
| company_domain; company_name            | nickname, family name first | 0.86; 0.81 |
| company_domain; company_name            | one of two parts | 0.82; 0.78 |
| company_domain; company_name            | generation on one side, other romanization | 0.77; 0.73 |
| company_domain; company_name            | typo; in two words | 0.72, 0.68; 0.54, 0.52 |
| company_domain; company_name            | initial, second given name, no family name | 0.64; 0.61 |
| full_name alone                         | the same         | 0.30       |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Literal

MATCHED = 0.8
POSSIBLE = 0.5
MARGIN = 0.05
"""If the second candidate is closer to the first than this, the match is ambiguous."""

EXACT = {"contact_id": 1.0, "linkedin_url": 0.98, "email": 0.97, "phone": 0.9}
CERTAIN = frozenset(("contact_id", "linkedin_url"))
"""Keys that are never reassigned to another person, so that another form of the name is a changed name."""
BY_NAME = {"company_domain": 0.95, "company_name": 0.9, "full_name": 0.3}
AGREES = 0.8
DISAGREES = 0.6
"""Below this name score, an e-mail or phone match is doubtful: both are shared and reassigned."""
SHORTENED = 0.6
"""The factor on the confidence of a match by a profile, e-mail or phone when the name is another person's."""

CONFIRMED = 0.5
"""The factor on the doubt of an e-mail or phone match when the name agrees."""


def confidence(*, matched_on: Collection[str], name: float | None, company: float | None) -> float:
    """Return the confidence of a match, 0 to 1, by the table above.

    The doubt (1 - confidence) of several exact keys is the product of their doubts. Without an exact key, the
    confidence is the one of the company's domain or name, times the squares of the name and company scores,
    so that two near misses are worse than one.
    """
    keys = [key for key in matched_on if key in EXACT]
    if not keys:
        base = max((BY_NAME[key] for key in matched_on if key in BY_NAME), default=0.0)
        return round(base * (name or 0.0) ** 2 * (1.0 if company is None else company) ** 2, 4)
    doubt = prod(1 - EXACT[key] for key in keys)
    if name is None or CERTAIN.intersection(keys):
        return round(1 - doubt, 4)
    if name < DISAGREES:
        return round((1 - doubt) * SHORTENED, 4)
    return round(1 - doubt * (CONFIRMED if name >= AGREES else 1), 4)


def decide(scores: Sequence[float]) -> Literal["matched", "ambiguous", "none"]:
    """Return the outcome for the candidates' confidences: one clear match, several possible, or none."""
    best, *others = sorted(scores, reverse=True) or [0.0]
    if best < POSSIBLE:
        return "none"
    rival = bool(others) and best - others[0] < MARGIN
    return "ambiguous" if rival or best < MATCHED else "matched"

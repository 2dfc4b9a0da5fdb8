"""Somebody of the sample file, whom a service with the samples therefore knows."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from tools.state import ROOT
from tools.walker import WalkError

PEOPLE = ROOT / "demo" / "people.csv"


@dataclass(frozen=True, slots=True)
class Sample:
    """A person of the sample file, whom the service therefore knows."""

    linkedin_url: str
    domain: str


def first_sample() -> Sample:
    """Return the first person with an e-mail, a profile and a company."""
    if not PEOPLE.exists():
        raise WalkError(f"{PEOPLE} is missing, and the walk looks for the people in it.")
    with PEOPLE.open(newline="") as file:
        for row in csv.DictReader(file):
            if row.get("email") and row.get("linkedin_url") and row.get("company_domain"):
                return Sample(row["linkedin_url"], row["company_domain"])
    raise WalkError(f"{PEOPLE} has no row with email, linkedin_url and company_domain.")

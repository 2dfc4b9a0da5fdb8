"""Somebody of the sample file, whom a service with the samples therefore knows."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from tools.demo.client import DemoError
from tools.state import ROOT

PEOPLE = ROOT / "demo" / "people.csv"


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person of the sample file, whom the service therefore knows."""

    linkedin_url: str
    domain: str


def first_person() -> SamplePerson:
    """Return the first person with an e-mail, a profile and a company."""
    if not PEOPLE.exists():
        raise DemoError(f"{PEOPLE} is missing, and the walk looks for the people in it.")
    with PEOPLE.open(newline="") as file:
        for row in csv.DictReader(file):
            if row.get("email") and row.get("linkedin_url") and row.get("company_domain"):
                return SamplePerson(row["linkedin_url"], row["company_domain"])
    raise DemoError(f"{PEOPLE} has no row with email, linkedin_url and company_domain.")

"""A person from the sample data, whom every seeded database contains."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from tools.demo.client import DemoError
from tools.state import ROOT

PEOPLE = ROOT / "demo" / "people.csv"


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person in the sample file."""

    linkedin_url: str
    domain: str


def first_person() -> SamplePerson:
    """Return the first person in the sample file with an e-mail address, a profile and a company.

    Raises:
        DemoError: there is none.

    """
    if not PEOPLE.exists():
        raise DemoError(f"{PEOPLE} is missing, and the demo looks up a person from it.")
    with PEOPLE.open(newline="") as file:
        for row in csv.DictReader(file):
            if row.get("email") and row.get("linkedin_url") and row.get("company_domain"):
                return SamplePerson(row["linkedin_url"], row["company_domain"])
    raise DemoError(f"{PEOPLE} has no row with email, linkedin_url and company_domain.")

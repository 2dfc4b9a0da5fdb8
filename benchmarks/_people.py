"""A CSV file of generated people."""

from __future__ import annotations

import csv
from pathlib import Path

PEOPLE_PER_COMPANY = 20
HEADER = (
    "First Name", "Last Name", "Title", "Company", "Website", "# Employees", "Person Linkedin Url", "Email",
    "Email Status", "Mobile Phone", "City", "Country", "Last verified",
)  # fmt: skip
FIRST = ("Ada", "Grace", "Jürgen", "Élodie", "Łukasz", "Priya", "Sofia", "Wei", "Amara", "Björn")
LAST = (
    "Lovelace",
    "Hopper",
    "Müller",
    "Lefèvre",
    "Nowak",
    "Patel",
    "García Lorca",
    "Chen",
    "Okafor",
    "Ström",
)
# Area codes with a hundred fictional numbers each: more numbers than any cache of parsed ones holds.
AREAS = (*range(201, 220), *range(301, 322), *range(401, 411), *range(501, 511), *range(601, 611))
PLAIN = str.maketrans("üéłèíö", "ueleio", " ")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_list(path: Path, rows: int) -> None:
    """Write a CSV file of generated people; names repeat, as real ones do, profiles and e-mails do not."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for index in range(rows):
            company = index // PEOPLE_PER_COMPANY
            suffix = LETTERS[index % 26] + LETTERS[index // 26 % 26] + LETTERS[index // 676 % 26]
            first, last = FIRST[index % 10] + suffix, LAST[index // 10 % 10]
            local = f"{first}.{last}".lower().translate(PLAIN) if index % 5 else f"contact{index}"
            domain = f"company{company}.example"
            phone = f"+1 {AREAS[index % len(AREAS)]} 555 01{index // len(AREAS) % 100:02d}"
            writer.writerow(
                (
                    *(first, last, "Engineer", f"Company {company} GmbH", f"https://www.{domain}/"),
                    *(
                        index % 900 + 1,
                        f"http://www.linkedin.com/in/person-{index}-demo/",
                        f"{local}@{domain}",
                    ),
                    *("Verified", phone, "Boston", "United States", "2026-10-01"),
                )
            )

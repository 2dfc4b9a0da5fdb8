"""The section of the release notes on how often the server guesses a visited website right."""

from __future__ import annotations

from benchmarks.website_privacy.visit_guessing import BASELINE, EXPONENTS, measure

COMMAND = "python -m benchmarks.website_privacy.visit_guessing"
SITES, KNOWN = 1_000_000, 10_000
SENT = {
    BASELINE: "no request before the user asks, the default",
    "prefix of 2": "a prefix of 2 digits for every website",
    "prefix of 2, known sites only": "a prefix of 2 digits for websites in the file",
}
"""The rows of the table: what the benchmark calls them, and how they are described here."""


def section(sites: int = SITES, known: int = KNOWN) -> str:
    """Return the section in Markdown, in percent of all visits; `known` of the sites are in the file."""
    rates = {(row.sent, row.exponent): row.of_visits for row in measure(sites, known)}
    visits = f"simulated visits to {sites:,} websites, of which {known:,} are known"
    lines = [
        "### How often the server guesses a visited website right",
        "",
        f"Percent of {visits}, by Zipf's law with exponent s (`{COMMAND}`).",
        "",
        f"| the extension sends | {' | '.join(f's = {exponent}' for exponent in EXPONENTS)} |",
        f"| --- |{' --: |' * len(EXPONENTS)}",
    ]
    for name, text in SENT.items():
        cells = " | ".join(f"{rates[name, exponent]:.1f}" for exponent in EXPONENTS)
        lines.append(f"| {text} | {cells} |")
    return "\n".join(lines) + "\n"

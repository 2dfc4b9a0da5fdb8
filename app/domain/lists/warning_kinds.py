"""The codes of warnings about the cells of a list, with their effect and what decides otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

INVALID = "invalid"
NO_COUNTRY = "no_country"
NOT_A_PROFILE = "not_a_profile"
PROFILE_URL = "profile_url"
WEAK_PROFILE = "weak_profile"
SHARED_PROFILE = "shared_profile"
SPLIT_PROFILE = "split_profile"
SHARED_ADDRESS = "shared_address"
SHARED_NUMBER = "shared_number"
SHARED_IN_LIST = "shared_in_list"
NAMESAKE = "namesake"
TAKEN_DOMAIN = "taken_domain"
CONFLICT_FIELDS = {
    SHARED_PROFILE: "linkedin_url",
    WEAK_PROFILE: "linkedin_url",
    SPLIT_PROFILE: "linkedin_url",
    SHARED_ADDRESS: "email",
    SHARED_NUMBER: "phone",
    NAMESAKE: "full_name",
    TAKEN_DOMAIN: "company_domain",
}
"""The codes of rows that share an identifier with another person or company, and the field of it."""
AMBIGUOUS_PLACE = "ambiguous_place"
MAYBE_NAMIBIA = "maybe_namibia"
NO_EMPLOYER = "no_employer"
SEVERAL_DOMAINS = "several_domains"
SHARED_HOST = "shared_host"
CUT_NUMBER = "cut_number"
NOT_ASSIGNED = "not_assigned"
READ_AS_FOREIGN = "read_as_foreign"
MAYBE_FOREIGN = "maybe_foreign"
UNREAD_FLAG = "unread_flag"
OPTED_OUT = "opted_out"
DATE_ORDER = "date_order"
UNFIT_COLUMN = "unfit_column"
GUESSED_COLUMN = "guessed_column"
LONG_TEXT = "long_text"
IMPOSSIBLE_EMAIL = "impossible_email"
CONVERTED_TWICE = "converted_twice"


class Effect(StrEnum):
    """What happened to a cell that was not read as it is written."""

    LEFT_OUT = "left_out"
    CHANGED = "changed"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class WarningKind:
    """What a code says of the cells, and what decides otherwise; no text contains a value."""

    effect: Effect
    text: str
    option: str = ""

    @property
    def sentences(self) -> str:
        """Return what it says, followed by the option if there is one."""
        return f"{self.text} {self.option}".rstrip()


KINDS: Mapping[str, WarningKind] = {
    INVALID: WarningKind(Effect.LEFT_OUT, "These values could not be read."),
    NOT_A_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These are words or handles, not profiles, and are not written from the name in their row.",
        "Write the URL of each profile.",
    ),
    PROFILE_URL: WarningKind(
        Effect.LEFT_OUT,
        "These URLs do not show whose profile they are.",
        "Open each one and write the URL that the browser then shows.",
    ),
    WEAK_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These handles may be the profiles of other people, so they were left out.",
        "Write the URL of each profile.",
    ),
    NO_COUNTRY: WarningKind(
        Effect.LEFT_OUT,
        "Neither the row nor the list shows the country of these numbers.",
        "Name the country of numbers without a country code.",
    ),
    "placeholder_name": WarningKind(
        Effect.LEFT_OUT, "These are not names of people, such as LinkedIn Member, Unknown or Test Test."
    ),
    "shortened_name": WarningKind(
        Effect.CHANGED,
        "Titles, credentials, pronouns, remarks or a second spelling were left out of these names.",
    ),
    "reordered_name": WarningKind(
        Effect.GUESSED,
        "The family name of these was read first, because of its capitals or the header of the column.",
        "Give the given and the family name in columns of their own.",
    ),
    SHARED_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These rows have the profile of a person with another name. It identifies neither.",
    ),
    SPLIT_PROFILE: WarningKind(
        Effect.LEFT_OUT,
        "These rows have two profiles of one person, but two people are stored with them. These were not "
        "joined, and the second profile was left out.",
        "Delete one of the two stored people, and import the row again.",
    ),
    SHARED_IN_LIST: WarningKind(
        Effect.LEFT_OUT,
        "These rows share a profile, an address or a number with people of other names in the list, so it "
        "identifies none of them.",
    ),
    SHARED_ADDRESS: WarningKind(
        Effect.GUESSED,
        "These rows have the e-mail address of a person with another name. Both people are stored with it.",
    ),
    SHARED_NUMBER: WarningKind(
        Effect.GUESSED,
        "These rows have only a phone number, and several people have it. They are stored as further people.",
    ),
    NAMESAKE: WarningKind(
        Effect.GUESSED,
        "These rows have the name and the company of a person with another address or number. They are "
        "stored as people of their own.",
        "If they are one person, add the LinkedIn profile or the known address to the row.",
    ),
    AMBIGUOUS_PLACE: WarningKind(
        Effect.LEFT_OUT,
        "These places may be in several countries, such as Canada and California, so none was stored.",
        "Add a column with the country.",
    ),
    MAYBE_NAMIBIA: WarningKind(
        Effect.LEFT_OUT,
        "NA is the code of Namibia, but may stand for an empty cell here, so no country was stored.",
        "Write the name of the country, or leave the cell empty.",
    ),
    NO_EMPLOYER: WarningKind(
        Effect.LEFT_OUT, "These words, such as Freelance or Confidential, do not name an employer."
    ),
    SEVERAL_DOMAINS: WarningKind(Effect.CHANGED, "Of several domains the first is used."),
    SHARED_HOST: WarningKind(
        Effect.LEFT_OUT,
        "Many companies have pages or addresses at these hosts, so the companies are known by name only.",
        "Give a domain of the company's own.",
    ),
    TAKEN_DOMAIN: WarningKind(
        Effect.LEFT_OUT, "Companies with other names have these domains, so they are not stored for this one."
    ),
    CUT_NUMBER: WarningKind(
        Effect.LEFT_OUT,
        "A spreadsheet rounded these numbers (as in 1.65E+10), so that their last digits are lost.",
        "Format the column as text in the list that still has all digits, and save it again.",
    ),
    NOT_ASSIGNED: WarningKind(
        Effect.CHANGED,
        "No numbering plan has assigned these numbers, so they have the status unknown.",
        "Add a column with the status of the numbers to give them another one.",
    ),
    READ_AS_FOREIGN: WarningKind(
        Effect.GUESSED,
        "These numbers have no plus, and were read with the code of another country than the row's.",
        "Write a plus before the country code.",
    ),
    MAYBE_FOREIGN: WarningKind(
        Effect.GUESSED,
        "These numbers have neither a zero nor a plus before them. They were read as numbers of the row's "
        "country, but may be foreign ones, so they have the status unknown.",
        "Write a plus before the country code, or the zero before the area code.",
    ),
    UNREAD_FLAG: WarningKind(
        Effect.GUESSED,
        "These words are neither a yes nor a no, so the person is treated as one who does not want to be "
        "contacted.",
        "Write yes or no in the column.",
    ),
    OPTED_OUT: WarningKind(
        Effect.LEFT_OUT,
        "These people do not want to be contacted, so their rows were rejected.",
        "Values that are stored from elsewhere stay: hide the people with 'flask suppressions import'.",
    ),
    DATE_ORDER: WarningKind(
        Effect.GUESSED,
        "No date of this column shows whether the day or the month is first; the month was read first.",
        "Name the order of day and month.",
    ),
    UNFIT_COLUMN: WarningKind(
        Effect.LEFT_OUT,
        "Most values of this column are not what its header says, such as numbers below a name.",
        "Map the column to a field to import it nevertheless.",
    ),
    GUESSED_COLUMN: WarningKind(
        Effect.GUESSED,
        "The list has no header; what this column contains was guessed from its values.",
        "Map the column to a field, or say that the first row is a header.",
    ),
    IMPOSSIBLE_EMAIL: WarningKind(
        Effect.LEFT_OUT,
        "No person has these addresses: they stand for a missing one, or are pieces of code or file names.",
    ),
    CONVERTED_TWICE: WarningKind(
        Effect.CHANGED,
        "A program converted these texts to UTF-8 twice, as in J\u00c3\u00bcrgen. They were read as meant.",
    ),
    LONG_TEXT: WarningKind(Effect.CHANGED, "These texts have more than 300 characters and were cut."),
}
_REMOVED = WarningKind(Effect.CHANGED, "These values were not read as they are written.")


def kind_of(code: str) -> WarningKind:
    """Return what a stored code says; a general sentence for one that this release no longer has."""
    return KINDS.get(code, _REMOVED)

"""The forms in which an endpoint receives its messages, and which a URL has if none is named."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit

from app.domain.messages import Message


class MessageFormat(StrEnum):
    """The body of a message: the event as JSON, or a sentence for a channel of Slack or Microsoft Teams."""

    STANDARD = "standard"
    SLACK = "slack"
    TEAMS = "teams"


LABELS = {
    MessageFormat.STANDARD: Message("Signed JSON (Standard Webhooks)"),
    MessageFormat.SLACK: Message("Slack message (also Mattermost, Rocket.Chat, Discord with /slack)"),
    MessageFormat.TEAMS: Message("Microsoft Teams card (a workflow's URL)"),
}
_HOSTS = {
    "hooks.slack.com": MessageFormat.SLACK,
    "hooks.slack-gov.com": MessageFormat.SLACK,
    "logic.azure.com": MessageFormat.TEAMS,
    "api.powerplatform.com": MessageFormat.TEAMS,
    "webhook.office.com": MessageFormat.TEAMS,
}
"""Hosts, and with their subdomains, at which Slack and Teams take messages."""


def of_url(url: str) -> MessageFormat:
    """Return the form that the host of the URL takes; the standard one for any other host."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    matches = (form for name, form in _HOSTS.items() if host == name or host.endswith(f".{name}"))
    return next(matches, MessageFormat.STANDARD)

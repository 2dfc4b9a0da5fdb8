"""The bodies of messages: JSON as Standard Webhooks has it, and what Slack and Microsoft Teams take.

Slack: an incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). Teams:
an Adaptive Card for the trigger "When a Teams webhook request is received" of a workflow, of 28 KB at most.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.features.webhooks import chat_sentences
from app.features.webhooks.message_formats import MessageFormat

MAX_SENTENCE = 2_000
"""Below the 3,000 characters of a Slack section."""
CARD = "application/vnd.microsoft.card.adaptive"
OPEN = "Open"


def body(message: Mapping[str, Any], form: MessageFormat, *, public_url: str) -> str:
    """Return the body of a message; without a `public_url` a sentence has no link."""
    if form is MessageFormat.STANDARD:
        return json.dumps(message)
    in_words = _slack if form is MessageFormat.SLACK else _teams
    return json.dumps(in_words(message, _link(message, public_url)))


def _slack(message: Mapping[str, Any], link: str) -> dict[str, Any]:
    text = _escaped(_sentence(message))
    linked = f"{text} <{link}|{OPEN}>" if link else text
    context = " · ".join(_facts(message).values())
    return {
        "text": text,  # of the notification
        "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": linked}},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": _escaped(context)}]},
        ],
    }


def _teams(message: Mapping[str, Any], link: str) -> dict[str, Any]:
    facts = [{"title": title, "value": value} for title, value in _facts(message).items()]
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {"type": "TextBlock", "text": _sentence(message), "wrap": True},
            {"type": "FactSet", "facts": facts},
        ],
    }
    if link:
        card["actions"] = [{"type": "Action.OpenUrl", "title": OPEN, "url": link}]
    return {"type": "message", "attachments": [{"contentType": CARD, "contentUrl": None, "content": card}]}


def _sentence(message: Mapping[str, Any]) -> str:
    text = chat_sentences.sentence(message)
    return text if len(text) <= MAX_SENTENCE else f"{text[:MAX_SENTENCE]}…"


def _facts(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the type and the time, and the id of an event."""
    return {name.capitalize(): message[name] for name in ("type", "timestamp", "id") if name in message}


def _link(message: Mapping[str, Any], public_url: str) -> str:
    return f"{public_url.rstrip('/')}{chat_sentences.path(message)}" if public_url else ""


def _escaped(text: str) -> str:
    """Return the text with Slack's three control characters escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

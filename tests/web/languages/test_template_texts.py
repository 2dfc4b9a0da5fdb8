from __future__ import annotations

import re

import pytest
from jinja2 import Environment

from app.web.languages.template_texts import TemplateTexts
from tools.state import ROOT


@pytest.mark.parametrize(
    ("source", "marked"),
    [
        ("<p>Saved.</p>", "<p>{% trans  %}Saved.{% endtrans %}</p>"),
        ("<td>{{ name }}</td>", "<td>{{ name }}</td>"),
        ("<p>·</p>", "<p>·</p>"),
        (
            "<p>Signed in as <b>{{ viewer.name }}</b>.</p>",
            "<p>{% trans name=(viewer.name) %}Signed in as <b>{{ name }}</b>.{% endtrans %}</p>",
        ),
        (
            '<p>See <a href="{{ url }}">the list</a>.</p>',
            (
                '<p>{% set a_tag_0 %}<a href="{{ url }}">{% endset %}'
                "{% trans a_tag=a_tag_0 %}See {{ a_tag }}the list</a>.{% endtrans %}</p>"
            ),
        ),
        (
            '<p>{{ n | figure }} {{ "person" if n == 1 else "people" }}</p>',
            (
                "<p>{% trans n=(n | figure), counted=n %}{{ n }} person"
                "{% pluralize counted %}{{ n }} people{% endtrans %}</p>"
            ),
        ),
        (
            '<a href="/">Home</a> <b>Docs</b>',
            '<a href="/">{% trans  %}Home{% endtrans %}</a> <b>{% trans  %}Docs{% endtrans %}</b>',
        ),
        ('<img alt="The key">', '<img alt="{% trans  %}The key{% endtrans %}">'),
        (
            '<b class="{{ \'Good\' if ok else "bad" }}">x</b>',
            '<b class="{{ \'Good\' if ok else "bad" }}">x</b>',
        ),
        ('{{ ui.field("email", "Your e-mail") }}', '{{ ui.field("email", _("Your e-mail")) }}'),
        ('{{ "yes" if it else "no" }}', '{{ _("yes") if it else _("no") }}'),
        (
            '{% if x == "Found" %}Yes{% endif %}',
            '{% if x == "Found" %}{% trans  %}Yes{% endtrans %}{% endif %}',
        ),
        ("<p><code>GET /x</code></p>", "<p><code>GET /x</code></p>"),
        ("<script>let text = 'Hello there';</script>", "<script>let text = 'Hello there';</script>"),
        ("{% trans %}Done by hand{% endtrans %}", "{% trans %}Done by hand{% endtrans %}"),
        ('{{ _("Done by hand") }}', '{{ _("Done by hand") }}'),
        ("<p>a\n   long line here</p>", "<p>{% trans  %}a long line here{% endtrans %}</p>"),
    ],
)
def test_texts_of_a_template_are_marked_and_nothing_else(source: str, marked: str) -> None:
    assert TemplateTexts(_environment()).preprocess(source, None) == marked


def test_a_value_in_a_sentence_is_escaped_and_a_link_is_not() -> None:
    template = _environment().from_string('<p>Hello {{ name }}, see <a href="{{ url }}">this</a>.</p>')

    shown = template.render(name="<b>", url="/?a&b")

    assert shown == '<p>Hello &lt;b&gt;, see <a href="/?a&amp;b">this</a>.</p>'


def _environment() -> Environment:
    environment = Environment(extensions=["jinja2.ext.i18n", TemplateTexts], autoescape=True)
    environment.install_null_translations(newstyle=True)  # type: ignore[attr-defined]
    return environment


def test_what_a_template_names_once_is_read_in_the_language_of_each_request() -> None:
    """An import without context is evaluated once per process: in the language of whoever came first."""
    templates = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.html")}
    macros = {
        name: re.sub(r"{% macro .*?{% endmacro %}", "", text, flags=re.DOTALL)
        for name, text in templates.items()
    }
    naming = {
        name
        for name, text in macros.items()
        if "{% extends" not in text and re.search(r"{% set \w+ =.*\"[A-Z]", text)
    }

    imports = [
        found for text in templates.values() for found in re.findall(r'{% import "(.+)" as (.+?) %}', text)
    ]

    assert naming
    assert [found for found in imports if found[0] in naming and not found[1].endswith("with context")] == []

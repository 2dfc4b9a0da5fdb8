"""Write `app/domain/data/companies/legal_form_classes.txt` from the organisation types of rigour.

    python -m tools.legal_forms org_types.yml VERSION

`resources/names/org_types.yml` is in https://github.com/opensanctions/rigour.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from app.domain.normal.companies.company_names import form_words
from app.domain.normal.texts.wordlists import entries

DATA = Path(__file__).parents[1] / "app" / "domain" / "data"
CLASSES = frozenset(("JSC", "LLC", "LLP", "LP", "GP"))
"""The other classes, such as NGO or FIN, have forms that belong to the name: Foundation, Charity."""
MIN_LENGTH = 3
"""Shorter forms are taken if `companies/legal_forms.txt` has them: `ii` or `pr` usually mean other things."""
HEAD = """\
# Legal forms by class: two companies with the same name and forms of different classes are two companies.
# Written by tools/legal_forms.py from resources/names/org_types.yml of rigour {version}
# (https://github.com/opensanctions/rigour), MIT License, Copyright (c) 2023-2025 OpenSanctions Datenbanken
# GmbH; the licence is in legal_form_classes.LICENSE. Do not edit: add forms to legal_forms.txt.
"""


def classes(types: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the keys of the forms of each class; a form of several classes is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind in types:
        names = [*kind["aliases"], kind.get("display"), kind.get("compare")]
        for form in {" ".join(form_words(str(name))) for name in names if name}:
            found[form].add(kind.get("generic") or "")
    short = {form for _language, forms in entries("companies/legal_forms.txt") for form in forms}
    by_class: dict[str, list[str]] = defaultdict(list)
    for form, generics in sorted(found.items()):
        if len(generics) == 1 and (len(form) >= MIN_LENGTH or form in short):
            by_class[generics.pop()].append(form)
    return {name: by_class[name] for name in sorted(CLASSES)}


def main() -> None:
    """Write the file."""
    source, version = sys.argv[1:]
    types = yaml.safe_load(Path(source).read_text(encoding="utf-8"))["types"]
    lines = [f"{name}: {', '.join(forms)}\n" for name, forms in classes(types).items()]
    text = HEAD.format(version=version) + "".join(lines)
    (DATA / "companies/legal_form_classes.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

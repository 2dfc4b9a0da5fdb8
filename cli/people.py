"""`flask people`: export, correct and erase what is stored about a person, at the person's request."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import click

from app.domain.errors import InvalidValue, ValidationFailed
from app.domain.normal.emails import normal_email
from app.domain.normal.phones.phones import normal_phone
from app.engine.privacy import erasure, person_data, rectification
from app.engine.privacy.rectification import FIELDS, Correction
from app.infra.database import database_clock
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.lists.list_commands import opened_for_writing
from cli.options.identifiers import named
from cli.person_commands import erasure as erasure_command
from cli.person_commands import first_notices
from cli.person_commands.erasure import ErasureTarget

P = ParamSpec("P")
R = TypeVar("R")
group = DatabaseGroup("people", help="Export, correct and erase the data of a person.")


def person_options(command: Callable[P, R]) -> Callable[..., R]:
    """Add the options that name a person; the command gets them as `target`."""

    @click.option("--email", help="E-mail address of the person.")
    @click.option("--phone", help="Phone number of the person, with country code.")
    @click.option("--linkedin-url", help="URL of the person's profile.")
    @click.option("--contact-id", "contact_ids", multiple=True, help="Contact id; may be repeated.")
    @click.option("--everybody", is_flag=True, help="Use every matching contact if several match.")
    @wraps(command)
    def with_target(
        email: str | None,
        phone: str | None,
        linkedin_url: str | None,
        contact_ids: tuple[str, ...],
        everybody: bool,  # noqa: FBT001 -- click passes names
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        identifiers = named(email, phone, linkedin_url)
        kwargs["target"] = ErasureTarget(identifiers, contact_ids, everybody=everybody)
        return command(*args, **kwargs)

    return with_target


@group.command("export")
@person_options
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
def export_person(*, target: ErasureTarget, file: str) -> None:
    """Write everything stored about a person to FILE as JSON (GDPR, article 15); `-` is standard output.

    It has every value with its source and date, who received it, and which providers were asked.
    """
    with database().reading() as session:
        plan = erasure_command.plan(session, target)
        contacts = erasure.find_contacts(session, (), plan.contact_ids)
        data = person_data.collect(session, contacts, plan)
    with opened_for_writing(file) as out:
        out.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


@group.command("erase")
@person_options
@click.option("--dry-run", is_flag=True, help="Only report what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@as_json_option
def erase_person(*, target: ErasureTarget, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Erase a person everywhere and suppress them from now on (GDPR, article 17).

    Prints a receipt: the data erased, and the recipients, who get the event person.erased (article 19). It
    cannot be undone. Backups are not changed.
    """
    erasure_command.run(database(), target, dry_run=dry_run, yes=yes, as_json=as_json)


@group.command("rectify")
@person_options
@click.option(
    "--set", "assignments", multiple=True, metavar="FIELD=VALUE", help=f"New value: {', '.join(FIELDS)}."
)
@click.option("--clear", "cleared", multiple=True, type=click.Choice(FIELDS[1:]), help="Remove a field.")
@click.option("--remove-email", "emails", multiple=True, help="An address that is not the person's.")
@click.option("--remove-phone", "phones", multiple=True, help="A number that is not the person's.")
@as_json_option
def rectify_person(
    *,
    target: ErasureTarget,
    assignments: tuple[str, ...],
    cleared: tuple[str, ...],
    emails: tuple[str, ...],
    phones: tuple[str, ...],
    as_json: bool,
) -> None:
    """Correct what is stored about a person (GDPR, article 16); no import or provider changes it again.

    The workspaces that revealed the person get the event person.rectified.
    """
    correction = _correction(assignments, cleared, emails, phones)
    with database().transaction() as session:
        contact_ids = erasure_command.plan(session, target).contact_ids
        if not contact_ids:
            raise click.ClickException("No contact matches.")
        try:
            now = database_clock.value(session)
            changed = rectification.rectify(session, contact_ids, correction, now=now)
        except ValidationFailed as problem:
            raise click.ClickException(" ".join(error.detail for error in problem.errors)) from problem
    text = f"Corrected: {', '.join(changed)}" if changed else "Nothing changed."
    show({"contact_ids": list(contact_ids), "changed": changed}, text, as_json=as_json)


group.add_command(first_notices.due_notices)
group.add_command(first_notices.notified)


def _correction(
    assignments: tuple[str, ...], cleared: tuple[str, ...], emails: tuple[str, ...], phones: tuple[str, ...]
) -> Correction:
    values: dict[str, str | None] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        if not separator or name not in FIELDS:
            raise click.ClickException(f"Use --set FIELD=VALUE with one of {', '.join(FIELDS)}.")
        values[name] = value
    values |= dict.fromkeys(cleared)
    try:
        wrong_emails = [normal_email(text) for text in emails]
        wrong_phones = [normal_phone(text) for text in phones]
    except InvalidValue as error:
        raise click.ClickException(str(error)) from error
    if not (values or wrong_emails or wrong_phones):
        raise click.UsageError("Specify --set, --clear, --remove-email or --remove-phone.")
    return Correction(values, wrong_emails, wrong_phones)

"""Web pages with people, as sites build them: structures of our own making, in three languages.

They follow the projects that docs/page-lists.md names, have made-up people, and none of the sites' own texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Someone:
    """A person on a page."""

    name: str
    title: str
    company: str
    place: str
    slug: str
    email: str
    phone: str


@dataclass(frozen=True, slots=True)
class Language:
    """What a site writes in a language, and the people of its pages."""

    code: str
    view_profile: str
    degree: str
    pronouns: str
    member: str
    connect: str
    me: str
    organizer: str
    people: tuple[Someone, Someone, Someone]


LANGUAGES = (
    Language(
        *("en", "View {}’s profile", "• 2nd", "(She/Her)", "LinkedIn Member", "Connect", "me", "Organizer"),
        people=(
            Someone(
                "Ada Lovelace",
                "Chief Engineer",
                "Engines Ltd",
                "London",
                "ada",
                "ada@engines.test",
                "+44 20 7946 0001",
            ),
            Someone(
                "Mary O'Brien-Smith",
                "Head of Sales",
                "Shannon plc",
                "Dublin",
                "mary",
                "mary@shannon.test",
                "+353 1 555 0002",
            ),
            Someone(
                "Wei L.", "Recruiter", "Harbour Inc", "Singapore", "wei", "wei@harbour.test", "+65 6555 0003"
            ),
        ),
    ),
    Language(
        *(
            "de",
            "Profil von {} anzeigen",
            "• 2.",
            "(sie/ihr)",
            "LinkedIn Mitglied",
            "Vernetzen",
            "ich",
            "Organisator",
        ),
        people=(
            Someone(
                "Jürgen Groß",
                "Leiter Vertrieb",
                "Räder GmbH",
                "München",
                "juergen",
                "gross@raeder.test",
                "+49 89 5550001",
            ),
            Someone(
                "Dr. Anna von der Heide",
                "Geschäftsführerin",
                "Müller KG",
                "Köln",
                "anna",
                "heide@mueller.test",
                "+49 221 5550002",
            ),
            Someone(
                "Çiğdem Y.",
                "Einkaufsleiterin",
                "Kupfer AG",
                "Graz",
                "cigdem",
                "cigdem@kupfer.test",
                "+43 316 555003",
            ),
        ),
    ),
    Language(
        *(
            "fr",
            "Voir le profil de {}",
            "• 2e",
            "(elle)",
            "Membre de LinkedIn",
            "Se connecter",
            "moi",
            "Organisateur",
        ),
        people=(
            Someone(
                "Zoé Lefèvre",
                "Directrice commerciale",
                "Société Élan",
                "Lyon",
                "zoe",
                "zoe@elan.test",
                "+33 4 55 50 00 01",
            ),
            Someone(
                "Jean-François d’Arc",
                "Responsable achats",
                "Sel & Fils",
                "Nîmes",
                "jf",
                "jf@sel.test",
                "+33 4 55 50 00 02",
            ),
            Someone(
                "Anaïs B.",
                "Chargée de recrutement",
                "Pont SA",
                "Genève",
                "anais",
                "anais@pont.test",
                "+41 22 555 00 03",
            ),
        ),
    ),
)


def document(language: Language, body: str, title: str = "") -> str:
    style = ".visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)}"
    head = f"<meta charset=utf-8><title>{title}</title><style>{style}</style>"
    return f'<!doctype html><html lang="{language.code}">{head}<body>{body}</body></html>'


def profile_link(language: Language, one: Someone) -> str:
    hidden = escape(language.view_profile.format(one.name))
    return (
        f'<a href="https://www.linkedin.com/in/{one.slug}?trk=x"><span dir=ltr><span aria-hidden=true>{escape(one.name)}'
        f'</span><span class="visually-hidden">{hidden}</span></span></a>'
    )


def linkedin_search(language: Language) -> str:
    """Search results with the class names of 2024."""
    rows = "".join(
        f'<li class="reusable-search__result-container"><div class="entity-result__item">'
        f'<a href="https://www.linkedin.com/in/{one.slug}"><img alt="" width=40 height=40></a>'
        f'<span class="entity-result__title-text">{profile_link(language, one)}'
        f"<span class=badge>{language.degree}</span></span>"
        f'<div class="entity-result__primary-subtitle">{escape(one.title)}</div>'
        f'<div class="entity-result__secondary-subtitle">{one.place}</div>'
        f"<button>{language.connect}</button></div></li>"
        for one in language.people
    )
    hidden = f"<li class=reusable-search__result-container><span class=entity-result__title-text>{language.member}</span></li>"
    aside = '<aside><a href="https://www.linkedin.com/in/somebody-else">Somebody Else</a></aside>'
    return document(language, f"<main><ul>{rows}{hidden}</ul>{aside}</main>")


def linkedin_search_of_2026(language: Language) -> str:
    """Search results with generated class names, where only attributes say what is what."""
    rows = "".join(
        f'<div data-view-name="people-search-result" role=listitem><a class="_0x1" href="https://www.linkedin.com/in/{one.slug}/">'
        f'<p class="_1a"><a data-view-name="search-result-lockup-title" href="https://www.linkedin.com/in/{one.slug}/">'
        f"{escape(one.name)} {language.pronouns}</a> {language.degree}</p>"
        f"<div><p class=_2b>{escape(one.title)}</p></div><div><p class=_2b>{one.place}</p></div></a>"
        f"<div><button>{language.connect}</button></div></div>"
        for one in language.people
    )
    return document(language, f"<main><div role=list>{rows}</div></main>")


def linkedin_company_people(language: Language) -> str:
    rows = "".join(
        f'<li><section class="org-people-profile-card"><a href="https://www.linkedin.com/in/{one.slug}"><div class="org-people-profile-card__profile-title">'
        f"{escape(one.name)}</div></a><span>{language.degree}</span>"
        f'<div class="artdeco-entity-lockup__subtitle">{escape(one.title)}</div><button>{language.connect}</button></section></li>'
        for one in language.people
    )
    return document(language, f"<main><ul>{rows}</ul></main>")


def sales_navigator(language: Language) -> str:
    rows = "".join(
        f'<li class="artdeco-list__item"><div data-x-search-result="LEAD"><input type=checkbox>'
        f'<a data-control-name="view_lead_panel_via_search_lead_name" href="/sales/lead/ACwAAA{one.slug}000,NAME_SEARCH,x1?_ntb=1">'
        f'<span data-anonymize="person-name">{escape(one.name)}</span></a><span>{language.degree}</span>'
        f'<div class="artdeco-entity-lockup__subtitle"><span data-anonymize="title">{escape(one.title)}</span> '
        f'<a data-anonymize="company-name" href="/sales/company/1">{escape(one.company)}</a></div>'
        f'<span data-anonymize="location">{one.place}</span><button>{language.connect}</button></div></li>'
        for one in language.people
    )
    return document(language, f"<main><ol>{rows}</ol></main>")


def sales_navigator_list(language: Language) -> str:
    rows = "".join(
        f'<tr data-row-id="{one.slug}"><td><a href="/sales/people/ACwAAA{one.slug}000,list">'
        f'<span data-anonymize="person-name">{escape(one.name)}</span></a><div data-anonymize="job-title">{escape(one.title)}</div></td>'
        f'<td><span data-anonymize="company-name">{escape(one.company)}</span></td><td data-anonymize="location">{one.place}</td></tr>'
        for one in language.people
    )
    return document(language, f"<main><table>{rows}</table></main>")


def sales_navigator_lead(language: Language) -> str:
    one = language.people[0]
    return document(
        language,
        f'<main><section id="profile-card-section"><h1 data-anonymize="person-name">{escape(one.name)}</h1>'
        f'<span data-anonymize="headline">{escape(one.title)}</span><a data-anonymize="company-name">{escape(one.company)}</a>'
        f'<span data-anonymize="location">{one.place}</span></section></main>',
    )


def recruiter(language: Language) -> str:
    rows = "".join(
        f"<li data-test-paginated-list-item><div><span data-test-row-lockup-full-name><div><a "
        f'href="/talent/profile/AEMAAA{one.slug}?trk=1">{escape(one.name)}</a></div></span>'
        f"<span>{language.degree}</span><span data-test-row-lockup-headline>{escape(one.title)}</span>"
        f"<span data-test-current-company>{escape(one.company)}</span>"
        f"<div data-test-row-lockup-location>{one.place}</div></div></li>"
        for one in language.people
    )
    return document(language, f"<main><ol data-test-paginated-list>{rows}</ol></main>")


def gmail(language: Language) -> str:
    """A conversation: an earlier collapsed message, and the open one with its recipients."""
    first, second, third = language.people
    pretender = '<span class="gD" email="fake@evil.test" name="Fake Sender">Fake Sender</span>'
    return document(
        language,
        f'<a href="https://accounts.google.com/SignOutOptions?x=1" aria-label="Google: Me ({OWN})">M</a>'
        f'<div role=main><h2 class="hP">Hello</h2>'
        f'<div class="adn"><span class="gD" email="{third.email}" name="{escape(third.name)}">{escape(third.name)}</span></div>'
        f'<div class="adn ads"><h3><span class="qu"><span class="gD" email="{first.email}" name="{escape(first.name)}">'
        f'<span>{escape(first.name)}</span></span> <span class="go">&lt;{first.email}&gt;</span></span></h3>'
        f'<span class="hb"><span class="g2" email="{OWN}" name="{language.me}">{language.me}</span>, '
        f'<span class="g2" email="{second.email}" name="{escape(second.name)}">{escape(second.name.split()[0])}</span></span>'
        f'<div class="a3s">Hello {pretender} <a href="mailto:other@evil.test">other</a></div></div></div>',
    )


def outlook(language: Language) -> str:
    first, second, _ = language.people
    return document(
        language,
        f'<div role=listbox><div role=option title="third@list.test">In the list</div></div>'
        f'<div id="ReadingPaneContainerId"><div data-app-section="ItemContainer"><div role=heading>Hello</div>'
        f'<span data-lpc-hover-target-id="1"><span class="OZZZK">{escape(first.name)}&lt;{first.email}&gt;</span></span>'
        f'<div data-testid="RecipientWell"><span data-lpc-hover-target-id="2" title="{second.email}">{escape(second.name)}</span></div>'
        f'<div role=document><a href="mailto:x@evil.test" title="x@evil.test">x@evil.test</a></div></div></div>',
    )


def google_calendar(language: Language) -> str:
    first, second, _ = language.people
    guest = '<div role=treeitem data-email="{0}"><div><span data-hovercard-id="{0}">{1}</span></div>{2}</div>'
    return document(
        language,
        f'<a href="https://accounts.google.com/SignOutOptions?x=1" aria-label="Google: Me ({OWN})">M</a>'
        f'<div id="xDetDlg" role=dialog><span role=heading>Talk</span><div id="xDetDlgAtt" role=tree>'
        + guest.format(first.email, escape(first.name), f"<div>{language.organizer}</div>")
        + guest.format(OWN, "Me Myself", "")
        + guest.format(second.email, escape(second.name), "")
        + "</div></div>",
    )


def outlook_calendar(language: Language) -> str:
    first, second, _ = language.people
    return document(
        language,
        f'<div role=dialog><div role=heading>Talk</div><div title="{first.email}">{escape(first.name)}</div>'
        f'<div title="{second.email}">{escape(second.name)}</div></div>',
    )


def roundcube(language: Language) -> str:
    first, second, _ = language.people
    address = '<span class="adr"><a class="rcmContactAddress" href="mailto:{0}" title="{0}">{1}</a></span>'
    return document(
        language,
        f"<div id=message-header>{address.format(first.email, escape(first.name))} {address.format(second.email, escape(second.name))}</div>"
        '<div id=messagebody><a class="rcmContactAddress" href="mailto:x@evil.test">x</a></div>',
    )


def unknown_webmail(language: Language) -> str:
    one = language.people[0]
    return document(
        language, f"<div class=head>{escape(one.name)} &lt;{one.email}&gt;<p>to support@my.test</p></div>"
    )


def hubspot(language: Language) -> str:
    one = language.people[0]
    return document(
        language,
        f'<div data-test-id="left-sidebar"><h2 data-selenium-test="highlightTitle">{escape(one.name)}</h2>'
        f'<div data-selenium-test="property-input-jobtitle">{escape(one.title)}</div>'
        f'<a href="mailto:{one.email}">{one.email}</a><a href="tel:{one.phone}">{one.phone}</a></div>'
        f'<div data-test-id="right-sidebar"><a href="/contacts/1/record/0-2/9">Another</a></div>',
    )


def salesforce(language: Language) -> str:
    one = language.people[0]
    label = {"en": "Title", "de": "Titel", "fr": "Titre"}[language.code]
    other = '<div style="display:none"><h1><lightning-formatted-name>Earlier Record</lightning-formatted-name></h1></div>'
    return document(
        language,
        f"{other}<records-highlights2><h1><lightning-formatted-name>{escape(one.name)}</lightning-formatted-name></h1></records-highlights2>"
        f'<records-record-layout-item field-label="{label}"><span>{label}</span><span class="test-id__field-value">{escape(one.title)}</span>'
        f'</records-record-layout-item><a href="/lightning/r/Account/001/view">{escape(one.company)}</a>'
        f'<a href="mailto:{one.email}">{one.email}</a><a href="tel:{one.phone}">{one.phone}</a>',
    )


def pipedrive(language: Language) -> str:
    one = language.people[0]
    return document(
        language,
        f'<main><h1>{escape(one.name)}</h1><a href="/organization/4">{escape(one.company)}</a>'
        f'<a href="mailto:{one.email}">{one.email}</a><a href="tel:{one.phone}">{one.phone}</a></main>',
    )


def twenty(language: Language) -> str:
    one = language.people[0]
    return document(
        language,
        f'<div data-testid="top-bar-title"><div role=button>People</div><span> / {escape(one.name)}</span></div>'
        f'<a href="mailto:{one.email}">{one.email}</a><a href="tel:{one.phone}">{one.phone}</a>'
        f'<a href="https://linkedin.com/in/{one.slug}">{one.slug}</a><a href="/object/company/1">{escape(one.company)}</a>',
    )


def json_ld(language: Language) -> str:
    people = ",".join(
        f'{{"@type":"Person","name":"{one.name}","jobTitle":"{one.title}","email":"hidden-{one.email}",'
        f'"sameAs":["https://www.linkedin.com/in/{one.slug}"]}}'
        for one in language.people
    )
    pretender = '{"@type":"Person","name":"Not Shown"}'
    script = f'<script type="application/ld+json">{{"@type":"Organization","employee":[{people},{pretender}]}}</script>'
    shown = "".join(
        f'<p>{escape(one.name)}, {escape(one.title)} <a href="https://www.linkedin.com/in/{one.slug}">in</a></p>'
        for one in language.people
    )
    return document(language, script + shown)


def microdata(language: Language) -> str:
    rows = "".join(
        f'<div itemscope itemtype="https://schema.org/Person"><b itemprop="name">{escape(one.name)}</b>'
        f'<i itemprop="jobTitle">{escape(one.title)}</i><a itemprop="email" href="mailto:{one.email}">@</a>'
        f'<span itemprop="telephone">{one.phone}</span></div>'
        for one in language.people
    )
    return document(language, rows)


def h_card(language: Language) -> str:
    rows = "".join(
        f'<div class="h-card"><span class="p-name">{escape(one.name)}</span><span class="p-job-title">{escape(one.title)}</span>'
        f'<span class="p-org">{escape(one.company)}</span><a class="u-email" href="mailto:{one.email}">@</a></div>'
        for one in language.people
    )
    return document(language, rows)


def contact_links(language: Language) -> str:
    rows = "".join(
        f'<tr><td>{escape(one.name)}</td><td>{escape(one.title)}</td><td><a href="mailto:{one.email}?subject=Hi">{one.email}</a></td>'
        f'<td><a href="tel:{one.phone}">{one.phone}</a></td></tr>'
        for one in language.people
    )
    return document(
        language, f'<table>{rows}</table><footer><a href="mailto:info@acme.test">info@acme.test</a></footer>'
    )


def profile_links(language: Language) -> str:
    """Speakers of an event, with links to their profiles."""
    rows = "".join(
        f"<li><h4>{escape(one.name)}</h4><p>{escape(one.title)}</p>"
        f'<a href="https://www.linkedin.com/in/{one.slug}/"><svg width=16 height=16></svg></a></li>'
        for one in language.people
    )
    return document(language, f"<ul>{rows}</ul>")


def team(language: Language) -> str:
    rows = "".join(
        f'<div class="card"><img alt="" width=50 height=50><h3>{escape(one.name)}</h3><p>{escape(one.title)}</p></div>'
        for one in language.people
    )
    return document(language, f"<h1>Team</h1><div class=grid>{rows}</div><h3>Our Products</h3><p>Many</p>")


def addresses(language: Language) -> str:
    rows = "".join(f"<p>{escape(one.name)}: {one.email}</p>" for one in language.people)
    return document(language, f"{rows}<p>Office: info@acme.test</p>")


OWN = "me@my.test"

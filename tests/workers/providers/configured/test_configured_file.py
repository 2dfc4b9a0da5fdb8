from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import SettingsError
from workers.providers.configured import provider

CRM = '[crm]\nurl = "https://crm.example.com"\n'
EMAIL = '[crm.email]\npath = "/p/{email}"\nread.email = "email"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "providers.toml"


def test_there_is_a_provider_for_each_table(file: Path) -> None:
    file.write_text(CRM + EMAIL + '[dwh]\nurl = "http://10.0.0.1:8080/x"\n' + EMAIL.replace("crm", "dwh"))

    providers = provider.read(str(file), {})

    assert [(provider_class.name, provider_class.base_url) for provider_class in providers] == [
        ("crm", "https://crm.example.com"),
        ("dwh", "http://10.0.0.1:8080/x"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[crm", "cannot be read"),
        ("crm = 3", "'crm' must be a table"),
        ('["My CRM"]\n', "'My CRM' must be a table"),
        ("[crm]\n" + EMAIL, "[crm] url: Missing data"),
        (CRM, "[crm]: Must have a section"),
        (CRM + "colour = 3\n" + EMAIL, "[crm] colour: Unknown field"),
        (CRM + EMAIL + "colour = 3\n", "[crm.email] colour: Unknown field"),
        (CRM + EMAIL + 'read.emial = "x"\n', "[crm.email.read] emial: Unknown field"),
        (CRM + '[crm.email]\npath = "/p/{email}"\n', "[crm.email] read: Missing data"),
        (
            CRM + '[crm.email]\npath = "/p/{email}"\nread.status = "s"\n',
            "[crm.email.read] email: Missing data",
        ),
        (CRM + '[crm.email]\nread.email = "email"\n', "[crm.email] path: Missing data"),
        (CRM + EMAIL.replace('"email"', '"email["'), "[crm.email.read] email: 'email[' is not a JMESPath"),
        (
            CRM + EMAIL.replace('"email"', '"a[].upper(b)"'),
            "[crm.email.read] email: JMESPath has no function upper",
        ),
        (CRM + EMAIL + "miss = 3\n", "[crm.email] miss: Must be a JMESPath expression"),
        (CRM + EMAIL.replace("{email}", "{e_mail}"), "[crm.email] path: {e_mail} is not a placeholder"),
        (CRM + EMAIL.replace("{email}", "{email.__class__}"), "{email.__class__} is not a placeholder"),
        (CRM + EMAIL.replace("{email}", "{email!r}"), "{email} is not a placeholder"),
        (CRM + EMAIL.replace("{email}", "{email:>9}"), "{email} is not a placeholder"),
        (CRM + EMAIL.replace("{email}", "{}"), "{} is not a placeholder"),
        (CRM + EMAIL.replace("{email}", "{email"), "[crm.email] path: expected '}'"),
        (CRM + EMAIL.replace("{email}", "${CRM_TOKEN}"), "{CRM_TOKEN} is not a placeholder"),
        (CRM + EMAIL.replace("/p/{email}", "/p"), "[crm.email]: Must contain a placeholder"),
        (CRM + EMAIL.replace("/p/", "p/"), "[crm.email]: Must start with /"),
        (CRM + EMAIL.replace("/p/", "/p?e="), "[crm.email]: Must start with /"),
        (CRM + EMAIL + 'query = { d = "{domain}" }\n', "[crm.email] query: {domain} is not a placeholder"),
        (CRM + EMAIL + "query = { d = [1] }\n", "[crm.email]: A query parameter"),
        (CRM + EMAIL + "body = { at = 2026-01-01 }\n", "[crm.email] body: A value must be"),
        (CRM + EMAIL + 'body = "{email}"\n', "[crm.email] body: Must be a table"),
        (CRM + EMAIL + 'method = "GET"\nbody.x = 1\n', "[crm.email]: A GET request cannot have a body"),
        (CRM + EMAIL + 'method = "DELETE"\n', "[crm.email] method: Must be one of: GET, POST"),
        (CRM + EMAIL + 'needs = ["name"]\n', "[crm.email] needs: Must list at least one of"),
        (CRM + EMAIL + "needs = []\n", "[crm.email] needs: Must list at least one of"),
        (CRM + EMAIL + 'statuses.ok = "fine"\n', "[crm.email.statuses.ok] value: Must be one of: valid"),
        (CRM + EMAIL + 'types.cell = "mobile"\n', "[crm.email.types.cell] value: Must be one of: personal"),
        (CRM + EMAIL + "confidence_scale = 0\n", "[crm.email] confidence_scale: Must be greater than"),
        (CRM + EMAIL + "price = -1\n", "[crm.email] price: Must be greater than"),
        (CRM + 'rates = "often"\n' + EMAIL, "[crm] rates: This is not a rate limit."),
        (
            CRM + 'headers = { X = "${CRM" }\n' + EMAIL,
            "[crm] headers: X: Write an environment variable as ${NAME}",
        ),
        (CRM + 'headers = { X = "a\\nb" }\n' + EMAIL, "[crm] headers: X is not a header name"),
        (CRM + 'headers = { "X Y" = "a" }\n' + EMAIL, "[crm] headers: X Y is not a header name"),
        (CRM + 'key_header = "X Y"\n' + EMAIL, "[crm] key_header: "),
        (CRM + 'check = "me"\n' + EMAIL, "[crm] check: Must start with /"),
        (CRM.replace("https", "ftp") + EMAIL, "[crm] url: Must be a URL such as https://"),
        (CRM.replace("crm.ex", "key@crm.ex") + EMAIL, "[crm] url: Must be a URL such as https://"),
        (CRM.replace(".com", ".com/?key=1") + EMAIL, "[crm] url: Must be a URL such as https://"),
    ],
)
def test_an_invalid_value_is_reported_with_its_table_and_key(file: Path, text: str, message: str) -> None:
    file.write_text(text)

    with pytest.raises(SettingsError) as caught:
        provider.read(str(file), {})

    assert str(file) in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_file_is_reported_with_its_setting(file: Path) -> None:
    with pytest.raises(SettingsError, match="PROVIDERS_FILE"):
        provider.read(str(file), {})


def test_a_table_cannot_have_the_name_of_a_built_in_provider(file: Path) -> None:
    file.write_text(CRM + EMAIL)

    with pytest.raises(SettingsError, match="crm"):
        provider.read(str(file), {}, reserved={"crm"})

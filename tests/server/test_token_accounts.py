from __future__ import annotations

from app.server.token_accounts import TokenAccounts


def test_the_account_of_a_token_is_known_after_it_was_noted() -> None:
    accounts = TokenAccounts()

    accounts.note("ses_1", "acc_1", "wks_1")

    assert (accounts.get("ses_1"), accounts.get("ses_2")) == (("acc_1", "wks_1"), None)


def test_the_tokens_that_were_not_used_for_the_longest_time_are_forgotten() -> None:
    accounts = TokenAccounts(2)
    for token in ("ses_1", "ses_2", "ses_1", "ses_3"):
        accounts.note(token, "acc_1", "wks_1")

    known = [accounts.get(token) is not None for token in ("ses_1", "ses_2", "ses_3")]
    assert known == [True, False, True]


def test_no_token_is_kept() -> None:
    accounts = TokenAccounts()

    accounts.note("ses_secret", "acc_1", "wks_1")

    assert "ses_secret" not in str(vars(accounts))

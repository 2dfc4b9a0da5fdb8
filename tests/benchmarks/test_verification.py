"""The verifier at simulated mail systems; the benchmark prints the verdicts at all of them."""

import pytest

from benchmarks.verification.mail_systems import SYSTEMS, MailSystem
from benchmarks.verification.matrix import VERDICTS, measure

BY_NAME = {system.name: system for system in SYSTEMS}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_no_verdict_on_the_mailboxes_of_a_mail_system_is_wrong_or_missed(system: MailSystem) -> None:
    rows = measure(system)

    assert [(row.wrong, row.missed) for row in rows] == [(0, 0), (0, 0)]


def test_each_mailbox_is_verified_twice() -> None:
    exists, missing = measure(BY_NAME["accepts all"])

    assert [exists.counts[verdict] for verdict in VERDICTS] == [0, 2, 0, 0, 0]
    assert exists.counts == missing.counts


def test_a_verdict_that_the_replies_do_not_support_is_wrong_and_one_that_says_less_is_missed() -> None:
    claimed = MailSystem("claims to tell mailboxes apart", "", missing="250 OK")
    refusing = MailSystem("refuses", "", exists="554 Blocked", missing="550 5.1.1 No such user")

    wrong, missed = measure(claimed)[0].wrong, measure(refusing)[0].missed

    assert (wrong, missed) == (2, 2)

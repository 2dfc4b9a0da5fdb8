"""Mail systems, by their replies to RCPT TO as vendors document them and senders quote them.

In a reply, `{email}` is the recipient and `192.0.2.1` the verifier. The right verdicts are those in the end:
a greylisted address is verified again.
"""

from __future__ import annotations

from dataclasses import dataclass

OK = "250 2.1.5 OK"
UNKNOWN_USER = "550 5.1.1 {email}: Recipient address rejected: User unknown"
TOLD_APART = ("valid", "invalid")
ACCEPTS_ALL = ("accept_all", "accept_all")
NO_VERDICT = ("unknown", "unknown")

GOOGLE = "https://support.google.com/a/answer/3726730"
EXCHANGE_ONLINE = "https://smtpfieldmanual.com/spamfilter/exchangeonline"
RECIPIENT_FILTERING = (
    "https://learn.microsoft.com/exchange/antispam-and-antimalware/antispam-protection/recipient-filtering"
)
PROOFPOINT = "https://www.spambrella.com/faq/email-delivery-error-codes/"
MIMECAST = "https://mimecastsupport.zendesk.com/hc/en-us/articles/34000709564691"
BARRACUDA = "https://campus.barracuda.com/product/emailsecuritygateway/article/BSF/SMTPErrorCodes/"
CISCO = "Cisco IronPort AsyncOS for Email, Advanced Configuration Guide, chapter 4"
BROADCOM = "https://knowledge.broadcom.com/external/article/161393"
EXIM = "https://www.exim.org/exim-html-current/doc/html/spec_html/ch-access_control_lists.html"
POSTFIX = "https://www.postfix.org/postconf.5.html"
POSTGREY = "https://postgrey.schweikert.ch"
SMTP = "RFC 5321"
ENHANCED = "RFC 3463"


@dataclass(frozen=True, slots=True)
class MailSystem:
    """A mail system: its replies for a mailbox that exists and one that does not, and the right verdicts.

    `first` is the reply to the first attempt for each recipient, `second` that to all recipients of a session
    but the first; "" for none. `seconds` is the delay of refusals, `slow` that of all replies. `mx` is how
    the domain is found: by its MX record, a null one, or its address.
    """

    name: str
    source: str
    exists: str = OK
    missing: str = UNKNOWN_USER
    verdicts: tuple[str, str] = TOLD_APART
    first: str = ""
    second: str = ""
    seconds: float = 0.0
    slow: float = 0.0
    mx: str = "mx"


def refusing(name: str, source: str, reply: str) -> MailSystem:
    """Return a system with the same reply for all mailboxes, which supports no verdict."""
    return MailSystem(name, source, reply, reply, NO_VERDICT)


SYSTEMS = (
    MailSystem("Exchange", RECIPIENT_FILTERING, missing="550 5.1.1 User unknown", seconds=0.2),
    MailSystem("Exchange, bounces later", RECIPIENT_FILTERING, missing=OK, verdicts=ACCEPTS_ALL),
    MailSystem(
        "Exchange Online",
        EXCHANGE_ONLINE,
        missing="550 5.4.1 Recipient address rejected: Access denied. [AM6EUR05.eop-eur05.prod.outlook.com]",
    ),
    refusing(
        "Exchange Online, banned IP",
        EXCHANGE_ONLINE,
        "550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list visit …",
    ),
    refusing(
        "Exchange Online, Spamhaus",
        EXCHANGE_ONLINE,
        "550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus. (AS16012611)",
    ),
    refusing(
        "Exchange Online, busy",
        EXCHANGE_ONLINE,
        "451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (AS77712344)",
    ),
    MailSystem(
        "Outlook.com",
        "https://www.spamresource.com/2023/09/microsoft-multiple-types-of-invalid.html",
        missing="550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
    ),
    MailSystem(
        "Workspace",
        GOOGLE,
        missing="550-5.1.1 The email account that you tried to reach does not exist. Please try\r\n"
        "550-5.1.1 double-checking the recipient's email address for typos or\r\n"
        "550 5.1.1 unnecessary spaces. - gsmtp",
    ),
    MailSystem(
        "Workspace, over quota",
        GOOGLE,
        exists="452 4.2.2 The recipient's inbox is out of storage space. - gsmtp",
        missing="550 5.1.1 The email account that you tried to reach does not exist. - gsmtp",
        verdicts=("risky full_inbox", "invalid"),
    ),
    MailSystem(
        "Workspace, disabled account",
        GOOGLE,
        exists="550 5.2.1 The email account that you tried to reach is inactive. - gsmtp",
        missing="550 5.1.1 The email account that you tried to reach does not exist. - gsmtp",
        verdicts=("risky disabled", "invalid"),
    ),
    MailSystem(
        "Workspace, busy account",
        GOOGLE,
        exists="450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents "
        "additional messages from being delivered. - gsmtp",
        verdicts=("unknown", "invalid"),
    ),
    refusing(
        "Workspace, rejected IP",
        GOOGLE,
        "550 5.7.1 The IP you're using to send mail is not authorized to send email directly to our servers.",
    ),
    MailSystem(
        "Workspace, rate limit", GOOGLE, first="421 4.7.0 Try again later, closing connection. - gsmtp"
    ),
    MailSystem("Proofpoint", PROOFPOINT, missing="550 5.1.1 User Unknown"),
    MailSystem(
        "Proofpoint Essentials",
        PROOFPOINT,
        missing="550 5.7.1 <{email}>: Recipient address rejected: User email address is marked as invalid.",
    ),
    refusing(
        "Proofpoint, blocked IP",
        PROOFPOINT,
        "554 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1",
    ),
    refusing("Proofpoint, blocked sender", PROOFPOINT, "550 5.1.0 sender rejected"),
    MailSystem(
        "Mimecast",
        MIMECAST,
        missing="550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550",
        first="451 Internal resource temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451",
    ),
    refusing(
        "Mimecast, poor reputation",
        MIMECAST,
        "550 csi.mimecast.org Poor Reputation Sender. - http://kb.mimecast.com/Mimecast_SMTP_Error_Codes#550",
    ),
    refusing(
        "Mimecast, envelope blocked",
        MIMECAST,
        "550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550",
    ),
    MailSystem("Barracuda", BARRACUDA, missing="550 <{email}>: Recipient address rejected: No such user"),
    refusing(
        "Barracuda, blocked IP",
        BARRACUDA,
        "554 Service unavailable; Client host [192.0.2.1] blocked using Barracuda Reputation; "
        "http://www.barracudanetworks.com/reputation/?r=1&ip=192.0.2.1",
    ),
    refusing(
        "Barracuda, blocked by tenant",
        "https://www.suped.com/email-deliverability/answers/"
        "what-causes-bounces-from-barracuda-based-domains-and-how-to-resolve-them",
        "550 permanent failure for one or more recipients ({email}:blocked)",
    ),
    MailSystem(
        "Postfix with greylisting",
        POSTGREY,
        missing="550 5.1.1 <{email}>: Recipient address rejected: User unknown in local recipient table",
        first="450 4.2.0 <{email}>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/",
    ),
    MailSystem(
        "Postfix, asks the next server",
        POSTFIX,
        missing="450 4.1.1 <{email}>: Recipient address rejected: unverified address: host unreachable",
        verdicts=("valid", "unknown"),
    ),
    refusing(
        "Postfix, blocked IP",
        POSTFIX,
        "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
    ),
    refusing(
        "Postfix, policy",
        POSTFIX,
        "554 5.7.1 <{email}>: Recipient address rejected: Recipient address rejected for policy reasons",
    ),
    refusing("Postfix, temporary failure", POSTFIX, "451 4.3.0 <{email}>: Temporary lookup failure"),
    MailSystem("Postfix, rate limit", POSTFIX, first="450 4.7.1 Error: too much mail from 192.0.2.1"),
    MailSystem("Cisco", CISCO, missing="550 #5.1.0 Address rejected {email}"),
    refusing(
        "Cisco, poor reputation",
        "https://headwayapp.co/mxroute-changelog/adjustments-to-outbound-rejections-137432",
        "550 #5.7.1 Your access to submit messages to this e-mail system has been rejected.",
    ),
    MailSystem(
        "qmail", "https://cr.yp.to/qmail.html", missing="550 sorry, no mailbox here by that name. (#5.1.1)"
    ),
    refusing(
        "qmail, relay refused",
        "https://cr.yp.to/qmail.html",
        "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    ),
    refusing("sender refused", "a bounce of sympatico.ca", "550 you are not allowed to send mail to {email}"),
    refusing(
        "Exim, sender not verified",
        EXIM,
        "550-Verification failed for <probe@verifier.com>\r\n"
        "550-Response: 550 5.1.1 <probe@verifier.com>: Recipient address rejected: User unknown\r\n"
        "550 Sender verify failed",
    ),
    refusing("other, policy", BROADCOM, "550 Denied by policy"),
    refusing("other, reputation", BROADCOM, "550 Message rejected due to sender IP reputation ([192.0.2.1])"),
    refusing("other, relay", BROADCOM, "553 Relay denied"),
    MailSystem("accepts all", SMTP, missing=OK, verdicts=ACCEPTS_ALL),
    MailSystem(
        "accepts all, greylists",
        POSTGREY,
        missing=OK,
        verdicts=ACCEPTS_ALL,
        first="451 4.7.1 Greylisting in action, please come back later",
    ),
    MailSystem(
        "accepts all, one at a time",
        GOOGLE,
        missing=OK,
        verdicts=NO_VERDICT,
        second="452 4.5.3 Your message has too many recipients.",
    ),
    MailSystem(
        "accepts all, then blocks",
        SMTP,
        missing=OK,
        verdicts=NO_VERDICT,
        second="550 5.7.1 Rejected by policy: too many recipients probed by 192.0.2.1",
    ),
    MailSystem(
        "accepts all, then refuses",
        SMTP,
        missing=OK,
        verdicts=NO_VERDICT,
        second="554 Transaction failed",
    ),
    MailSystem(
        "accepts all, then closes",
        SMTP,
        missing=OK,
        verdicts=NO_VERDICT,
        second="421 4.7.0 Too many errors, closing connection",
    ),
    MailSystem("tarpit", "RFC 5321, section 4.5.3.2", verdicts=NO_VERDICT, slow=1.5),
    MailSystem(
        "mailbox full",
        ENHANCED,
        exists="552 5.2.2 <{email}>: Mailbox is full",
        verdicts=("risky full_inbox", "invalid"),
    ),
    MailSystem(
        "mailbox full, without code",
        SMTP,
        exists="552 Requested mail action aborted: exceeded storage allocation",
        missing="550 Requested action not taken: mailbox unavailable",
        verdicts=("risky full_inbox", "invalid"),
    ),
    MailSystem(
        "mailbox disabled",
        ENHANCED,
        exists="550 5.2.1 <{email}>: Mailbox disabled, not accepting messages",
        verdicts=("risky disabled", "invalid"),
    ),
    MailSystem("null MX", "RFC 7505", verdicts=("invalid no_mx", "invalid no_mx"), mx="null"),
    MailSystem("no MX but A", "RFC 5321, section 5.1", mx="address"),
)
"""The systems; the domain of "null MX" accepts no mail, so that its mailboxes do not exist for senders."""

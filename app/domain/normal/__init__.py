"""Normal forms of names, e-mails, phones, profiles, websites and other values."""

"""Sign-in with company accounts, which are users of the OpenID provider of the settings."""

"""Who makes a request: tokens, cookies, passwords and second factors."""

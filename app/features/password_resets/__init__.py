"""New passwords by a link: made by an admin, or sent to the account's address where mail is set up."""

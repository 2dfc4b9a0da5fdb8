"""The pages below /admin: of a workspace, for its admins; of the whole deployment, for its operators."""

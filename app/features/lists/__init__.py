"""Contact lists: a workspace names lists, and puts people on them; saved profiles name them too."""

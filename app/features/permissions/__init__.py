"""What the seats of a workspace may do: admins set it for members, and for each account."""

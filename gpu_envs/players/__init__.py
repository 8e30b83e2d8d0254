"""The rows of one role, and the players of the other roles."""

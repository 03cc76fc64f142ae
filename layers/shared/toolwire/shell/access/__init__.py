"""Who may ask, how much, and with which provider's credential."""

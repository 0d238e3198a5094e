"""What the commands take, one file a command; nothing large is imported, so help comes at once."""

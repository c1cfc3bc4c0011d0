"""How soon `auto` comes within a nat of the top of a narrow posterior."""

"""A small assignment; as a package within this one, it does not take the name of the kit's own."""

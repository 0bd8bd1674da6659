"""Other layouts of the parameters behind the same computation: rewriting sources, mapping parameters."""

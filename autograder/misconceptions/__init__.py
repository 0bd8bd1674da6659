"""Known faults of student code as data: one TOML file a component, each fault a patch on the reference and a hint."""

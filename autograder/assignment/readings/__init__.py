"""What the component tests are made of: random cases, comparison with messages, layouts of parameters."""

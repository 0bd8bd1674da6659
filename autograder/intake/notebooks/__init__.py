"""From the cells of notebooks to the assignment's modules. Nothing is run."""

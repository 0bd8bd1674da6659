"""From a reference module to its skeleton: finds the marked regions, takes the solutions out, keeps the hints."""

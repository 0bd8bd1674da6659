"""Measures the figures that the README quotes; times are CPU time, compared within one run."""

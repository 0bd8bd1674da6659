"""Packs what students, instructors and Gradescope get."""

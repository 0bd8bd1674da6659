"""The files of a submission, wherever they lie. Nothing is unpacked to disk, and no link is followed."""

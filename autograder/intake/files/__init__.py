"""The files of a submission, in a folder or an archive. Nothing is unpacked to disk, and no link is followed."""

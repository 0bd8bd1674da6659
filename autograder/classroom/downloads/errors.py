"""What is wrong with a download or a roster, for the person who named it."""


class DownloadError(ValueError):
    """A folder that is not a class's download, or a roster that cannot be read; the message says where and why."""

"""What a sentence means, apart from either language; both are written from it, and so aligned by it."""

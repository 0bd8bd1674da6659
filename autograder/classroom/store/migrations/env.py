"""Run by Alembic for each migration: on the connection that `opening` gives it, in that one's transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

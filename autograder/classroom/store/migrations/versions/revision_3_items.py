"""Tests name the rubric item that they belong to, in place of whether they are core tests."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Replaces the column; tests of earlier gradings name no item."""
    with op.batch_alter_table("test_results") as table:
        table.add_column(sa.Column("item", sa.String(), nullable=False, server_default=""))
        table.drop_column("is_core")
    with op.batch_alter_table("test_results") as table:
        table.alter_column("item", server_default=None)

"""Tests name the rubric item that they belong to, in place of whether they are core tests."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Replaces the column; tests of earlier gradings name no item."""
    op.add_column("test_results", sa.Column("item", sa.String(), nullable=False, server_default=""))
    op.drop_column("test_results", "is_core")

"""What people decide: points and comments by hand, and late days that are waived."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Makes the tables."""
    special: dict[str, list[sa.Column[Any]]] = {
        "overrides": [sa.Column("task", sa.String(), nullable=False), sa.Column("points", sa.Double())],
        "comments": [sa.Column("task", sa.String(), nullable=False)],
        "late_days": [sa.Column("days", sa.Integer())],
        "waivers": [sa.Column("days", sa.Integer())],
    }
    for table, columns in special.items():
        op.create_table(
            table,
            sa.Column("id", sa.Integer(), nullable=False),
            sa.Column("student_id", sa.Integer(), nullable=False),
            *columns,
            sa.Column("text", sa.String(), nullable=False),
            sa.Column("by", sa.String(), nullable=False),
            sa.Column("at", sa.DateTime(timezone=True), nullable=False),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            sa.ForeignKeyConstraint(["student_id"], ["students.id"], name=f"fk_{table}_student_id"),
        )
        op.create_index(f"ix_{table}_student_id", table, ["student_id"])

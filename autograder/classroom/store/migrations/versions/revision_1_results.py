"""Students, submissions, attempts, runs and results."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "settings",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_settings"),
    )
    op.create_table(
        "students",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("group_name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_students"),
        sa.UniqueConstraint("key", name="uq_students_key"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entry", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("entry", name="uq_submissions_entry"),
    )
    op.create_table(
        "handed_in",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("student_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("submission_id", "student_id", name="pk_handed_in"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_handed_in_submission_id"),
        sa.ForeignKeyConstraint(["student_id"], ["students.id"], name="fk_handed_in_student_id"),
    )
    op.create_index("ix_handed_in_student_id", "handed_in", ["student_id"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("submitted", MOMENT),
        sa.Column("is_late", sa.Boolean()),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("submission_id", "content", name="uq_attempts_submission_id"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_attempts_submission_id"),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("first_used", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("started", MOMENT, nullable=False),
        sa.Column("finished", MOMENT),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_runs_attempt_id"),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name="fk_runs_version_id"),
    )
    op.create_index("ix_runs_attempt_id", "runs", ["attempt_id"])
    op.create_table(
        "results",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.String(), nullable=False),
        sa.Column("seed_id", sa.String(), nullable=False),
        sa.Column("weighting", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("is_finished", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double()),
        sa.Column("max_score", sa.Double(), nullable=False),
        sa.Column("needs_review", sa.Boolean(), nullable=False),
        sa.Column("record", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_results"),
        sa.UniqueConstraint("attempt_id", "version_id", "seed_id", "weighting", name="uq_results_attempt_id"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_results_attempt_id"),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name="fk_results_version_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_results_run_id"),
    )
    op.create_table(
        "test_results",
        sa.Column("result_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("is_core", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("result_id", "position", name="pk_test_results"),
        sa.ForeignKeyConstraint(["result_id"], ["results.id"], name="fk_test_results_result_id", ondelete="CASCADE"),
    )
    op.create_table(
        "kept",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("result_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("submission_id", name="pk_kept"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_kept_submission_id"),
        sa.ForeignKeyConstraint(["result_id"], ["results.id"], name="fk_kept_result_id"),
    )

"""Alembic's entry: runs the migrations in the transaction of the connection that `explorer.store.schema` hands over."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    render_as_batch=True,  # SQLite changes columns by copying the table
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

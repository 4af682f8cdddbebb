"""What a credential was made with and by whom, whose data directory a token stands in, the role an owner gave,
and a person's address, which is kept when an identity provider knows them.

Wrong passkeys and passwords are not counted in the database any more.
"""

from __future__ import annotations

import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement
from toryo.storage.tables import from_json

_LINKED = Statement(sa.text("SELECT agent_id FROM people WHERE subject LIKE '%#%'"))
_GIVEN = Statement(
    sa.text(
        "SELECT agent_id, data FROM events WHERE kind IN ('person.added', 'person.changed', 'person.password_set') "
        "AND by_person ORDER BY sequence"
    )
)
_OWN = Statement(sa.text("UPDATE people SET own_login = :login WHERE agent_id = :agent_id"))
_OWN_OF_OTHERS = Statement(
    sa.text("UPDATE people SET own_login = login WHERE subject IS NULL OR subject NOT LIKE '%#%'")
)
_ADDRESSES = Statement(sa.text("UPDATE people SET email = substr(subject, 8) WHERE subject LIKE 'mailto:%'"))


def upgrade(connection: Connection) -> None:
    for table in ("access_tokens", "sign_ins", "sign_in_links"):
        for column in ("made_by", "made_with"):
            connection.define(f"ALTER TABLE {table} ADD COLUMN {column} TEXT")
    for column in ("own_login", "email"):
        connection.define(f"ALTER TABLE people ADD COLUMN {column} TEXT")
    connection.run(_ADDRESSES)
    connection.define("ALTER TABLE tokens ADD COLUMN place TEXT")
    connection.define("DROP TABLE sign_in_failures")
    tell_roles_apart(connection)


def tell_roles_apart(connection: Connection) -> None:
    """Who is not known to an identity provider has their role from an owner; of the others the events tell it."""
    connection.run(_OWN_OF_OTHERS)
    given = {agent_id: from_json(data).get("login") for agent_id, data in connection.all(_GIVEN)}
    for (agent_id,) in connection.all(_LINKED):
        if given.get(agent_id) is not None:
            connection.run(_OWN, agent_id=agent_id, login=given[agent_id])

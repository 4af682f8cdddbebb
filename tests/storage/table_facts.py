"""What the tables of a database are, as it says itself, a line for each table, index, trigger and constraint: also the
order of columns, defaults and names, which `shape` in test_migrations.py leaves out.
"""

from __future__ import annotations

import sqlalchemy as sa

from toryo.storage.engine.database import Connection
from toryo.storage.engine.statements import Statement

_SQLITE = r"""
SELECT m.name, group_concat(c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' ||
    c.pk, ', ') || (m.sql LIKE '%AUTOINCREMENT%')
FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c WHERE m.type = 'table' GROUP BY m.name;
SELECT m.name, f."from", f."table", f."to", f.on_update, f.on_delete
FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table';
SELECT m.name, i.name, i.origin, (SELECT group_concat(x.name) FROM pragma_index_info(i.name) x)
FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.origin <> 'c';
SELECT name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL
"""
_POSTGRESQL = r"""
SELECT relname, string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
    pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum)
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE relnamespace = current_schema()\:\:regnamespace AND relkind = 'r' AND attnum > 0 GROUP BY relname;
SELECT conname, conrelid\:\:regclass\:\:text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()\:\:regnamespace AND contype IN ('p', 'u', 'f', 'c');
SELECT pg_get_indexdef(indexrelid, 0, true) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = current_schema()\:\:regnamespace;
SELECT pg_get_triggerdef(pg_trigger.oid, true) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE relnamespace = current_schema()\:\:regnamespace AND NOT tgisinternal;
SELECT proname, replace(prosrc, chr(10), ' ') FROM pg_proc WHERE pronamespace = current_schema()\:\:regnamespace
"""


def read(connection: Connection) -> list[str]:
    asked = (_SQLITE if connection.dialect == "sqlite" else _POSTGRESQL).split(";\n")
    rows = [row for each in asked for row in connection.all(Statement(sa.text(each)))]
    return sorted(" | ".join(map(str, row)) for row in rows)

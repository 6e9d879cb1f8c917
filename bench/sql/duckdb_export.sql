-- The tables of a schema for duckdb_public.py.  psql sets set, the schema, and directory: to which go TABLE.csv and tables.sql, which makes
-- the tables.  Trailing blanks of char(n) mean nothing in PostgreSQL, and something in DuckDB.

SET search_path = :set, public;
SELECT format('COPY (SELECT %s FROM %I) TO %L (FORMAT csv, HEADER, FORCE_QUOTE *)',
	string_agg(format(CASE WHEN atttypid = 'bpchar'::regtype THEN 'rtrim(%1$I) AS %1$I' ELSE '%1$I' END, attname), ', ' ORDER BY attnum), relname,
	:'directory' || '/' || relname || '.csv')
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace GROUP BY relname \gexec
SELECT format('CREATE TABLE %I (%s)', relname, string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)) AS line
FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace GROUP BY relname
\g :directory/tables.sql

--
-- Resident columns: which are declared, by whom, and what becomes of declarations
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
-- and the notice of hpsort_keep where hpsort.resident_memory is 0

CREATE SCHEMA hpsort_resident_test;
SET search_path = hpsort_resident_test, public;
CREATE DOMAIN natural_number AS int CHECK (VALUE >= 0);
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE types (i2 int2, i4 int4, i8 int8, d date, b bool, o oid, ch "char", n natural_number, e mood,
	r real, f float8, t text, ti time, ts timestamp, tz timestamptz, nu numeric, p numeric(18, 4), p19 numeric(19, 4), a int[], "Odd name" int);

-- what can be declared, several at once, and again
SELECT hpsort_keep('types', 'i2', 'i4', 'i8');
SELECT hpsort_keep('types', 'd', 'b', 'o', 'ch', 'n', 'e', 'Odd name', 'i2');
SELECT hpsort_keep('types', 'r', 'f', 'ti', 'ts', 'tz', 'p');
SELECT hpsort_keep('types', 'i2', 'i2');
SELECT * FROM hpsort_kept ORDER BY attribute;
SELECT hpsort_forget('types', 'i2', 'i8', 'no_such_column');
SELECT hpsort_forget('types', VARIADIC '{d,b,o,ch}');
SELECT * FROM hpsort_kept ORDER BY attribute;
SELECT hpsort_forget('types');
SELECT * FROM hpsort_kept;
-- and filled at once
SELECT hpsort_keep('types', '{i2,i4}', wait => true), hpsort_keep('types', attributes => ARRAY['i8'], wait => false);
SELECT hpsort_keep('types', 'i2', wait => true);
SELECT hpsort_keep('types', '{i2,t}', true);
SELECT * FROM hpsort_kept ORDER BY attribute;
SELECT hpsort_forget('types');
-- all that can be, those of short values first
SELECT hpsort_keep('types');
SELECT attribute FROM hpsort_kept;
SELECT hpsort_forget('types');
-- nothing is nothing
SELECT hpsort_keep('types', VARIADIC NULL);
SELECT hpsort_keep(NULL, 'i4');
SELECT hpsort_forget(NULL);
SELECT * FROM hpsort_kept;

-- what cannot
CREATE TABLE without_columns ();
SELECT hpsort_keep('without_columns');
SELECT hpsort_keep('types', 'ctid');
SELECT hpsort_keep('types', 'no_such_column');
SELECT hpsort_keep('types', 'i4', NULL);
SELECT hpsort_forget('types', NULL, 'i4');
SELECT hpsort_keep('no_such_table', 'i4');
SELECT hpsort_keep(4711, 'i4');
SELECT hpsort_forget(4711);
SELECT hpsort_keep('pg_class', 'relpages');
SELECT hpsort_keep('information_schema.sql_parts', 'feature_id');
CREATE VIEW view_of_types AS SELECT i4 FROM types;
CREATE INDEX index_of_types ON types (i4);
CREATE SEQUENCE sequence;
CREATE TEMP TABLE temporary (x int);
SELECT hpsort_keep('view_of_types', 'i4');
SELECT hpsort_keep('index_of_types', 'i4');
SELECT hpsort_keep('sequence', 'last_value');
SELECT hpsort_keep('temporary', 'x');
SELECT hpsort_support_kept_changed();
BEGIN READ ONLY;
SELECT hpsort_keep('types', 'i4');
ROLLBACK;
BEGIN READ ONLY;
SELECT hpsort_forget('types');
ROLLBACK;
SELECT * FROM hpsort_kept;

-- materialized views, partitioned tables and their partitions, unlogged tables
CREATE MATERIALIZED VIEW stored AS SELECT i4 FROM types;
CREATE TABLE parted (x int, y int) PARTITION BY RANGE (x);
CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE UNLOGGED TABLE unlogged (x int);
SELECT hpsort_keep('stored', 'i4'), hpsort_keep('parted', 'x'), hpsort_keep('part', 'y'), hpsort_keep('unlogged', 'x');
SELECT * FROM hpsort_kept ORDER BY relation::text COLLATE "C";
SELECT hpsort_forget('stored'), hpsort_forget('parted'), hpsort_forget('part'), hpsort_forget('unlogged');

-- A name stays what it was when a column is renamed or dropped; another column of that name has it.
SELECT hpsort_keep('types', 'i4', 'i8');
ALTER TABLE types RENAME i4 TO i4_new;
ALTER TABLE types DROP i8;
SELECT * FROM hpsort_kept ORDER BY attribute;
SELECT hpsort_forget('types', 'i4', 'i8'), hpsort_keep('types', 'i4_new');
SELECT * FROM hpsort_kept;
ALTER TABLE types RENAME TO kinds;
ALTER TABLE kinds SET SCHEMA public;
SELECT * FROM hpsort_kept;
ALTER TABLE public.kinds SET SCHEMA hpsort_resident_test;

-- A dropped table leaves a number, which is nobody's, and which pg_dump leaves out.
SELECT 'kinds'::regclass::oid AS relation \gset
DROP TABLE kinds CASCADE;
SELECT relation = :relation AS is_number, attribute FROM hpsort_kept;
SELECT count(*) AS dumped FROM hpsort_kept
WHERE EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = relation AND attname = attribute);
SELECT extconfig::regclass[], extcondition FROM pg_extension WHERE extname = 'hpsort';
SELECT hpsort_forget(:relation);
SELECT * FROM hpsort_kept;

-- rights: the owner's, and those of the members of that role
CREATE ROLE regress_hpsort_owner;
CREATE ROLE regress_hpsort_user;
CREATE TABLE owned (x int, y int);
ALTER TABLE owned OWNER TO regress_hpsort_owner;
GRANT ALL ON owned TO regress_hpsort_user;
GRANT USAGE ON SCHEMA hpsort_resident_test TO regress_hpsort_owner, regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT hpsort_keep('owned', 'x');
SELECT hpsort_forget('owned');
SET ROLE regress_hpsort_owner;
SELECT hpsort_keep('owned', 'x');
SELECT current_user;
SET ROLE regress_hpsort_user;
SELECT hpsort_forget('owned', 'x');
SELECT * FROM hpsort_kept;
INSERT INTO hpsort_kept VALUES ('owned', 'y');
DELETE FROM hpsort_kept;
TRUNCATE hpsort_kept;
RESET ROLE;
GRANT regress_hpsort_owner TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT hpsort_keep('owned', 'y');
SELECT * FROM hpsort_kept ORDER BY attribute;
-- operators, functions and tables of the caller's are not used instead of core's and hpsort's
CREATE TEMP TABLE hpsort_kept (relation regclass, attribute name);
CREATE FUNCTION pg_temp.equal(regclass, regclass) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'called by %', current_user; END$$;
CREATE OPERATOR pg_temp.= (LEFTARG = regclass, RIGHTARG = regclass, FUNCTION = pg_temp.equal);
SET search_path = pg_temp, pg_catalog, hpsort_resident_test, public;
SELECT hpsort_forget('owned', 'x');
SELECT * FROM public.hpsort_kept;
SELECT hpsort_forget('owned', 'y'), hpsort_keep('owned', 'y');
SELECT * FROM public.hpsort_kept;
DROP OPERATOR pg_temp.= (regclass, regclass);
DROP FUNCTION pg_temp.equal;
DROP TABLE pg_temp.hpsort_kept;
RESET ROLE;
SET search_path = hpsort_resident_test, public;

-- a check, on a server that keeps columns and on one that does not: for the owner
SELECT hpsort_keep('owned', 'x'), hpsort_keep('parted', 'x');
SELECT relation, attribute, differing, first_differing FROM hpsort_resident_check('owned');
SELECT relation, attribute, differing, first_differing FROM hpsort_resident_check('parted');
SELECT * FROM hpsort_resident_check('hpsort_resident');
SELECT * FROM hpsort_resident_check(NULL);
SELECT * FROM hpsort_resident_check(4711);
SELECT * FROM hpsort_resident_estimate('owned');
SELECT * FROM hpsort_resident_estimate('parted');
SELECT * FROM hpsort_resident_estimate('unlogged');
SELECT * FROM hpsort_resident_estimate(4711);
SET ROLE regress_hpsort_owner;
SELECT count(*) FROM hpsort_resident_check('owned');
SELECT count(*) FROM hpsort_resident_estimate('owned');
SELECT * FROM hpsort_resident_check('parted');
SELECT * FROM hpsort_resident_estimate('parted');
RESET ROLE;
SELECT hpsort_forget('owned', 'x'), hpsort_forget('parted');

-- what is rolled back was not declared
BEGIN;
SELECT hpsort_keep('owned', 'x');
SAVEPOINT s;
SELECT hpsort_forget('owned');
SELECT * FROM hpsort_kept;
ROLLBACK TO s;
SELECT * FROM hpsort_kept ORDER BY attribute;
ROLLBACK;
SELECT * FROM hpsort_kept;
SELECT hpsort_forget('owned');

-- The view: why nothing is in memory, and to whom it is told
CREATE TABLE parted2 (x int, y int) PARTITION BY RANGE (x);
CREATE TABLE part2 PARTITION OF parted2 FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (y);
CREATE TABLE part2a PARTITION OF part2 FOR VALUES FROM (0) TO (10);
CREATE TABLE part2b PARTITION OF parted2 DEFAULT;
SELECT hpsort_keep('owned', 'x', 'y'), hpsort_keep('unlogged', 'x'), hpsort_keep('parted2', 'x', 'y'), hpsort_keep('part2', 'x'), hpsort_keep('part2b', 'x');
ALTER TABLE owned DROP y;
-- as on a server that keeps columns, and on one that does not
SELECT relation, attribute, rows, blocks, blocks_valid, bytes, hits, refreshes, evictions,
	regexp_replace(reason, 'hpsort.resident_memory is 0|to be filled', 'not read yet') AS reason
FROM hpsort_resident ORDER BY relation::text COLLATE "C", attribute;
CREATE VIEW view_of_nothing AS SELECT 1 AS x;
INSERT INTO hpsort_kept VALUES ('view_of_nothing', 'x'), ('4711', 'x'), ('nothing.of_that_name', 'x');
SELECT relation, attribute, reason FROM hpsort_resident WHERE relation = 'view_of_nothing'::regclass;
SELECT count(*) FROM hpsort_resident;
CREATE ROLE regress_hpsort_reader IN ROLE pg_read_all_stats;
GRANT USAGE ON SCHEMA hpsort_resident_test TO regress_hpsort_reader;
REVOKE regress_hpsort_owner FROM regress_hpsort_user;
REVOKE ALL ON owned FROM regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT relation, attribute FROM hpsort_resident;
RESET ROLE;
GRANT SELECT (x) ON owned TO regress_hpsort_user;
GRANT SELECT (y) ON parted2 TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT relation, attribute FROM hpsort_resident ORDER BY relation::text COLLATE "C", attribute;
SELECT count(*) FROM hpsort_resident();
SET ROLE regress_hpsort_reader;
SELECT count(*) FROM hpsort_resident;
RESET ROLE;
SELECT hpsort_forget(relation) FROM (SELECT DISTINCT relation FROM hpsort_kept) r;
SELECT * FROM hpsort_kept;

-- a version before 1.1 has no declarations
BEGIN;
DROP EXTENSION hpsort;
CREATE EXTENSION hpsort VERSION '1.0';
CREATE TABLE hpsort_kept (relation regclass, attribute name, more int);
INSERT INTO hpsort_kept VALUES ('owned', 'x');
SELECT count(*) FROM hpsort_column('owned', 'x');
CREATE FUNCTION keep(regclass, VARIADIC name[]) RETURNS void AS '$libdir/hpsort', 'hpsort_keep' LANGUAGE C;
\set VERBOSITY terse
SELECT keep('owned', 'x');
\set VERBOSITY default
ROLLBACK;

DROP SCHEMA hpsort_resident_test CASCADE;
DROP ROLE regress_hpsort_owner, regress_hpsort_user, regress_hpsort_reader;
RESET client_min_messages;
RESET search_path;

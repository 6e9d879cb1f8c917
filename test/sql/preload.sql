--
-- The first query of a session: planned with hpsort if the library is preloaded,
-- and CREATE EXTENSION says how to do that if it is not
--
-- Where the server preloads hpsort (preload_1.out) there is nothing to say.
SELECT current_setting('shared_preload_libraries') || current_setting('session_preload_libraries') ~ 'hpsort' AS preloads, current_database() AS old_database \gset
\if :preloads
\quit
\endif

CREATE DATABASE "regress_hpsort ""preload""";
\c "regress_hpsort ""preload"""
CREATE TABLE sorted AS SELECT i % 100 AS x FROM generate_series(1, 1000) i;
CREATE EXTENSION hpsort;

-- Custom Scan (HpSort) only where the library is there before the first query
\c -
SET hpsort.debug_sort = force;
EXPLAIN (COSTS OFF) SELECT x FROM sorted ORDER BY x;
SELECT * FROM hpsort_preload();
EXPLAIN (COSTS OFF) SELECT x FROM sorted ORDER BY x;
SELECT statement FROM hpsort_preload() \gexec
-- it is for sessions that begin later; and is not asked for again
SELECT * FROM hpsort_preload();
DROP EXTENSION hpsort;
CREATE EXTENSION hpsort;
\c -
SET hpsort.debug_sort = force;
EXPLAIN (COSTS OFF) SELECT x FROM sorted ORDER BY x;
SELECT * FROM hpsort_preload();
DROP EXTENSION hpsort;
CREATE EXTENSION hpsort;

-- a list that is set already stays in the statement
SET session_preload_libraries = '';
ALTER DATABASE "regress_hpsort ""preload""" SET session_preload_libraries = 'auto_explain', '/odd, "name"''s';
SELECT setting, statement FROM hpsort_preload();
ALTER DATABASE "regress_hpsort ""preload""" SET session_preload_libraries = '$libdir/nohpsort', 'hpsort2';
SELECT setting, statement FROM hpsort_preload();
ALTER DATABASE "regress_hpsort ""preload""" SET work_mem = '5MB';
ALTER DATABASE "regress_hpsort ""preload""" SET session_preload_libraries = 'auto_explain', '$libdir/hpsort.so';
SELECT setting, statement FROM hpsort_preload();
ALTER DATABASE "regress_hpsort ""preload""" SET session_preload_libraries = '';
SELECT setting, statement FROM hpsort_preload();
ALTER DATABASE "regress_hpsort ""preload""" RESET session_preload_libraries;
SELECT setting, statement FROM hpsort_preload();
SET session_preload_libraries = 'auto_explain';
SELECT setting, statement FROM hpsort_preload();
SET session_preload_libraries = 'auto_explain', 'hpsort';
SELECT setting, statement FROM hpsort_preload();
SET session_preload_libraries = '';
SET local_preload_libraries = '$libdir/plugins/hpsort';
SELECT setting, statement FROM hpsort_preload();
SET local_preload_libraries = '';

-- the list is for those who may see it
CREATE ROLE regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT setting, statement FROM hpsort_preload();
RESET ROLE;
GRANT pg_read_all_settings TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT setting, statement FROM hpsort_preload();
RESET ROLE;
DROP ROLE regress_hpsort_user;

-- said once, when the extension is there to stay, to those who want notices
BEGIN;
DROP EXTENSION hpsort;
CREATE EXTENSION hpsort;
ROLLBACK;
BEGIN;
DROP EXTENSION hpsort;
SAVEPOINT s;
CREATE EXTENSION hpsort;
ROLLBACK TO s;
COMMIT;
BEGIN;
CREATE EXTENSION hpsort;
SELECT 1 AS not_yet_said;
COMMIT;
SELECT 1 AS said_already;
DROP EXTENSION hpsort;
SET client_min_messages = warning;
CREATE EXTENSION hpsort;
RESET client_min_messages;
CREATE EXTENSION IF NOT EXISTS hpsort;

-- what says so is for the script only
CREATE FUNCTION created() RETURNS void AS '$libdir/hpsort', 'hpsort_support_created' LANGUAGE C;
SELECT created();

\c :old_database
DROP DATABASE "regress_hpsort ""preload""";

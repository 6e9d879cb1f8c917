--
-- The extension: what belongs to it, where it can live, how it goes
--
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS hpsort;
-- the notice is tested in preload.sql
CREATE EXTENSION hpsort;
RESET client_min_messages;

SELECT extname, extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'hpsort';
SELECT name, default_version, comment FROM pg_available_extensions WHERE name = 'hpsort';

-- \dx+, less the array and row types that PostgreSQL lists from 17 on
CREATE VIEW members AS
SELECT d.classid, d.objid, i.type, i.identity, coalesce(p.prokind, ' ') AS prokind
FROM pg_depend d
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
	LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
WHERE e.extname = 'hpsort' AND d.deptype = 'e' AND coalesce(t.typcategory, ' ') <> 'A'
	AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind IN ('v', 'r'));
SELECT type, identity FROM members ORDER BY type, identity COLLATE "C";
SELECT identity AS stray FROM members WHERE identity !~ 'public\.(hpsort|int4multiset)';

-- what PostgreSQL alone calls comes last in a list of functions named hpsort_...
SELECT max(proname) FILTER (WHERE NOT support) < min(proname) FILTER (WHERE support) AS last, count(*) FILTER (WHERE support) AS helpers
FROM (SELECT proname, proname LIKE 'hpsort\_support\_%' AS support
      FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid WHERE proname LIKE 'hpsort%') f;
-- it does so for an argument of type internal, or on behalf of another object
WITH used AS (
	SELECT objid FROM members, LATERAL (SELECT proargtypes::oid[] AS types FROM pg_proc WHERE oid = objid) a
	WHERE classid = 'pg_proc'::regclass AND 'internal'::regtype = ANY (types)
	UNION SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend]::oid[]) FROM pg_type
	UNION SELECT oprcode FROM pg_operator
	UNION SELECT castfunc FROM pg_cast
	UNION SELECT tgfoid FROM pg_trigger
	-- hpsort runs it itself: nobody else can use its result
	UNION SELECT aggfnoid FROM pg_aggregate WHERE aggfinalmodify = 'w'
	UNION SELECT amproc FROM pg_amproc
	UNION SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) FROM pg_aggregate)
SELECT p.oid::regprocedure FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
WHERE (p.oid IN (SELECT objid FROM used)) <> (proname LIKE 'hpsort\_support\_%');

-- each with a comment
SELECT type, identity FROM members
WHERE obj_description(objid, classid::regclass::name) IS NULL;
SELECT obj_description(objid, 'pg_proc') AS comment, identity FROM members
WHERE classid = 'pg_proc'::regclass ORDER BY identity COLLATE "C";

-- how functions may be used
SELECT p.oid::regprocedure AS function, provolatile AS volatile, proparallel AS parallel, proisstrict AS strict,
       proretset AS set, procost AS cost, prorows AS rows
FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT p.oid::regprocedure AS function, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
WHERE p.proname !~ '^hpsort_support_'
ORDER BY p.oid::regprocedure::text COLLATE "C";
SELECT aggfnoid::regprocedure AS aggregate, aggkind, aggfinalmodify AS finalmodify, aggcombinefn::regproc AS combine,
       aggserialfn::regproc AS serialize, aggdeserialfn::regproc AS deserialize
FROM pg_aggregate a JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = a.aggfnoid
ORDER BY aggfnoid::regprocedure::text COLLATE "C";

-- nothing in the database depends on it by accident; what does is in the way
CREATE VIEW uses_hpsort AS SELECT hpsort('{2,1}') AS sorted, hpsort_runs_agg(x) AS runs FROM generate_series(1, 2) x;
SELECT * FROM uses_hpsort;
DROP VIEW members;
DROP EXTENSION hpsort;
DROP EXTENSION hpsort CASCADE;
SELECT count(*) FROM pg_proc WHERE proname ~ 'hpsort|int4multiset';
SELECT count(*) FROM pg_type WHERE typname ~ 'hpsort|int4multiset';

-- by version, in a schema of its own, not on the search path
CREATE SCHEMA elsewhere;
SET client_min_messages = warning;
CREATE EXTENSION hpsort SCHEMA elsewhere VERSION '1.0';
RESET client_min_messages;
SELECT to_regtype('elsewhere.int4multiset') AS multiset;
ALTER EXTENSION hpsort UPDATE;
SELECT elsewhere.int4multiset_agg(x)::elsewhere.hpsort_run[] FROM generate_series(1, 2) x;
SELECT elsewhere.hpsort('{3,1,2}');
\set VERBOSITY terse
SELECT hpsort('{3,1,2}');
\set VERBOSITY default
SELECT elsewhere.hpsort_runs_agg(x) FROM generate_series(1, 2) x;
SELECT * FROM elsewhere.hpsort_runs('{3,1,3}');
SELECT elsewhere.hpsort_agg(x, 1, 3, true) FROM generate_series(1, 3) x;
SELECT * FROM elsewhere.hpsort_query('SELECT x FROM elsewhere.hpsort_set(''{2,1}'') x');
SELECT algorithm FROM elsewhere.hpsort_algorithms() LIMIT 1;

-- moved, even under a session that has used it
CREATE VIEW uses_hpsort AS SELECT elsewhere.hpsort_runs_agg(x) AS runs, elsewhere.hpsort('{2,1}') AS sorted
FROM generate_series(1, 2) x;
PREPARE runs AS SELECT elsewhere.hpsort_runs_agg(x) FROM generate_series(1, 2) x;
EXECUTE runs;
ALTER EXTENSION hpsort SET SCHEMA public;
SELECT * FROM uses_hpsort;
SELECT hpsort_runs_agg(x) FROM generate_series(1, 2) x;
SELECT * FROM hpsort_runs('{3,1,3}');
SELECT count(*) FROM pg_proc WHERE pronamespace = 'elsewhere'::regnamespace;
SELECT count(*) FROM pg_type WHERE typnamespace = 'elsewhere'::regnamespace;
DROP VIEW uses_hpsort;
DROP SCHEMA elsewhere;

-- updates there are, and none to an unknown version
SELECT source, target, path FROM pg_extension_update_paths('hpsort');
ALTER EXTENSION hpsort UPDATE;
ALTER EXTENSION hpsort UPDATE TO '99';

-- created and dropped in a transaction that fails
BEGIN;
DROP EXTENSION hpsort;
CREATE EXTENSION hpsort;
SELECT hpsort('{2,1}');
ROLLBACK;
SELECT hpsort('{2,1}');

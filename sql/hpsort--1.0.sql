/* hpsort 1.0 */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION hpsort" to load this file. \quit

-- A run: a key and how often it occurs.

CREATE TYPE hpsort_run AS (key int4, count int8);

COMMENT ON TYPE hpsort_run IS
'a key and the number of times it occurs';

-- Functions that PostgreSQL calls, and nobody else, are hpsort_support_...: a list of
-- functions has them behind all others.

-- Arrays

CREATE FUNCTION hpsort(keys int4[], descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort(int4[], bool, bool) IS
'sorts an array, with the semantics of array_sort';

CREATE FUNCTION hpsort(keys int4[], lo int4, hi int4, descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_bounds'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort(int4[], int4, int4, bool, bool) IS
'sorts an array whose elements are promised to be between lo and hi';

CREATE FUNCTION hpsort_order(keys int4[], descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_order'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;

COMMENT ON FUNCTION hpsort_order(int4[], bool, bool) IS
'positions of an array''s elements in sorted order, equal elements in input order';

CREATE FUNCTION hpsort_float4(keys float4[], descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS float4[]
AS 'MODULE_PATHNAME', 'hpsort_float4'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort_float4(float4[], bool, bool) IS
'sorts an array of floating-point numbers, NaN last';

-- Support function for the row estimate of the set forms

CREATE FUNCTION hpsort_support_set(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_set'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_set(internal) IS
'planner support of hpsort_set and hpsort_runs: how many rows they return';

-- Sets

CREATE FUNCTION hpsort_set(keys int4[], descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS SETOF int4
AS 'MODULE_PATHNAME', 'hpsort_set'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 SUPPORT hpsort_support_set;

COMMENT ON FUNCTION hpsort_set(int4[], bool, bool) IS
'elements of an array in order, as a set';

CREATE FUNCTION hpsort_runs(keys int4[])
RETURNS SETOF hpsort_run
AS 'MODULE_PATHNAME', 'hpsort_runs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 SUPPORT hpsort_support_set;

COMMENT ON FUNCTION hpsort_runs(int4[]) IS
'distinct elements of an array in ascending order, with their counts';

CREATE FUNCTION hpsort_query(query text, lo int4 DEFAULT NULL, hi int4 DEFAULT NULL,
	descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS SETOF int4
AS 'MODULE_PATHNAME', 'hpsort_query'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000 ROWS 1000000;

COMMENT ON FUNCTION hpsort_query(text, int4, int4, bool, bool) IS
'runs a query that returns one integer column and returns its values in order';

-- Columns of tables.  Stable: they read as the calling query reads.  Restricted:
-- in the leader they have workers of their own.

CREATE FUNCTION hpsort_support_column(internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_column'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_column(internal) IS
'planner support of hpsort_column: how many rows it returns';

CREATE FUNCTION hpsort_column(rel regclass, attribute name, lo int4 DEFAULT NULL, hi int4 DEFAULT NULL,
	descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS SETOF int4
AS 'MODULE_PATHNAME', 'hpsort_column'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000 ROWS 1000000 SUPPORT hpsort_support_column;

COMMENT ON FUNCTION hpsort_column(regclass, name, int4, int4, bool, bool) IS
'values of a table''s integer column in order, as a set';

CREATE FUNCTION hpsort_column_array(rel regclass, attribute name, lo int4 DEFAULT NULL, hi int4 DEFAULT NULL,
	descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_column_array'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION hpsort_column_array(regclass, name, int4, int4, bool, bool) IS
'values of a table''s integer column in order, as an array';

CREATE FUNCTION hpsort_column_runs(rel regclass, attribute name, lo int4 DEFAULT NULL, hi int4 DEFAULT NULL,
	descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS SETOF hpsort_run
AS 'MODULE_PATHNAME', 'hpsort_column_runs'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION hpsort_column_runs(regclass, name, int4, int4, bool, bool) IS
'distinct values of a table''s integer column in order, with their counts';

-- Aggregates

CREATE FUNCTION hpsort_support_agg_transfn(internal, int4)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int4) IS
'transition function of hpsort_agg and hpsort_runs_agg: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int4, int4, int4)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int4, int4, int4) IS
'transition function of hpsort_agg with bounds: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int4, int4, int4, bool)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int4, int4, int4, bool) IS
'transition function of hpsort_agg with bounds and direction: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int2)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int2'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int2) IS
'transition function of hpsort_agg and hpsort_runs_agg: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int2, int4, int4)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int2'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int2, int4, int4) IS
'transition function of hpsort_agg with bounds: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int2, int4, int4, bool)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int2'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int2, int4, int4, bool) IS
'transition function of hpsort_agg with bounds and direction: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int8)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int8'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int8) IS
'transition function of hpsort_agg and hpsort_runs_agg: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int8, int4, int4)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int8'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int8, int4, int4) IS
'transition function of hpsort_agg with bounds: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, int8, int4, int4, bool)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn_int8'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, int8, int4, int4, bool) IS
'transition function of hpsort_agg with bounds and direction: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, date)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, date) IS
'transition function of hpsort_agg and hpsort_runs_agg: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, date, date, date)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, date, date, date) IS
'transition function of hpsort_agg with bounds: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_transfn(internal, date, date, date, bool)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_transfn(internal, date, date, date, bool) IS
'transition function of hpsort_agg with bounds and direction: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_agg_combine(internal, internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_combine(internal, internal) IS
'combine function of hpsort_agg and hpsort_runs_agg: merges the states of two processes';

CREATE FUNCTION hpsort_support_agg_serialize(internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'hpsort_support_agg_serialize'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_serialize(internal) IS
'serialization function of hpsort_agg and hpsort_runs_agg: the bytes of a state, for another process';

CREATE FUNCTION hpsort_support_agg_deserialize(bytea, internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'hpsort_support_agg_deserialize'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_deserialize(bytea, internal) IS
'deserialization function of hpsort_agg and hpsort_runs_agg: the state of another process from its bytes';

CREATE FUNCTION hpsort_support_agg_finalfn(internal)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_support_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_finalfn(internal) IS
'final function of hpsort_agg of int4: the array from the state';

CREATE FUNCTION hpsort_support_agg_finalfn_int2(internal)
RETURNS int2[]
AS 'MODULE_PATHNAME', 'hpsort_support_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_finalfn_int2(internal) IS
'final function of hpsort_agg of int2: the array from the state';

CREATE FUNCTION hpsort_support_agg_finalfn_int8(internal)
RETURNS int8[]
AS 'MODULE_PATHNAME', 'hpsort_support_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_finalfn_int8(internal) IS
'final function of hpsort_agg of int8: the array from the state';

CREATE FUNCTION hpsort_support_agg_finalfn_date(internal)
RETURNS date[]
AS 'MODULE_PATHNAME', 'hpsort_support_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_agg_finalfn_date(internal) IS
'final function of hpsort_agg of date: the array from the state';

CREATE FUNCTION hpsort_support_runs_agg_finalfn(internal)
RETURNS hpsort_run[]
AS 'MODULE_PATHNAME', 'hpsort_support_runs_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_runs_agg_finalfn(internal) IS
'final function of hpsort_runs_agg: the runs from the state';

-- SSPACE: what a group of up to 16 keys takes.  With the default of 8 kB a
-- HashAggregate of 1,000,000 groups of 10 goes to disk early: 2.5 to 2.7 s
-- instead of 2.0 to 2.3.  Larger groups are counted by the executor as they grow.

CREATE AGGREGATE hpsort_agg(int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int4) IS
'collects values into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int4, lo int4, hi int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int4, int4, int4) IS
'collects values promised to be between lo and hi into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int4, lo int4, hi int4, descending bool) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int4, int4, int4, bool) IS
'collects values promised to be between lo and hi into an array, in descending order with NULLs first if asked';

CREATE AGGREGATE hpsort_runs_agg(int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_runs_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_runs_agg(int4) IS
'collects distinct values in ascending order with their counts, the run of NULLs last';

-- The same of other types.  An argument of a type that has no aggregate of its own,
-- such as a domain, is that of its base type.

CREATE AGGREGATE hpsort_agg(int2) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int2,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int2) IS
'collects values into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int2, lo int4, hi int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int2,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int2, int4, int4) IS
'collects values promised to be between lo and hi into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int2, lo int4, hi int4, descending bool) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int2,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int2, int4, int4, bool) IS
'collects values promised to be between lo and hi into an array, in descending order with NULLs first if asked';

CREATE AGGREGATE hpsort_agg(int8) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int8,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int8) IS
'collects values into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int8, lo int4, hi int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int8,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int8, int4, int4) IS
'collects values promised to be between lo and hi into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(int8, lo int4, hi int4, descending bool) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_int8,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(int8, int4, int4, bool) IS
'collects values promised to be between lo and hi into an array, in descending order with NULLs first if asked';

CREATE AGGREGATE hpsort_agg(date) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_date,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(date) IS
'collects values into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(date, lo date, hi date) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_date,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(date, date, date) IS
'collects values promised to be between lo and hi into an array in ascending order, NULLs last';

CREATE AGGREGATE hpsort_agg(date, lo date, hi date, descending bool) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_agg_finalfn_date,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_agg(date, date, date, bool) IS
'collects values promised to be between lo and hi into an array, in descending order with NULLs first if asked';

CREATE AGGREGATE hpsort_runs_agg(int2) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_runs_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_runs_agg(int2) IS
'collects distinct values in ascending order with their counts, the run of NULLs last';

CREATE AGGREGATE hpsort_runs_agg(int8) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_runs_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_runs_agg(int8) IS
'collects distinct values in ascending order with their counts, the run of NULLs last';

CREATE AGGREGATE hpsort_runs_agg(date) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_runs_agg_finalfn,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_runs_agg(date) IS
'collects distinct values in ascending order with their counts, the run of NULLs last; a date as its days since 2000-01-01';

-- Information

CREATE FUNCTION hpsort_algorithms(OUT algorithm text, OUT paper text, OUT devices text[],
	OUT automatic bool, OUT stable bool, OUT limits text, OUT memory text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_algorithms'
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 9;

COMMENT ON FUNCTION hpsort_algorithms() IS
'the algorithms that hpsort.algorithm names, and the devices each runs on in this build';

CREATE FUNCTION hpsort_devices(OUT device text, OUT ordinal int4, OUT name text, OUT usable bool,
	OUT state text, OUT reason text, OUT memory int8, OUT memory_free int8, OUT memory_used int8,
	OUT jobs_running int4, OUT jobs int8, OUT last_error text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_devices'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 2;

COMMENT ON FUNCTION hpsort_devices() IS
'the devices that hpsort.device names; if one cannot be used, why';

CREATE FUNCTION hpsort_stat_gpu(OUT state text, OUT pid int4, OUT jobs int8, OUT keys int8,
	OUT bytes_sent int8, OUT bytes_received int8, OUT restarts int8, OUT fallbacks int8,
	OUT not_running int8, OUT no_device int8, OUT connect int8, OUT protocol int8, OUT timeout int8,
	OUT lost int8, OUT no_memory int8, OUT no_chunks int8, OUT resources int8, OUT device_error int8,
	OUT unsupported int8, OUT stats_reset timestamptz)
AS 'MODULE_PATHNAME', 'hpsort_stat_gpu'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_stat_gpu() IS
'state and statistics of the GPU service';

CREATE VIEW hpsort_stat_gpu AS
SELECT * FROM hpsort_stat_gpu();

COMMENT ON VIEW hpsort_stat_gpu IS
'state of the GPU service, what it sorted, and how often the CPU had to take over, by reason';

GRANT SELECT ON hpsort_stat_gpu TO PUBLIC;

CREATE FUNCTION hpsort_stat_gpu_reset()
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_stat_gpu_reset'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_stat_gpu_reset() IS
'sets the counters of hpsort_stat_gpu to zero';

REVOKE ALL ON FUNCTION hpsort_stat_gpu_reset() FROM PUBLIC;

CREATE FUNCTION hpsort_last(OUT function text, OUT device text, OUT algorithm text, OUT reason text,
	OUT n int8, OUT nulls int8, OUT lo int4, OUT hi int4, OUT "distinct" int8,
	OUT delta float8, OUT sigma float8,
	OUT fill_us int8, OUT sort_us int8, OUT read_us int8, OUT bytes_moved int8, OUT threads int4)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_last'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1;

COMMENT ON FUNCTION hpsort_last() IS
'what the last hpsort call of this session did; no row before the first';

CREATE FUNCTION hpsort_preload(OUT preloaded bool, OUT setting text, OUT statement text)
AS 'MODULE_PATHNAME', 'hpsort_preload'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION hpsort_preload() IS
'whether this session''s first query was planned with hpsort, by which setting, or the statement that does it from the next session on';

-- Says so if sessions do not preload hpsort.

CREATE FUNCTION hpsort_support_created()
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_support_created'
LANGUAGE C VOLATILE STRICT;

SELECT hpsort_support_created();

DROP FUNCTION hpsort_support_created();

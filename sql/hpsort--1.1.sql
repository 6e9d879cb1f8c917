/* hpsort 1.1 */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION hpsort" to load this file. \quit

-- A run: a key, and how often it occurs.

CREATE TYPE hpsort_run AS (key int4, count int8);

COMMENT ON TYPE hpsort_run IS
'a key and the number of times it occurs';

-- Functions that only PostgreSQL or hpsort itself calls are named hpsort_support_...  A list
-- of functions has them behind all others.

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

CREATE FUNCTION hpsort_order_float4(keys float4[], descending bool DEFAULT false, nulls_first bool DEFAULT NULL)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_order_float4'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;

COMMENT ON FUNCTION hpsort_order_float4(float4[], bool, bool) IS
'positions of an array''s numbers in sorted order, NaN last, equal numbers in input order';

-- The planner's estimate of how many rows a set has

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

-- Columns of tables.  They are stable, because they read with the snapshot of the calling
-- query, and restricted to the leader, where they have workers of their own.

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

-- SSPACE is what a group of up to 16 keys takes.  With the default of 8 kB a
-- HashAggregate of 1,000,000 groups of 10 goes to disk early, and takes 2.5 to 2.7 s
-- instead of 2.0 to 2.3.  The executor counts larger groups as they grow.

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

-- The aggregates of other types.  For an argument of a type that has no aggregate of its
-- own, such as a domain, PostgreSQL calls the aggregate of the base type.

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

-- The aggregate that hpsort_query and the column functions run.  Its result is the state
-- itself, whose keys these functions put in order.

CREATE FUNCTION hpsort_support_keys_agg_finalfn(internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'hpsort_support_keys_agg_finalfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_keys_agg_finalfn(internal) IS
'final function of hpsort_support_keys_agg: the state itself';

CREATE AGGREGATE hpsort_support_keys_agg(int4, lo int4, hi int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_keys_agg_finalfn,
	FINALFUNC_MODIFY = READ_WRITE,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_support_keys_agg(int4, int4, int4) IS
'collects values between lo and hi for hpsort_query and the column functions, which run it';

CREATE AGGREGATE hpsort_support_keys_agg(int8, lo int4, hi int4) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_keys_agg_finalfn,
	FINALFUNC_MODIFY = READ_WRITE,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_support_keys_agg(int8, int4, int4) IS
'collects values between lo and hi for hpsort_query and the column functions, which run it';

CREATE AGGREGATE hpsort_support_keys_agg(date, lo date, hi date) (
	SFUNC = hpsort_support_agg_transfn,
	STYPE = internal,
	SSPACE = 192,
	FINALFUNC = hpsort_support_keys_agg_finalfn,
	FINALFUNC_MODIFY = READ_WRITE,
	COMBINEFUNC = hpsort_support_agg_combine,
	SERIALFUNC = hpsort_support_agg_serialize,
	DESERIALFUNC = hpsort_support_agg_deserialize,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE hpsort_support_keys_agg(date, date, date) IS
'collects values between lo and hi for hpsort_query and the column functions, which run it';

-- Multisets: runs as a value

CREATE TYPE int4multiset;

CREATE FUNCTION hpsort_support_multiset_in(cstring)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_in(cstring) IS
'input function of int4multiset';

CREATE FUNCTION hpsort_support_multiset_out(int4multiset)
RETURNS cstring
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_out(int4multiset) IS
'output function of int4multiset';

CREATE FUNCTION hpsort_support_multiset_recv(internal)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_recv(internal) IS
'binary input function of int4multiset';

CREATE FUNCTION hpsort_support_multiset_send(int4multiset)
RETURNS bytea
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_send(int4multiset) IS
'binary output function of int4multiset';

-- STORAGE is external, because questions read slices of a value, and a compressed value
-- has none.  CATEGORY is that of numbers, because core's variance and stddev take an
-- untyped argument for a float8, the preferred type of all types that they take, as long
-- as these types are of one category.

CREATE TYPE int4multiset (
	INPUT = hpsort_support_multiset_in,
	OUTPUT = hpsort_support_multiset_out,
	RECEIVE = hpsort_support_multiset_recv,
	SEND = hpsort_support_multiset_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external,
	CATEGORY = 'N'
);

COMMENT ON TYPE int4multiset IS
'distinct integers with the number of times each occurs: {key:count, ...}';

-- Comparison

CREATE FUNCTION hpsort_support_multiset_eq(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_eq'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_eq(int4multiset, int4multiset) IS
'implementation of = operator';

CREATE FUNCTION hpsort_support_multiset_ne(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_ne'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_ne(int4multiset, int4multiset) IS
'implementation of <> operator';

CREATE FUNCTION hpsort_support_multiset_lt(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_lt'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_lt(int4multiset, int4multiset) IS
'implementation of < operator';

CREATE FUNCTION hpsort_support_multiset_le(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_le'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_le(int4multiset, int4multiset) IS
'implementation of <= operator';

CREATE FUNCTION hpsort_support_multiset_gt(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_gt'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_gt(int4multiset, int4multiset) IS
'implementation of > operator';

CREATE FUNCTION hpsort_support_multiset_ge(int4multiset, int4multiset)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_ge'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_ge(int4multiset, int4multiset) IS
'implementation of >= operator';

CREATE FUNCTION hpsort_support_multiset_cmp(int4multiset, int4multiset)
RETURNS int4
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_cmp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_cmp(int4multiset, int4multiset) IS
'less-equal-greater, as the sorted arrays of keys';

CREATE FUNCTION hpsort_support_multiset_hash(int4multiset)
RETURNS int4
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_hash(int4multiset) IS
'hash of the content';

CREATE FUNCTION hpsort_support_multiset_hash_extended(int4multiset, int8)
RETURNS int8
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_hash_extended'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_hash_extended(int4multiset, int8) IS
'64-bit hash of the content';

CREATE OPERATOR = (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_eq,
	COMMUTATOR = =,
	NEGATOR = <>,
	RESTRICT = eqsel,
	JOIN = eqjoinsel,
	HASHES,
	MERGES
);

COMMENT ON OPERATOR = (int4multiset, int4multiset) IS
'equal';

CREATE OPERATOR <> (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_ne,
	COMMUTATOR = <>,
	NEGATOR = =,
	RESTRICT = neqsel,
	JOIN = neqjoinsel
);

COMMENT ON OPERATOR <> (int4multiset, int4multiset) IS
'not equal';

CREATE OPERATOR < (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_lt,
	COMMUTATOR = >,
	NEGATOR = >=,
	RESTRICT = scalarltsel,
	JOIN = scalarltjoinsel
);

COMMENT ON OPERATOR < (int4multiset, int4multiset) IS
'less than';

CREATE OPERATOR <= (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_le,
	COMMUTATOR = >=,
	NEGATOR = >,
	RESTRICT = scalarlesel,
	JOIN = scalarlejoinsel
);

COMMENT ON OPERATOR <= (int4multiset, int4multiset) IS
'less than or equal';

CREATE OPERATOR > (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_gt,
	COMMUTATOR = <,
	NEGATOR = <=,
	RESTRICT = scalargtsel,
	JOIN = scalargtjoinsel
);

COMMENT ON OPERATOR > (int4multiset, int4multiset) IS
'greater than';

CREATE OPERATOR >= (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_ge,
	COMMUTATOR = <=,
	NEGATOR = <,
	RESTRICT = scalargesel,
	JOIN = scalargejoinsel
);

COMMENT ON OPERATOR >= (int4multiset, int4multiset) IS
'greater than or equal';

CREATE OPERATOR CLASS int4multiset_ops
DEFAULT FOR TYPE int4multiset USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 hpsort_support_multiset_cmp(int4multiset, int4multiset);

COMMENT ON OPERATOR CLASS int4multiset_ops USING btree IS
'order of multisets as of the sorted arrays of their keys';

COMMENT ON OPERATOR FAMILY int4multiset_ops USING btree IS
'order of multisets as of the sorted arrays of their keys';

CREATE OPERATOR CLASS int4multiset_ops
DEFAULT FOR TYPE int4multiset USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 hpsort_support_multiset_hash(int4multiset),
	FUNCTION 2 hpsort_support_multiset_hash_extended(int4multiset, int8);

COMMENT ON OPERATOR CLASS int4multiset_ops USING hash IS
'equality of multisets by content';

COMMENT ON OPERATOR FAMILY int4multiset_ops USING hash IS
'equality of multisets by content';

-- Casts.  They are explicit, because a multiset keeps neither the order of rows nor NULLs.

CREATE FUNCTION hpsort_support_multiset_from_keys(int4[])
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_from_keys'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort_support_multiset_from_keys(int4[]) IS
'multiset of the elements of an array';

CREATE FUNCTION hpsort_support_multiset_to_keys(int4multiset)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_to_keys'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort_support_multiset_to_keys(int4multiset) IS
'keys of a multiset in order, each as often as it occurs';

CREATE FUNCTION hpsort_support_multiset_from_runs(hpsort_run[])
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_from_runs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort_support_multiset_from_runs(hpsort_run[]) IS
'multiset of runs in any order; counts of equal keys add up';

CREATE FUNCTION hpsort_support_multiset_to_runs(int4multiset)
RETURNS hpsort_run[]
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_to_runs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION hpsort_support_multiset_to_runs(int4multiset) IS
'runs of a multiset in order';

CREATE CAST (int4[] AS int4multiset) WITH FUNCTION hpsort_support_multiset_from_keys(int4[]);

COMMENT ON CAST (int4[] AS int4multiset) IS
'multiset of the elements of an array';

CREATE CAST (int4multiset AS int4[]) WITH FUNCTION hpsort_support_multiset_to_keys(int4multiset);

COMMENT ON CAST (int4multiset AS int4[]) IS
'keys of a multiset in order, each as often as it occurs';

CREATE CAST (hpsort_run[] AS int4multiset) WITH FUNCTION hpsort_support_multiset_from_runs(hpsort_run[]);

COMMENT ON CAST (hpsort_run[] AS int4multiset) IS
'multiset of runs in any order; counts of equal keys add up';

CREATE CAST (int4multiset AS hpsort_run[]) WITH FUNCTION hpsort_support_multiset_to_runs(int4multiset);

COMMENT ON CAST (int4multiset AS hpsort_run[]) IS
'runs of a multiset in order';

-- Combining

CREATE FUNCTION hpsort_support_multiset_add(int4multiset, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_add'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION hpsort_support_multiset_add(int4multiset, int4multiset) IS
'implementation of + operator';

CREATE FUNCTION hpsort_support_multiset_subtract(int4multiset, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_subtract'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION hpsort_support_multiset_subtract(int4multiset, int4multiset) IS
'implementation of - operator';

CREATE FUNCTION hpsort_support_multiset_scale(int4multiset, int8)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_scale'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION hpsort_support_multiset_scale(int4multiset, int8) IS
'implementation of * operator';

CREATE FUNCTION hpsort_support_multiset_scale(int8, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_scale_by'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION hpsort_support_multiset_scale(int8, int4multiset) IS
'implementation of * operator';

CREATE FUNCTION hpsort_support_multiset_contains(int4multiset, int4)
RETURNS bool
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_contains'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_contains(int4multiset, int4) IS
'implementation of @> operator';

CREATE OPERATOR + (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_add,
	COMMUTATOR = +
);

COMMENT ON OPERATOR + (int4multiset, int4multiset) IS
'add counts';

CREATE OPERATOR - (
	LEFTARG = int4multiset,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_subtract
);

COMMENT ON OPERATOR - (int4multiset, int4multiset) IS
'subtract counts, none of which may become negative';

CREATE OPERATOR * (
	LEFTARG = int4multiset,
	RIGHTARG = int8,
	FUNCTION = hpsort_support_multiset_scale,
	COMMUTATOR = *
);

COMMENT ON OPERATOR * (int4multiset, int8) IS
'multiply counts';

CREATE OPERATOR * (
	LEFTARG = int8,
	RIGHTARG = int4multiset,
	FUNCTION = hpsort_support_multiset_scale,
	COMMUTATOR = *
);

COMMENT ON OPERATOR * (int8, int4multiset) IS
'multiply counts';

CREATE OPERATOR @> (
	LEFTARG = int4multiset,
	RIGHTARG = int4,
	FUNCTION = hpsort_support_multiset_contains,
	RESTRICT = contsel,
	JOIN = contjoinsel
);

COMMENT ON OPERATOR @> (int4multiset, int4) IS
'contains';

CREATE FUNCTION restrict(m int4multiset, keys int4range)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'int4multiset_restrict'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION restrict(int4multiset, int4range) IS
'those keys of a multiset that are in a range';

-- Questions.  A question reads a few chunks of a large stored value, or the whole value if
-- the answer depends on all keys.
--
-- PostgreSQL looks rank('5') WITHIN GROUP (ORDER BY x) up as rank(unknown, int4), and
-- percentile_disc and others in this way.  The second argument here is of a domain, which is
-- no exact match, so that an untyped first argument still means core's aggregate.

CREATE DOMAIN int4multiset_key AS int4;

COMMENT ON DOMAIN int4multiset_key IS
'an int4 that is no reason to take a function of multisets for core''s aggregate';

CREATE DOMAIN int4multiset_fraction AS float8;

COMMENT ON DOMAIN int4multiset_fraction IS
'a float8 that is no reason to take a function of multisets for core''s aggregate';

CREATE DOMAIN int4multiset_fractions AS float8[];

COMMENT ON DOMAIN int4multiset_fractions IS
'a float8[] that is no reason to take a function of multisets for core''s aggregate';

CREATE FUNCTION cardinality(m int4multiset)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_cardinality'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION cardinality(int4multiset) IS
'number of keys, repetitions counted';

CREATE FUNCTION distinct_count(m int4multiset)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_distinct_count'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION distinct_count(int4multiset) IS
'number of distinct keys';

CREATE FUNCTION min(m int4multiset)
RETURNS int4
AS 'MODULE_PATHNAME', 'int4multiset_min'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION min(int4multiset) IS
'smallest key';

CREATE FUNCTION max(m int4multiset)
RETURNS int4
AS 'MODULE_PATHNAME', 'int4multiset_max'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION max(int4multiset) IS
'largest key';

CREATE FUNCTION nth(m int4multiset, n int8)
RETURNS int4
AS 'MODULE_PATHNAME', 'int4multiset_nth'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION nth(int4multiset, int8) IS
'nth key in order, from 1; NULL where there is none';

CREATE FUNCTION rank(m int4multiset, x int4multiset_key)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_rank'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION rank(int4multiset, int4multiset_key) IS
'rank that x would have among the keys: 1 more than there are smaller ones';

CREATE FUNCTION cume_dist(m int4multiset, x int4multiset_key)
RETURNS float8
AS 'MODULE_PATHNAME', 'int4multiset_cume_dist'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION cume_dist(int4multiset, int4multiset_key) IS
'cumulative distribution of a hypothetical x: the part of keys, x among them, that is not greater';

CREATE FUNCTION count_of(m int4multiset, x int4)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_count_of'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION count_of(int4multiset, int4) IS
'how often a key occurs';

CREATE FUNCTION count_between(m int4multiset, lo int4, hi int4)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_count_between'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION count_between(int4multiset, int4, int4) IS
'how many keys are between lo and hi, both included';

CREATE FUNCTION percentile_disc(m int4multiset, fraction int4multiset_fraction)
RETURNS int4
AS 'MODULE_PATHNAME', 'int4multiset_percentile_disc'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION percentile_disc(int4multiset, int4multiset_fraction) IS
'discrete percentile';

CREATE FUNCTION percentile_disc(m int4multiset, fractions int4multiset_fractions)
RETURNS int4[]
AS 'MODULE_PATHNAME', 'int4multiset_percentile_disc_array'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION percentile_disc(int4multiset, int4multiset_fractions) IS
'multiple discrete percentiles';

CREATE FUNCTION percentile_cont(m int4multiset, fraction int4multiset_fraction)
RETURNS float8
AS 'MODULE_PATHNAME', 'int4multiset_percentile_cont'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION percentile_cont(int4multiset, int4multiset_fraction) IS
'continuous distribution percentile';

CREATE FUNCTION percentile_cont(m int4multiset, fractions int4multiset_fractions)
RETURNS float8[]
AS 'MODULE_PATHNAME', 'int4multiset_percentile_cont_array'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION percentile_cont(int4multiset, int4multiset_fractions) IS
'multiple continuous percentiles';

CREATE FUNCTION median(m int4multiset)
RETURNS float8
AS 'MODULE_PATHNAME', 'int4multiset_median'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION median(int4multiset) IS
'continuous distribution percentile of 0.5';

CREATE FUNCTION sum(m int4multiset)
RETURNS int8
AS 'MODULE_PATHNAME', 'int4multiset_sum_of'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION sum(int4multiset) IS
'sum of all keys';

CREATE FUNCTION avg(m int4multiset)
RETURNS numeric
AS 'MODULE_PATHNAME', 'int4multiset_avg'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION avg(int4multiset) IS
'average of all keys';

CREATE FUNCTION variance(m int4multiset)
RETURNS numeric
AS 'MODULE_PATHNAME', 'int4multiset_variance'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION variance(int4multiset) IS
'sample variance of all keys';

CREATE FUNCTION stddev(m int4multiset)
RETURNS numeric
AS 'MODULE_PATHNAME', 'int4multiset_stddev'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION stddev(int4multiset) IS
'sample standard deviation of all keys';

CREATE FUNCTION mode(m int4multiset)
RETURNS int4
AS 'MODULE_PATHNAME', 'int4multiset_mode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION mode(int4multiset) IS
'the most frequent key, the smallest of these';

-- Taking apart

CREATE FUNCTION runs(m int4multiset)
RETURNS SETOF hpsort_run
AS 'MODULE_PATHNAME', 'int4multiset_runs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION runs(int4multiset) IS
'runs of a multiset in ascending order';

CREATE FUNCTION buckets(m int4multiset, width int4)
RETURNS SETOF hpsort_run
AS 'MODULE_PATHNAME', 'int4multiset_buckets'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION buckets(int4multiset, int4) IS
'how many keys are in each bucket of this width that has any: key is its lower bound, a multiple of the width';

CREATE FUNCTION most_frequent(m int4multiset, n int4)
RETURNS SETOF hpsort_run
AS 'MODULE_PATHNAME', 'int4multiset_most_frequent'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION most_frequent(int4multiset, int4) IS
'the n most frequent keys with their counts, the smaller key first of equal counts';

CREATE FUNCTION hpsort_column_multiset(rel regclass, attribute name, lo int4 DEFAULT NULL, hi int4 DEFAULT NULL)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_column_multiset'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;

COMMENT ON FUNCTION hpsort_column_multiset(regclass, name, int4, int4) IS
'values of a table''s integer column as a multiset';

-- Aggregates whose states are multisets.  PostgreSQL keeps a state as an expanded object.
-- An extension that computes parts of an aggregate on other servers may send it as text.

CREATE FUNCTION hpsort_support_multiset_transfn(int4multiset, int4)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_transfn(int4multiset, int4) IS
'transition function of int4multiset_agg: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_multiset_transfn(int4multiset, int4, int8)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_weight_transfn'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_transfn(int4multiset, int4, int8) IS
'transition function of int4multiset_agg with weights: adds a row to the state of a group';

CREATE FUNCTION hpsort_support_multiset_sum_transfn(int4multiset, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_sum_transfn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_sum_transfn(int4multiset, int4multiset) IS
'transition function of int4multiset_sum, combine function of it and int4multiset_agg: adds a multiset to a state';

CREATE FUNCTION hpsort_support_multiset_moving_transfn(int4multiset, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_moving_transfn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_moving_transfn(int4multiset, int4multiset) IS
'transition function of int4multiset_sum over a moving frame: adds a multiset to a state';

CREATE FUNCTION hpsort_support_multiset_moving_invtransfn(int4multiset, int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_moving_invtransfn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_moving_invtransfn(int4multiset, int4multiset) IS
'inverse transition function of int4multiset_sum: takes a multiset out of a state';

CREATE FUNCTION hpsort_support_multiset_finalfn(int4multiset)
RETURNS int4multiset
AS 'MODULE_PATHNAME', 'hpsort_support_multiset_finalfn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_multiset_finalfn(int4multiset) IS
'final function of int4multiset_agg and int4multiset_sum: the multiset from the state';

-- SSPACE is what a group of up to 16 keys takes.

CREATE AGGREGATE int4multiset_agg(int4) (
	SFUNC = hpsort_support_multiset_transfn,
	STYPE = int4multiset,
	SSPACE = 224,
	FINALFUNC = hpsort_support_multiset_finalfn,
	COMBINEFUNC = hpsort_support_multiset_sum_transfn,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE int4multiset_agg(int4) IS
'collects values that are not NULL into a multiset';

CREATE AGGREGATE int4multiset_agg(int4, weight int8) (
	SFUNC = hpsort_support_multiset_transfn,
	STYPE = int4multiset,
	SSPACE = 512,
	FINALFUNC = hpsort_support_multiset_finalfn,
	COMBINEFUNC = hpsort_support_multiset_sum_transfn,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE int4multiset_agg(int4, int8) IS
'collects values that are not NULL into a multiset, each as often as its weight says';

CREATE AGGREGATE int4multiset_sum(int4multiset) (
	SFUNC = hpsort_support_multiset_sum_transfn,
	STYPE = int4multiset,
	SSPACE = 1024,
	FINALFUNC = hpsort_support_multiset_finalfn,
	COMBINEFUNC = hpsort_support_multiset_sum_transfn,
	MSFUNC = hpsort_support_multiset_moving_transfn,
	MINVFUNC = hpsort_support_multiset_moving_invtransfn,
	MSTYPE = int4multiset,
	MSSPACE = 1024,
	MFINALFUNC = hpsort_support_multiset_finalfn,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE int4multiset_sum(int4multiset) IS
'adds multisets up';

-- Resident columns.  Anybody may read which columns were declared, as anybody may read
-- pg_attribute; pg_dump must read it, whichever role runs it.

-- The type of hpsort_kept.relation, whose input takes any name.  The input of regclass is an
-- error if there is no such table, but a dump that is restored without some of its tables has
-- the declarations of all.

CREATE TYPE hpsort_relation;

CREATE FUNCTION hpsort_support_relation_in(cstring)
RETURNS hpsort_relation
AS 'MODULE_PATHNAME', 'hpsort_support_relation_in'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_relation_in(cstring) IS
'input function of hpsort_relation';

CREATE FUNCTION hpsort_support_relation_out(hpsort_relation)
RETURNS cstring
AS 'regclassout'
LANGUAGE internal STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_relation_out(hpsort_relation) IS
'output function of hpsort_relation';

CREATE FUNCTION hpsort_support_relation_recv(internal)
RETURNS hpsort_relation
AS 'regclassrecv'
LANGUAGE internal STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_relation_recv(internal) IS
'binary input function of hpsort_relation';

CREATE FUNCTION hpsort_support_relation_send(hpsort_relation)
RETURNS bytea
AS 'regclasssend'
LANGUAGE internal STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION hpsort_support_relation_send(hpsort_relation) IS
'binary output function of hpsort_relation';

CREATE TYPE hpsort_relation (
	INPUT = hpsort_support_relation_in,
	OUTPUT = hpsort_support_relation_out,
	RECEIVE = hpsort_support_relation_recv,
	SEND = hpsort_support_relation_send,
	LIKE = pg_catalog.oid
);

COMMENT ON TYPE hpsort_relation IS
'regclass whose input is 0, with a notice, where there is no such relation';

CREATE CAST (hpsort_relation AS oid) WITHOUT FUNCTION AS IMPLICIT;

COMMENT ON CAST (hpsort_relation AS oid) IS
'the same number';

CREATE CAST (hpsort_relation AS regclass) WITHOUT FUNCTION AS IMPLICIT;

COMMENT ON CAST (hpsort_relation AS regclass) IS
'the same number';

CREATE CAST (regclass AS hpsort_relation) WITHOUT FUNCTION AS ASSIGNMENT;

COMMENT ON CAST (regclass AS hpsort_relation) IS
'the same number';

CREATE TABLE hpsort_kept (
	relation hpsort_relation,
	attribute name,
	PRIMARY KEY (relation, attribute)
);

COMMENT ON TABLE hpsort_kept IS
'columns declared resident by hpsort_keep';

COMMENT ON COLUMN hpsort_kept.relation IS
'table, materialized view or partitioned table';

COMMENT ON COLUMN hpsort_kept.attribute IS
'name of the column, as it was when it was declared';

GRANT SELECT ON hpsort_kept TO PUBLIC;

-- Whoever has created the extension may insert, to restore a dump.  A trigger allows only
-- declarations of his own tables.

GRANT INSERT ON hpsort_kept TO @extowner@;

-- Declarations of dropped tables and columns are not dumped: the number of a dropped table
-- may be that of another table in a new database.

SELECT pg_catalog.pg_extension_config_dump('hpsort_kept',
	'WHERE EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = relation AND attname = attribute)');

CREATE FUNCTION hpsort_support_kept_changed()
RETURNS trigger
AS 'MODULE_PATHNAME', 'hpsort_support_kept_changed'
LANGUAGE C;

COMMENT ON FUNCTION hpsort_support_kept_changed() IS
'trigger of hpsort_kept: makes sessions read it again';

CREATE FUNCTION hpsort_support_kept_insert()
RETURNS trigger
AS 'MODULE_PATHNAME', 'hpsort_support_kept_insert'
LANGUAGE C;

COMMENT ON FUNCTION hpsort_support_kept_insert() IS
'trigger of hpsort_kept: leaves out relations that there are not, and refuses those of others';

-- These trigger functions are of no use for other tables.
REVOKE ALL ON FUNCTION hpsort_support_kept_changed(), hpsort_support_kept_insert() FROM PUBLIC;

CREATE TRIGGER hpsort_kept_insert
BEFORE INSERT ON hpsort_kept
FOR EACH ROW EXECUTE FUNCTION hpsort_support_kept_insert();

COMMENT ON TRIGGER hpsort_kept_insert ON hpsort_kept IS
'leaves out relations that there are not, and refuses those of others';

ALTER TABLE hpsort_kept ENABLE ALWAYS TRIGGER hpsort_kept_insert;

CREATE TRIGGER hpsort_kept_changed
AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON hpsort_kept
FOR EACH STATEMENT EXECUTE FUNCTION hpsort_support_kept_changed();

COMMENT ON TRIGGER hpsort_kept_changed ON hpsort_kept IS
'makes sessions read the declarations again';

ALTER TABLE hpsort_kept ENABLE ALWAYS TRIGGER hpsort_kept_changed;

CREATE FUNCTION hpsort_keep(rel regclass, VARIADIC attributes name[] DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_keep'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION hpsort_keep(regclass, name[]) IS
'declares columns of a table resident: their values are kept in memory, and filled by a background worker';

CREATE FUNCTION hpsort_keep(rel regclass, attributes name[], wait bool)
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_keep'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION hpsort_keep(regclass, name[], bool) IS
'declares columns of a table resident; with wait, their values are in memory when it returns';

CREATE FUNCTION hpsort_forget(rel regclass, VARIADIC attributes name[] DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_forget'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION hpsort_forget(regclass, name[]) IS
'takes back declarations of hpsort_keep; without columns, all of the table';

CREATE FUNCTION hpsort_resident(OUT relation regclass, OUT attribute name, OUT rows int8, OUT blocks int8,
	OUT blocks_valid int8, OUT filled int8, OUT bytes int8, OUT hits int8, OUT gpu_hits int8,
	OUT refreshes int8, OUT evictions int8, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_resident'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION hpsort_resident() IS
'columns declared resident, what of them is in memory, and why not all of it';

CREATE VIEW hpsort_resident AS
SELECT * FROM hpsort_resident();

COMMENT ON VIEW hpsort_resident IS
'columns declared resident that the user may read: what of them is in memory, and why not all of it';

GRANT SELECT ON hpsort_resident TO PUBLIC;

CREATE FUNCTION hpsort_resident_estimate(rel regclass, OUT relation regclass, OUT attribute name, OUT type text,
	OUT bytes int8, OUT margin int8, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_resident_estimate'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION hpsort_resident_estimate(regclass) IS
'how much memory a table''s columns would take if they were resident, by a sample of its blocks';

CREATE FUNCTION hpsort_resident_check(rel regclass, OUT relation regclass, OUT attribute name, OUT blocks int8,
	OUT rows int8, OUT differing int8, OUT first_differing int8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hpsort_resident_check'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000 ROWS 10;

COMMENT ON FUNCTION hpsort_resident_check(regclass) IS
'compares what is in memory of a table''s resident columns with the table: how many blocks differ';

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
	OUT jobs_running int4, OUT jobs int8, OUT last_error text, OUT resident_extents int8, OUT resident_bytes int8)
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

-- Raises a notice if sessions do not preload hpsort.

CREATE FUNCTION hpsort_support_created()
RETURNS void
AS 'MODULE_PATHNAME', 'hpsort_support_created'
LANGUAGE C VOLATILE STRICT;

SELECT hpsort_support_created();

DROP FUNCTION hpsort_support_created();

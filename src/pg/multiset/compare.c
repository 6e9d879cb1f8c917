/*
 * compare.c
 *		Operators of int4multiset: comparison and hashes by content.
 *
 * Equal multisets have equal bytes.  The order is that of the int4[] with the same
 * keys in order, found by walking the runs of both.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "fmgr.h"

#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_cmp);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_hash);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_hash_extended);

/* Whether two multisets have the same keys and counts.  Leaves no memory behind, for joins. */
static bool
are_equal(Datum a, Datum b)
{
	Multiset	ma;
	Multiset	mb;
	const bytea *value_a;
	const bytea *value_b;
	bool		equal;

	/* Values of different lengths are different: that is seen without detoasting either. */
	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(a)) &&
		!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(b)) &&
		toast_raw_datum_size(a) != toast_raw_datum_size(b))
		return false;
	value_a = multiset_value_open(a, &ma);
	value_b = multiset_value_open(b, &mb);
	equal = ma.bytes.size == mb.bytes.size &&
		memcmp(ma.bytes.data, mb.bytes.data, ma.bytes.size) == 0;
	multiset_value_close(a, value_a);
	multiset_value_close(b, value_b);
	return equal;
}

/*
 * Compares the keys that are left in two readers.  Returns less than, equal to or greater than
 * 0, as a is to b.
 */
static int
compare_runs(MultisetReader *a, MultisetReader *b)
{
	for (;;)
	{
		bool		more_a = multiset_reader_has_run(a);
		bool		more_b = multiset_reader_has_run(b);
		int32		key_a;
		int32		key_b;
		uint64		count_a;
		uint64		count_b;

		if (!more_a || !more_b)
			return (int) more_a - (int) more_b;
		key_a = a->block.keys[a->at];
		key_b = b->block.keys[b->at];
		if (key_a != key_b)
			return key_a < key_b ? -1 : 1;
		count_a = a->block.counts[a->at++];
		count_b = b->block.counts[b->at++];

		/*
		 * The multiset with fewer of this key goes on with a larger key, where the other one
		 * still has this key.  So it is the larger one, unless it ends here.
		 */
		if (count_a < count_b)
			return multiset_reader_has_run(a) ? 1 : -1;
		if (count_a > count_b)
			return multiset_reader_has_run(b) ? -1 : 1;
	}
}

/* Compares two multisets.  Returns less than, equal to or greater than 0, as a is to b. */
static int
compare(Datum a, Datum b)
{
	MultisetReader reader_a;
	MultisetReader reader_b;
	int			result;

	multiset_reader_open(&reader_a, a);
	multiset_reader_open(&reader_b, b);
	result = compare_runs(&reader_a, &reader_b);
	multiset_reader_close(&reader_a);
	multiset_reader_close(&reader_b);
	return result;
}

/* An operator's function, (int4multiset, int4multiset) returns bool: condition is of a and b. */
#define OPERATOR(name, condition) \
	PG_FUNCTION_INFO_V1(hpsort_support_multiset_##name); \
\
	Datum \
	hpsort_support_multiset_##name(PG_FUNCTION_ARGS) \
	{ \
		Datum		a = PG_GETARG_DATUM(0); \
		Datum		b = PG_GETARG_DATUM(1); \
\
		PG_RETURN_BOOL(condition); \
	}

OPERATOR(eq, are_equal(a, b))
OPERATOR(ne, !are_equal(a, b))
OPERATOR(lt, compare(a, b) < 0)
OPERATOR(le, compare(a, b) <= 0)
OPERATOR(gt, compare(a, b) > 0)
OPERATOR(ge, compare(a, b) >= 0)

/* (int4multiset, int4multiset) returns int4, for B-trees: below, at or above 0 */
Datum
hpsort_support_multiset_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}

/* (int4multiset) returns int4: a hash of the bytes, which are the same of equal multisets */
Datum
hpsort_support_multiset_hash(PG_FUNCTION_ARGS)
{
	Multiset	m;
	const bytea *value = multiset_value_open(PG_GETARG_DATUM(0), &m);
	Datum		hash = hash_any(m.bytes.data, (int) m.bytes.size);

	multiset_value_close(PG_GETARG_DATUM(0), value);
	return hash;
}

/* (int4multiset, int8) returns int8: the hash with a seed, for hash partitions */
Datum
hpsort_support_multiset_hash_extended(PG_FUNCTION_ARGS)
{
	Multiset	m;
	const bytea *value = multiset_value_open(PG_GETARG_DATUM(0), &m);
	Datum		hash = hash_any_extended(m.bytes.data, (int) m.bytes.size, PG_GETARG_INT64(1));

	multiset_value_close(PG_GETARG_DATUM(0), value);
	return hash;
}

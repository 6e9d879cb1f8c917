/*
 * keys.c
 *		Sort keys as unsigned integers (see keys.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/keys.h"

/* The kind that an input type has in the usual order of its values. */
static KeyKind
usual_kind(Oid opcintype)
{
	switch (opcintype)
	{
		case INT4OID:
		case DATEOID:
			return KEY_KIND_INT4;
		case INT8OID:
			return KEY_KIND_INT8;
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
#ifdef USE_FLOAT8_BYVAL
			return KEY_KIND_INT8;
#else
			return KEY_KIND_NONE;
#endif
		case FLOAT4OID:
			return KEY_KIND_FLOAT4;
		case FLOAT8OID:
#ifdef USE_FLOAT8_BYVAL
			return KEY_KIND_FLOAT8;
#else
			return KEY_KIND_NONE;
#endif
		case INTERVALOID:
			return KEY_KIND_INTERVAL;
		case INT2OID:
			return KEY_KIND_INT2;
		case BOOLOID:
			return KEY_KIND_BOOL;
		case CHAROID:
			return KEY_KIND_CHAR;
		case OIDOID:
			return KEY_KIND_OID;
		case ANYENUMOID:
			return KEY_KIND_ENUM;
		default:
			return KEY_KIND_NONE;
	}
}

KeyKind
key_kind(Oid type, Oid opfamily, Oid opcintype, Oid collation)
{
	KeyKind		kind = usual_kind(opcintype);

	/* Another operator family may have another order. */
	if (kind != KEY_KIND_NONE &&
		lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY)->btree_opf == opfamily)
		return kind;
	return abbreviation_exists(opfamily, opcintype, collation) ? KEY_KIND_ABBREVIATED : KEY_KIND_NONE;
}

/* The bits that the unsigned values of a kind can have. */
uint64
key_mask(KeyKind kind)
{
	switch (kind)
	{
		case KEY_KIND_BOOL:
			return 1;
		case KEY_KIND_CHAR:
			return PG_UINT8_MAX;
		case KEY_KIND_INT2:
			return PG_UINT16_MAX;
		case KEY_KIND_INT8:
		case KEY_KIND_FLOAT8:
		case KEY_KIND_INTERVAL:
		case KEY_KIND_ABBREVIATED:
			return PG_UINT64_MAX;
		default:
			return PG_UINT32_MAX;
	}
}

/* The sign bit of the values of a kind; 0 if they are unsigned. */
static uint64
kind_sign(KeyKind kind)
{
	switch (kind)
	{
		case KEY_KIND_INT2:
			return UINT64CONST(1) << 15;
		case KEY_KIND_INT4:
			return UINT64CONST(1) << 31;
		case KEY_KIND_INT8:
		case KEY_KIND_INTERVAL:
			return UINT64CONST(1) << 63;
		default:
			return 0;
	}
}

/* How the values of one key are mapped. */
static void
init_mapping(KeyColumn *key, Oid type, Oid opfamily, Oid opcintype, bool alone)
{
	key->kind = key_kind(type, opfamily, opcintype, key->collation);
	key->alone = alone;

	/* If the sort support has gone since the plan was made, there will be no abbreviations. */
	if (key->kind == KEY_KIND_NONE)
		key->kind = KEY_KIND_ABBREVIATED;
	key->flip = kind_sign(key->kind) ^ (key->descending ? key_mask(key->kind) : 0);
	if (key->kind == KEY_KIND_ENUM)
		enum_labels_init(&key->labels, getBaseType(type), CurrentMemoryContext);
}

/* Core's comparison by a key. */
static void
init_comparison(SortSupport ssup, const KeyColumn *key)
{
	ssup->ssup_cxt = CurrentMemoryContext;
	ssup->ssup_collation = key->collation;
	ssup->ssup_nulls_first = key->nulls_first;
	ssup->ssup_attno = key->attno;
	PrepareSortSupportFromOrderingOp(key->sortop, ssup);
}

KeyColumns *
key_columns_make(TupleDesc input, List *attnos, List *sortops, List *collations,
				 List *nulls_first, int nmapped, bool alone)
{
	KeyColumns  *keys = (KeyColumns *) palloc0(sizeof(KeyColumns));
	int			i;

	keys->nkeys = list_length(attnos);
	keys->nmapped = keys->nexact = nmapped;
	keys->keys = (KeyColumn *) palloc0(keys->nkeys * sizeof(KeyColumn));
	for (i = 0; i < keys->nkeys; i++)
	{
		KeyColumn   *key = &keys->keys[i];
		Oid			opfamily;
		Oid			opcintype;

		key->attno = (AttrNumber) list_nth_int(attnos, i);
		key->sortop = list_nth_oid(sortops, i);
		key->collation = list_nth_oid(collations, i);
		key->nulls_first = list_nth_int(nulls_first, i) != 0;
		if (!compat_ordering_op(key->sortop, &opfamily, &opcintype, &key->descending))
			elog(ERROR, "operator %u is not a valid ordering operator", key->sortop);
		if (i < nmapped)
		{
			init_mapping(key, TupleDescAttr(input, key->attno - 1)->atttypid, opfamily, opcintype, alone);
			if (!key_is_exact(key->kind))
				keys->nexact = i;
		}
	}
	Assert(keys->nexact >= nmapped - 1);
	keys->nrest = keys->nkeys - keys->nexact;
	if (keys->nrest > 0)
		keys->rest = (SortSupport) palloc0(keys->nrest * sizeof(SortSupportData));
	for (i = 0; i < keys->nrest; i++)
		init_comparison(&keys->rest[i], &keys->keys[keys->nexact + i]);
	return keys;
}

bool
key_columns_start(KeyColumns *keys, MemoryContext memory, bool abbreviate)
{
	KeyColumn  *last = &keys->keys[keys->nmapped - 1];

	if (last->kind != KEY_KIND_ABBREVIATED)
		return false;
	abbreviation_stop(&last->abbreviation);
	if (abbreviate)
		abbreviation_start(&last->abbreviation, last->sortop, last->collation, memory);
	return abbreviation_is_made(&last->abbreviation);
}

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
static ColumnKind
usual_kind(Oid opcintype)
{
	ColumnKind	kind = opcintype == INTERVALOID ? COLUMN_KIND_INTERVAL :
	opcintype == ANYENUMOID ? COLUMN_KIND_ENUM : column_builtin_kind(opcintype);

#ifndef USE_FLOAT8_BYVAL
	if (column_kind_is_wide(kind) && opcintype != INT8OID && opcintype != INTERVALOID)
		return COLUMN_KIND_NONE;
#endif
	return kind;
}

ColumnKind
key_kind(Oid type, Oid opfamily, Oid opcintype, Oid collation)
{
	ColumnKind	kind = usual_kind(opcintype);

	/* Another operator family may have another order. */
	if (kind != COLUMN_KIND_NONE &&
		lookup_type_cache(getBaseType(type), TYPECACHE_BTREE_OPFAMILY)->btree_opf == opfamily)
		return kind;
	return abbreviation_exists(opfamily, opcintype, collation) ?
		COLUMN_KIND_ABBREVIATED : COLUMN_KIND_NONE;
}

/* What is flipped in the integers of a kind; nothing in what is an image already. */
static uint64
kind_flip(ColumnKind kind)
{
	switch (kind)
	{
		case COLUMN_KIND_ENUM:
		case COLUMN_KIND_ABBREVIATED:
			return 0;
		default:
			return column_kind_sign(kind);
	}
}

/* How the values of one key are mapped. */
static void
init_mapping(KeyColumn *key, Oid type, Oid opfamily, Oid opcintype, bool alone)
{
	key->kind = key_kind(type, opfamily, opcintype, key->collation);
	key->alone = alone;

	/* If the sort support has gone since the plan was made, there will be no abbreviations. */
	if (key->kind == COLUMN_KIND_NONE)
		key->kind = COLUMN_KIND_ABBREVIATED;
	key->flip = kind_flip(key->kind) ^ (key->descending ? column_kind_mask(key->kind) : 0);
	if (key->kind == COLUMN_KIND_ENUM)
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
	KeyColumns *keys = (KeyColumns *) palloc0(sizeof(KeyColumns));
	int			i;

	keys->nkeys = list_length(attnos);
	keys->nmapped = keys->nexact = nmapped;
	keys->keys = (KeyColumn *) palloc0(keys->nkeys * sizeof(KeyColumn));
	for (i = 0; i < keys->nkeys; i++)
	{
		KeyColumn  *key = &keys->keys[i];
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
			init_mapping(key, TupleDescAttr(input, key->attno - 1)->atttypid, opfamily, opcintype,
						 alone);
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

	if (last->kind != COLUMN_KIND_ABBREVIATED)
		return false;
	abbreviation_stop(&last->abbreviation);
	if (abbreviate)
		abbreviation_start(&last->abbreviation, last->sortop, last->collation, memory);
	return abbreviation_is_made(&last->abbreviation);
}

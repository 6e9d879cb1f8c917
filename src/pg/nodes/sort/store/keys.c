/*
 * keys.c
 *		Sort keys as unsigned integers (see keys.h).
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
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

bool
key_may_be_numbered(Oid type, Oid opfamily, Oid opcintype, Oid collation)
{
	Oid			base = getBaseType(type);
	TypeCacheEntry *entry = lookup_type_cache(base, TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);

	if (!OidIsValid(entry->hash_proc) || entry->typbyval || type_is_rowtype(base) ||
		entry->eq_opr != get_opfamily_member(opfamily, opcintype, opcintype,
											 BTEqualStrategyNumber))
		return false;
	if (OidIsValid(collation))
		return get_collation_isdeterministic(collation);
	return !type_is_collatable(base);
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

/* Values that are numbered need no abbreviations, which may not exist for their type. */
static void
init_numbers(KeyColumns *keys, KeyColumn *key, Oid type)
{
	Oid			opfamily;
	Oid			opcintype;
	bool		descending;

	/* The hash function may have gone since the plan was made. */
	if (compat_ordering_op(key->sortop, &opfamily, &opcintype, &descending) &&
		key_may_be_numbered(type, opfamily, opcintype, key->collation))
		key_numbers_init(&key->numbers, getBaseType(type), key->sortop, key->collation,
						 &keys->numbers);
}

/*
 * Sets which keys have images, and which are left to core, by which are numbered.  A key that the
 * plan has numbered and that is not numbered is the last one that is mapped.
 */
static void
set_mapped(KeyColumns *keys)
{
	int			i = 0;

	while (i < keys->nplanned &&
		   (key_is_exact(keys->keys[i].kind) || key_is_numbered(&keys->keys[i])))
		i++;
	keys->numbered = false;
	for (int k = 0; k < i; k++)
		keys->numbered |= key_is_numbered(&keys->keys[k]);
	keys->nexact = i;
	keys->nmapped = Min(i + 1, keys->nplanned);
	keys->nrest = keys->nkeys - keys->nexact;
	keys->rest = keys->nrest > 0 ? &keys->comparisons[keys->nexact] : NULL;
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
				 List *nulls_first, int nmapped, uint32 numbered, bool alone)
{
	KeyColumns *keys = palloc0_object(KeyColumns);

	keys->nkeys = list_length(attnos);
	keys->nplanned = nmapped;
	keys->keys = palloc0_array(KeyColumn, keys->nkeys);
	keys->comparisons = palloc0_array(SortSupportData, keys->nkeys);
	for (int i = 0; i < keys->nkeys; i++)
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
			if (numbered & (1 << i))
				init_numbers(keys, key, TupleDescAttr(input, key->attno - 1)->atttypid);
		}
	}
	set_mapped(keys);
	for (int i = keys->nexact; i < keys->nkeys; i++)
		init_comparison(&keys->comparisons[i], &keys->keys[i]);
	return keys;
}

bool
key_columns_start(KeyColumns *keys, MemoryContext memory, bool abbreviate, bool number)
{
	KeyColumn  *last;

	key_columns_stop(keys);
	keys->numbers.limit = (Size) work_mem * 1024 / KEY_NUMBERS_PART;
	keys->numbers.full = false;
	for (int i = 0; i < keys->nplanned; i++)
	{
		KeyColumn  *key = &keys->keys[i];

		abbreviation_stop(&key->abbreviation);
		if (number && key->numbers.dictionary)
			key_numbers_start(&key->numbers, memory);
	}
	set_mapped(keys);
	last = &keys->keys[keys->nmapped - 1];
	if (last->kind != COLUMN_KIND_ABBREVIATED || key_is_numbered(last))
		return false;
	if (abbreviate)
		abbreviation_start(&last->abbreviation, last->sortop, last->collation, memory);
	return abbreviation_is_made(&last->abbreviation);
}

void
key_columns_stop(KeyColumns *keys)
{
	for (int i = 0; i < keys->nplanned; i++)
		if (keys->keys[i].numbers.dictionary)
			key_numbers_stop(&keys->keys[i].numbers);
}

int
key_columns_refused(const KeyColumns *keys, uint64 rows)
{
	for (int i = 0; i < keys->nmapped; i++)
		if (key_is_numbered(&keys->keys[i]) &&
			key_numbers_are_refused(&keys->keys[i].numbers, rows, keys->expected_rows))
			return i;
	return -1;
}

void
key_columns_give_up(KeyColumns *keys, int k)
{
	for (int i = k; i < keys->nplanned; i++)
		if (keys->keys[i].numbers.dictionary)
			key_numbers_stop(&keys->keys[i].numbers);
	set_mapped(keys);
	keys->numbers.full = false;
	keys->given_up++;
}

void
key_columns_rank(KeyColumns *keys)
{
	for (int i = 0; i < keys->nmapped; i++)
		if (key_is_numbered(&keys->keys[i]))
			key_numbers_rank(&keys->keys[i].numbers);
}

void
key_columns_number(KeyColumns *keys)
{
	for (int i = 0; i < keys->nmapped; i++)
		key_numbers_number(&keys->keys[i].numbers);
}

/*
 * keys.c
 *		Sort keys as unsigned integers (see keys.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/keys.h"

KeyKind
key_kind(Oid opcintype)
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
			return UINT64CONST(1) << 63;
		default:
			return 0;
	}
}

KeyColumns *
key_columns_make(TupleDesc input, List *attnos, List *sortops, List *collations,
				 List *nulls_first, int nmapped)
{
	KeyColumns  *keys = (KeyColumns *) palloc0(sizeof(KeyColumns));
	int			i;

	keys->nkeys = list_length(attnos);
	keys->nmapped = nmapped;
	keys->keys = (KeyColumn *) palloc0(keys->nkeys * sizeof(KeyColumn));
	if (nmapped < keys->nkeys)
		keys->rest = (SortSupport) palloc0((keys->nkeys - nmapped) * sizeof(SortSupportData));
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
			key->kind = key_kind(opcintype);
			Assert(key->kind != KEY_KIND_NONE);
			key->flip = kind_sign(key->kind) ^ (key->descending ? key_mask(key->kind) : 0);
			if (key->kind == KEY_KIND_ENUM)
				enum_labels_init(&key->labels,
								 getBaseType(TupleDescAttr(input, key->attno - 1)->atttypid),
								 CurrentMemoryContext);
		}
		else
		{
			SortSupport ssup = &keys->rest[i - nmapped];

			ssup->ssup_cxt = CurrentMemoryContext;
			ssup->ssup_collation = key->collation;
			ssup->ssup_nulls_first = key->nulls_first;
			ssup->ssup_attno = key->attno;
			PrepareSortSupportFromOrderingOp(key->sortop, ssup);
		}
	}
	return keys;
}

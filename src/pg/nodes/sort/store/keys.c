/*
 * keys.c
 *		Sort keys as unsigned integers (see keys.h).
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

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

/* The bits that the unsigned values of a kind can have. */
static uint64
kind_mask(KeyKind kind)
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
		key->memory = CurrentMemoryContext;
		if (i < nmapped)
		{
			key->kind = key_kind(opcintype);
			Assert(key->kind != KEY_KIND_NONE);
			key->flip = kind_sign(key->kind) ^ (key->descending ? kind_mask(key->kind) : 0);
			if (key->kind == KEY_KIND_ENUM)
				key->enum_type = getBaseType(TupleDescAttr(input, key->attno - 1)->atttypid);
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

static int
compare_labels(const void *a, const void *b)
{
	Oid			left = ((const EnumLabel *) a)->oid;
	Oid			right = ((const EnumLabel *) b)->oid;

	return left < right ? -1 : left > right;
}

static EnumLabel *
find_label(KeyColumn *key, Oid label)
{
	EnumLabel wanted;

	wanted.oid = label;
	wanted.image = 0;
	return (EnumLabel *) bsearch(&wanted, key->labels, key->nlabels,
								 sizeof(EnumLabel), compare_labels);
}

/*
 * Reads the labels of an enum.  A label's image is its enumsortorder, a float,
 * as an integer of the same order.  Unlike a rank, it does not change when other
 * labels are added while a sort goes on, unless no float is left between two
 * labels and PostgreSQL renumbers all of them.
 */
static void
load_labels(KeyColumn *key)
{
	Relation	relation = table_open(EnumRelationId, AccessShareLock);
	ScanKeyData skey;
	SysScanDesc scan;
	HeapTuple	tuple;
	EnumLabel *before = key->labels;
	int			nbefore = key->nlabels;
	int			room = 64;
	int			i;

	key->nlabels = 0;
	key->labels = (EnumLabel *) MemoryContextAlloc(key->memory, room * sizeof(EnumLabel));
	ScanKeyInit(&skey, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(key->enum_type));
	scan = systable_beginscan(relation, EnumTypIdLabelIndexId, true, NULL, 1, &skey);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(tuple);
		uint32		bits;

		if (key->nlabels == room)
		{
			room *= 2;
			key->labels = (EnumLabel *) repalloc(key->labels, room * sizeof(EnumLabel));
		}
		memcpy(&bits, &label->enumsortorder, sizeof(bits));
		key->labels[key->nlabels].oid = label->oid;
		key->labels[key->nlabels].image = bits >> 31 ? ~bits : bits | (UINT32_C(1) << 31);
		key->nlabels++;
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	qsort(key->labels, key->nlabels, sizeof(EnumLabel), compare_labels);
	for (i = 0; i < nbefore; i++)
	{
		const EnumLabel *now = find_label(key, before[i].oid);

		if (now && now->image != before[i].image)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("labels of type %s were renumbered while it was sorted",
							format_type_be(key->enum_type))));
	}
	if (before)
		pfree(before);
}

uint32
key_enum_image(KeyColumn *key, Oid label)
{
	EnumLabel *found = NULL;

	if (key->labels)
		found = find_label(key, label);
	if (found == NULL)
	{
		load_labels(key);
		found = find_label(key, label);
		if (found == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("invalid internal value for enum: %u", label)));
	}
	return found->image;
}

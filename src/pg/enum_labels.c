/*
 * enum_labels.c
 *		The labels of an enum in their order (see enum_labels.h).
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_enum.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "pg/enum_labels.h"

void
enum_labels_init(EnumLabels *labels, Oid type, MemoryContext memory)
{
	memset(labels, 0, sizeof(*labels));
	labels->type = type;
	labels->memory = memory;
}

static int
compare_oids(const void *a, const void *b)
{
	Oid			left = ((const EnumLabel *) a)->oid;
	Oid			right = ((const EnumLabel *) b)->oid;

	return left < right ? -1 : left > right;
}

static int
compare_images(const void *a, const void *b)
{
	uint32		left = ((const EnumLabel *) a)->image;
	uint32		right = ((const EnumLabel *) b)->image;

	return left < right ? -1 : left > right;
}

static EnumLabel *
find_label(const EnumLabels *labels, Oid label)
{
	EnumLabel	wanted = {.oid = label};

	if (labels->labels == NULL)
		return NULL;
	return (EnumLabel *) bsearch(&wanted, labels->labels, labels->nlabels, sizeof(EnumLabel),
								 compare_oids);
}

/* Makes the ranks, and puts the labels in the order of their OIDs. */
static void
rank_labels(EnumLabels *labels)
{
	int			i;

	labels->by_rank = (Oid *) MemoryContextAlloc(labels->memory,
												 Max(labels->nlabels, 1) * sizeof(Oid));
	qsort(labels->labels, labels->nlabels, sizeof(EnumLabel), compare_images);
	for (i = 0; i < labels->nlabels; i++)
	{
		labels->labels[i].rank = i;
		labels->by_rank[i] = labels->labels[i].oid;
	}
	qsort(labels->labels, labels->nlabels, sizeof(EnumLabel), compare_oids);
}

/*
 * Reads the labels.  A label's image is its enumsortorder, a float, as an integer of
 * the same order.  Unlike a rank, it does not change when other labels are added while
 * a sort goes on, unless no float is left between two labels and PostgreSQL renumbers
 * all of them.
 */
static void
load_labels(EnumLabels *labels)
{
	Relation	relation = table_open(EnumRelationId, AccessShareLock);
	ScanKeyData skey;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			room = 64;

	labels->nlabels = 0;
	labels->labels = (EnumLabel *) MemoryContextAlloc(labels->memory, room * sizeof(EnumLabel));
	ScanKeyInit(&skey, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(labels->type));
	scan = systable_beginscan(relation, EnumTypIdLabelIndexId, true, NULL, 1, &skey);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(tuple);
		uint32		bits;

		if (labels->nlabels == room)
		{
			room *= 2;
			labels->labels = (EnumLabel *) repalloc(labels->labels, room * sizeof(EnumLabel));
		}
		memcpy(&bits, &label->enumsortorder, sizeof(bits));
		labels->labels[labels->nlabels].oid = label->oid;
		labels->labels[labels->nlabels].image = bits >> 31 ? ~bits : bits | (UINT32_C(1) << 31);
		labels->nlabels++;
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	rank_labels(labels);
}

static void
complain_about_changes(const EnumLabels *labels)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("labels of type %s were renumbered while it was sorted",
					format_type_be(labels->type))));
}

/* Finds a label, which may have been added since the labels were read. */
static EnumLabel *
get_label(EnumLabels *labels, Oid label, bool ranks)
{
	EnumLabel  *found = find_label(labels, label);
	EnumLabels	before = *labels;
	int			i;

	if (found)
		return found;
	load_labels(labels);
	for (i = 0; i < before.nlabels; i++)
	{
		const EnumLabel *now = find_label(labels, before.labels[i].oid);

		if (now && (ranks ? now->rank != before.labels[i].rank :
					now->image != before.labels[i].image))
			complain_about_changes(labels);
	}
	if (before.labels)
	{
		pfree(before.labels);
		pfree(before.by_rank);
	}
	found = find_label(labels, label);
	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", label)));
	return found;
}

uint32
enum_label_image(EnumLabels *labels, Oid label)
{
	return get_label(labels, label, false)->image;
}

int
enum_label_rank(EnumLabels *labels, Oid label)
{
	return get_label(labels, label, true)->rank;
}

Oid
enum_label_at(const EnumLabels *labels, int rank)
{
	return labels->by_rank[rank];
}

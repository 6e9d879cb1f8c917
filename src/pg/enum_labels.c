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
#include "catalog/pg_enum.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "pg/enum_labels.h"

void
enum_labels_init(EnumLabels *labels, Oid type, MemoryContext memory)
{
	memset(labels, 0, sizeof(*labels));
	labels->type = type;
	labels->memory = memory;
}

/* Compares labels by OID, for qsort() and bsearch(). */
static int
compare_oids(const void *a, const void *b)
{
	Oid			left = ((const EnumLabel *) a)->oid;
	Oid			right = ((const EnumLabel *) b)->oid;

	return left < right ? -1 : left > right;
}

/* Compares labels by their order, for qsort(). */
static int
compare_places(const void *a, const void *b)
{
	float4		left = ((const EnumLabel *) a)->place;
	float4		right = ((const EnumLabel *) b)->place;

	return left < right ? -1 : left > right;
}

/* Returns a label that has been read, or NULL. */
static EnumLabel *
find_label(const EnumLabels *labels, Oid label)
{
	EnumLabel	wanted = {.oid = label};

	if (labels->labels == NULL)
		return NULL;
	return (EnumLabel *) bsearch(&wanted, labels->labels, labels->nlabels, sizeof(EnumLabel),
								 compare_oids);
}

/*
 * The difference between the images of two neighbours among the first labels; it is smaller if
 * there are too many labels for it.
 */
#define IMAGE_STEP (UINT64CONST(1) << 20)
#define IMAGES (UINT64CONST(1) << 32)

/* Gives all labels, which are in their order, the images and ranks of first labels. */
static void
number_first_labels(EnumLabels *labels)
{
	uint64		step = Min(IMAGE_STEP, IMAGES / ((uint64) labels->nlabels + 1));

	labels->nranks = labels->nlabels;
	labels->by_rank = (Oid *) MemoryContextAlloc(labels->memory,
												 Max(labels->nlabels, 1) * sizeof(Oid));
	for (int i = 0; i < labels->nlabels; i++)
	{
		EnumLabel  *label = &labels->labels[i];

		label->image = (uint32) ((i + 1) * step);
		label->rank = i;
		label->added = false;
		labels->by_rank[i] = label->oid;
	}
}

/*
 * Gives labels, which are in their order, the images and ranks that they had before.  A label
 * that has been added gets an image between its neighbours'. PostgreSQL keeps the order when it
 * gives all labels new places.
 */
static void
number_added_labels(EnumLabels *labels, const EnumLabels *before)
{
	uint64		image = 0;
	int			next = -1;		/* the first label from i on that was there before */

	for (int i = 0; i < labels->nlabels; i++)
	{
		EnumLabel  *label = &labels->labels[i];
		const EnumLabel *known = NULL;
		uint64		step;

		if (next < i)
			for (next = i; next < labels->nlabels; next++)
				if (find_label(before, labels->labels[next].oid))
					break;
		if (next < labels->nlabels)
			known = find_label(before, labels->labels[next].oid);
		if (next == i)
		{
			label->image = known->image;
			label->rank = known->rank;
			label->added = known->added;
			image = label->image;
			continue;
		}
		step = ((known ? known->image : IMAGES) - image) / (next - i + 1);
		if (step == 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("too many labels were added to type %s in one place while it was sorted",
							format_type_be(labels->type))));
		image += step;
		label->image = (uint32) image;
		label->rank = known ? known->rank : labels->nranks;
		label->added = true;
	}
}

/* Reads the labels from pg_enum, and numbers them. */
static void
load_labels(EnumLabels *labels)
{
	EnumLabels	before = *labels;
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

		if (labels->nlabels == room)
		{
			room *= 2;
			labels->labels = (EnumLabel *) repalloc(labels->labels, room * sizeof(EnumLabel));
		}
		labels->labels[labels->nlabels].oid = label->oid;
		labels->labels[labels->nlabels].place = label->enumsortorder;
		labels->nlabels++;
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	qsort(labels->labels, labels->nlabels, sizeof(EnumLabel), compare_places);
	if (before.labels == NULL)
		number_first_labels(labels);
	else
	{
		number_added_labels(labels, &before);
		pfree(before.labels);
	}
	qsort(labels->labels, labels->nlabels, sizeof(EnumLabel), compare_oids);
}

/* Returns a label, which may have been added since labels were read. */
static EnumLabel *
get_label(EnumLabels *labels, Oid label)
{
	EnumLabel  *found = find_label(labels, label);

	if (found)
		return found;
	load_labels(labels);
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
	return get_label(labels, label)->image;
}

int
enum_label_rank(EnumLabels *labels, Oid label, bool *added)
{
	const EnumLabel *found = get_label(labels, label);

	*added = found->added;
	return found->rank;
}

Oid
enum_label_at(const EnumLabels *labels, int rank)
{
	return labels->by_rank[rank];
}

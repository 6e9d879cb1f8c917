/*
 * enum_labels.h
 *		The labels of an enum in their order, which is not that of their OIDs.
 *
 * They are read from pg_enum when first needed, and again when a label turns up that
 * was added since.
 */
#ifndef HPSORT_PG_ENUM_LABELS_H
#define HPSORT_PG_ENUM_LABELS_H

#include "postgres.h"

/* One label. */
typedef struct EnumLabel
{
	Oid			oid;
	uint32		image;			/* in the order of the labels; not dense */
	int			rank;			/* in the order of the labels, from 0 */
} EnumLabel;

typedef struct EnumLabels
{
	Oid			type;			/* the enum, no domain over it */
	MemoryContext memory;		/* of the labels */
	int			nlabels;
	EnumLabel  *labels;			/* sorted by oid; NULL until needed */
	Oid		   *by_rank;
} EnumLabels;

extern void enum_labels_init(EnumLabels *labels, Oid type, MemoryContext memory);

/*
 * The image of a label, which stays the same when other labels are added.  An error if
 * labels have been renumbered meanwhile.
 */
extern uint32 enum_label_image(EnumLabels *labels, Oid label);

/*
 * The rank of a label, and the label of a rank that has been returned.  An error if
 * labels were added in front of others since the first rank was asked for.
 */
extern int	enum_label_rank(EnumLabels *labels, Oid label);
extern Oid	enum_label_at(const EnumLabels *labels, int rank);

#endif							/* HPSORT_PG_ENUM_LABELS_H */

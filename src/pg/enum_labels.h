/*
 * enum_labels.h
 *		The labels of an enum in their order, which is not that of their OIDs.
 *
 * They are read from pg_enum when first needed, and again when a label turns up that is not among
 * them: one that was added while a query runs.  Rows that a snapshot sees have labels that were
 * there before it, but expressions return any label.  What the first labels have been given stays
 * theirs.
 */
#ifndef HPSORT_PG_ENUM_LABELS_H
#define HPSORT_PG_ENUM_LABELS_H

#include "postgres.h"

/* One label. */
typedef struct EnumLabel
{
	Oid			oid;
	float4		place;			/* as in pg_enum: ascending in the order of the labels */
	uint32		image;			/* in the order of the labels; not dense */
	int			rank;			/* how many of the first labels are in front of it */
	bool		added;			/* it is none of the first labels */
} EnumLabel;

typedef struct EnumLabels
{
	Oid			type;			/* the enum, no domain over it */
	MemoryContext memory;		/* of the labels */
	int			nlabels;
	EnumLabel  *labels;			/* sorted by oid; NULL until needed */
	int			nranks;			/* the first labels ... */
	Oid		   *by_rank;		/* ... by rank */
} EnumLabels;

extern void enum_labels_init(EnumLabels *labels, Oid type, MemoryContext memory);

/*
 * The image of a label, which stays the same when other labels are added.  An error if between two
 * labels that had become neighbours no image is left, after some twenty labels that were added,
 * and sorted, one after the other in one place.
 */
extern uint32 enum_label_image(EnumLabels *labels, Oid label);

/*
 * How many of the first labels are in front of a label.  *added tells whether it is none of them,
 * so that the first label of that rank is another one.
 */
extern int	enum_label_rank(EnumLabels *labels, Oid label, bool *added);

/* The first label of that rank. */
extern Oid	enum_label_at(const EnumLabels *labels, int rank);

#endif							/* HPSORT_PG_ENUM_LABELS_H */

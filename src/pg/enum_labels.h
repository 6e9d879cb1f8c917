/*
 * enum_labels.h
 *		The labels of an enum in their order, which is not that of their OIDs.
 *
 * Labels are read from pg_enum when they are first needed.  They are read again when a label
 * turns up that is not among them, because it was added while the query runs.  Rows that a
 * snapshot sees have labels that are older than the snapshot, but expressions return any label.
 * The first labels keep the images and ranks that they have been given.
 */
#ifndef HPSORT_PG_ENUM_LABELS_H
#define HPSORT_PG_ENUM_LABELS_H

/* One label. */
typedef struct EnumLabel
{
	Oid			oid;
	float4		place;			/* as in pg_enum: ascending in the order of the labels */
	uint32		image;			/* in the order of the labels; not dense */
	int			rank;			/* how many of the first labels are in front of it */
	bool		added;			/* it is none of the first labels */
} EnumLabel;

/* The labels of an enum. */
typedef struct EnumLabels
{
	Oid			type;			/* the enum, no domain over it */
	MemoryContext memory;		/* of the labels */
	int			nlabels;
	EnumLabel  *labels;			/* sorted by oid; NULL until needed */
	int			nranks;			/* the first labels ... */
	Oid		   *by_rank;		/* ... by rank */
} EnumLabels;

/* Makes *labels those of an enum; nothing is read yet. */
extern void enum_labels_init(EnumLabels *labels, Oid type, MemoryContext memory);

/*
 * Returns the image of a label, which stays the same when other labels are added.  An error if
 * there is no image left between two labels that have become neighbours: after some twenty
 * labels that were added, and sorted, one beside the other.
 */
extern uint32 enum_label_image(EnumLabels *labels, Oid label);

/*
 * Returns how many of the first labels are in front of a label. *added says whether the label
 * is none of the first labels, so that the first label of that rank is another one.
 */
extern int	enum_label_rank(EnumLabels *labels, Oid label, bool *added);

/* Returns the first label of that rank. */
extern Oid	enum_label_at(const EnumLabels *labels, int rank);

#endif							/* HPSORT_PG_ENUM_LABELS_H */

/*
 * cost.h
 *		What sorting by hpsort costs, in the planner's units.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_COST_H
#define HPSORT_PG_NODES_SORT_PLAN_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* What the cost of a sort depends on. */
typedef struct HpSortCostInput
{
	double		rows;
	int			width;			/* bytes of a row, as planned */
	int			nmapped;
	bool		narrow;			/* one mapped key of at most 32 bits */
	double		range;			/* values that the mapped keys can have */
	double		groups;			/* of equal ones, if keys are left to core's comparison; else 0 */
	bool		further;		/* ... by keys behind the mapped ones */
	int			nleft;			/* keys that are left, with the abbreviated one */
	bool		undivided;		/* the one mapped key is an abbreviation that says little */
	bool		strings;		/* the mapped keys end in an abbreviation of a string */
	double		alike;			/* part of the rows that are known to be equal without a
								 * comparison, as of sort_path_alike, ... */
	double		alike_groups;	/* ... and how many different values they have */
	bool		key_only;
	bool		in_place;		/* rows stay where they are; as far as the planner knows */
	double		pages;			/* of their table, if so */
	double		limit;			/* rows wanted; < 0: all */
	bool		by_group;		/* these are the first of each group */
	double		order;			/* of sort_path_input_order, of the first key */
	double		all_order;		/* the same of all keys together */
} HpSortCostInput;

/* Costs beyond the input's: until the first row, and for returning all. */
extern void sort_path_cost(const HpSortCostInput *input, Cost *startup, Cost *run);

/*
 * Whether the rows of a path are likely to stay where they are, of a table whose pages
 * may be pinned; bounded: those of a LIMIT.
 */
extern bool sort_path_may_stay(PlannerInfo *root, const Path *path, bool bounded);

/*
 * How much the rows of a path come in the order of an expression, from 0 to 1: by
 * the statistics of its column, where rows are read as they lie in the table.
 * Looked up only where the cost depends on it, if the rows are few or more than work_mem
 * holds; 0 otherwise.
 */
extern double sort_path_input_order(PlannerInfo *root, const Path *path, Node *expression);

/* The same, looked up in any case. */
extern double sort_path_correlation(PlannerInfo *root, const Path *path, Node *expression);

/*
 * Whether the abbreviations of what a sort operator sorts tell its values apart, by the
 * statistics of its column; true if there are none.  Many texts begin alike: core's sort
 * notices that while it sorts, and then compares rows faster than HpSort does.
 */
extern bool sort_path_abbreviation_divides(PlannerInfo *root, Node *expression, Oid sortop,
										   Oid collation);

/*
 * The part of the rows that are known to be equal to others, without a comparison, when all have
 * been read (store/abbreviation.h): those that are NULL, and of the most common values those whose
 * abbreviations no other of them has.  *groups is how many such values there are.
 */
extern double sort_path_alike(PlannerInfo *root, Node *expression, Oid sortop, Oid collation,
							  double *groups);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_COST_H */

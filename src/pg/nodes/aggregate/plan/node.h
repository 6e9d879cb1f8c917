/*
 * node.h
 *		Custom Scan (HpSort Aggregate): aggregates, groups and different rows of a table's
 *		columns, straight from the column reader.  What its planner half and executor half
 *		agree on.
 *
 * The node stands in the place of an Agg over a sequential scan, or of what makes the rows
 * of a SELECT DISTINCT different.  Its scan tuple (custom_scan_tlist) is the grouping columns or
 * expressions, then the aggregates, then the GROUPING()s of grouping sets, then aggregates that are
 * computed of those before (divided_sum.h); its target list and HAVING (plan.qual) are computed
 * from these, as an Agg's.  custom_exprs are the expressions of the computed ones, then parameters
 * that other nodes set.
 *
 * In a parallel plan each process returns some of the groups.  hpsort's own aggregates without
 * groups are partial there: each process returns its states, for core's Finalize Aggregate.  Groups
 * of numbers, which mean something to one process only, are partial as well: each process returns
 * what it knows of its groups.
 *
 * custom_plans are a SeqScan of each table to be read (see sources.h), then the plans of a star
 * join's lookups (star.h), whose clauses and columns are in the scan tuple behind all else, where
 * nothing is ever returned; the conditions on joined rows are last.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_NODE_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_NODE_H

#include "nodes/extensible.h"

/* The methods of the plan node: its executor half (groups_exec.c) has them. */
extern const CustomScanMethods aggregate_scan_methods;

/* The lists of custom_private. */
typedef enum GroupsPlanList
{
	GROUPS_PLAN_COLUMNS,		/* attribute numbers of the columns to read, as the query names
								 * them */
	GROUPS_PLAN_READS,			/* the ColumnRead of each of these columns */
	GROUPS_PLAN_TABLE_COLUMNS,	/* for each of custom_plans, a list of what they are there */
	GROUPS_PLAN_GROUPS,			/* for each grouping column, in the order of the groups: the
								 * ColumnRead of a column, its DerivedForm, descending, NULLs
								 * first */
	GROUPS_PLAN_FILTERS,		/* for each aggregate, the index of its filter in the target lists
								 * of custom_plans; GROUPS_NO_FILTER; or GROUPS_DERIVED_FILTER of
								 * one that has columns of lookups */
	GROUPS_PLAN_SETS,			/* of GROUPING SETS: for each set the indexes of its grouping
								 * columns; NIL: all columns are the only set */
	GROUPS_PLAN_GROUPINGS,		/* for each GROUPING(), the indexes of its columns */
	GROUPS_PLAN_PARTIAL,		/* true: in a parallel plan each process returns all groups of its
								 * share of the rows */
	GROUPS_PLAN_UNORDERED,		/* true: groups may come in any order */
	GROUPS_PLAN_LOOKUPS,		/* for each lookup of a star join: its JoinType, whether a row may
								 * have several of its rows, which one lookup may have at most,
								 * how many clauses and how many columns it has, and into how many
								 * parts its rows are divided; of each clause and column, the
								 * column of the lookup's plan, counted from 0 */
	GROUPS_PLAN_CONDITIONS,		/* how many conditions joined rows must pass */
	GROUPS_PLAN_GPU,			/* true: a GPU is expected to answer it without rows */
	GROUPS_PLAN_Count,
	GROUPS_PATH_HAVING = GROUPS_PLAN_Count, /* of the path only: the plan has it as its qual */
	GROUPS_PATH_EXPRESSIONS,	/* of the scan tuple */
	GROUPS_PATH_DIVIDED			/* expressions of the aggregates that are computed of others */
} GroupsPlanList;

/* The most combinations of parts of lookups, a power of two. */
#define GROUPS_MOST_CELLS 64

/* How many numbers GROUPS_PLAN_GROUPS has for a grouping column. */
#define GROUPS_PLAN_NUMBERS 4

/* In place of the index of a filter: there is none; or filter i of those that are derived. */
#define GROUPS_NO_FILTER (-1)
#define GROUPS_DERIVED_FILTER(i) (-2 - (i))

/* As what a column is read.  A column may be read in more than one way. */
typedef enum ColumnRead
{
	READ_VALUES,				/* the integers of its kind (column_read_kind) */
	READ_EQUAL,					/* numbers of a dictionary of equal values */
	READ_IDENTICAL,				/* numbers of a dictionary of identical values, also where equal
								 * values are identical */
	READ_PRESENCE,				/* 0 in place of any value: whether it is NULL is asked, no more */
	READ_DATUMS					/* the values themselves (datum_buffer.h), for expressions */
} ColumnRead;

/* What the values of a grouping column, or of an aggregate's argument, are. */
typedef enum DerivedForm
{
	DERIVED_NONE,				/* of a column of the table, or numbers of its values */
	DERIVED_RANKS,				/* places of a column's labels in the order of their enum */
	DERIVED_EQUAL,				/* of a column of floats: of equal ones the first that was met */
	DERIVED_VALUES,				/* of an expression whose type is read as integers */
	DERIVED_NUMBERS,			/* numbers of the values of another expression */
	DERIVED_IDENTICAL,			/* numbers of the identical values of a column that others
								 * determine */
	DERIVED_NULLS,				/* 0 for each value of an expression of any type */
	DERIVED_PLACES				/* places in a lookup of the key that columns are; NULL: none */
} DerivedForm;

/* Whether the values of a form are numbers of a dictionary. */
static inline bool
derived_form_has_numbers(DerivedForm form)
{
	return form == DERIVED_NUMBERS || form == DERIVED_IDENTICAL;
}

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_NODE_H */

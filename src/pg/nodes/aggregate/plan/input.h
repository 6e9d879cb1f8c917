/*
 * input.h
 *		The tables and columns that a HpSort Aggregate node is to read, as the
 *		planner half finds them.  (The executor half reads them in sources.c.)
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_INPUT_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_INPUT_H

#include "nodes/pathnodes.h"

#include "pg/resident/source/source.h"

/* What is read in the place of core's scans of a base relation. */
typedef struct AggregateInput
{
	RelOptInfo *rel;			/* the relation, a table or a tree of tables */
	List	   *columns;		/* attribute numbers in the relation */
	List	   *tables;			/* RelOptInfos: the relation's own, or those of the tables that
								 * inherit from it and were neither pruned nor excluded */
	List	   *table_columns;	/* for each table, a list of the columns' numbers in it */
	ResidentEstimate *residents;	/* for each table, how much of it is resident */
	List	   *filters;		/* conditions of rel's columns that the scans are to have in their
								 * target lists; NIL: their target lists do not matter */
} AggregateInput;

/*
 * Fills in *input: the tables that rel stands for, and columns in them.  Returns false if the
 * column reader cannot read one of the tables.
 *
 * paths are paths of rel that core has not freed: of rel's own list, or of the upper relation into
 * which core has put them.  columns are attribute numbers in rel, and filters conditions of its
 * columns.  jobs are by which a GPU can answer what is asked of the tables' resident columns
 * (groups_lookup.c).
 */
extern bool aggregate_input_find(AggregateInput *input, PlannerInfo *root, RelOptInfo *rel,
								 const List *paths, List *columns, List *filters,
								 const ResidentJobs *jobs);

/*
 * Gives path a scan of each table, in which the executor half finds relation and filter.  Returns
 * the cost of reading all of them; with workers (0: none), the cost for one process.  Filters of
 * the relation are evaluated for a part of the rows.
 */
extern Cost aggregate_input_scan(const AggregateInput *input, PlannerInfo *root, CustomPath *path,
								 int workers, double part);

/*
 * Returns what of the cost of one process's reading is not paid when it reads the input again at
 * once: its pages are in memory then if the tables are no larger than effective_cache_size.
 */
extern Cost aggregate_input_cached_cost(const AggregateInput *input);

/*
 * Returns the part of the input's rows that is resident, from 0 to 1.  With gpu it is the part
 * that the GPU counts where one process reads the input: these rows cost that process nothing
 * more.
 */
extern double aggregate_input_resident_part(const AggregateInput *input, bool gpu);

/* Returns the number of workers for all tables of the input, which are read like one. */
extern int	aggregate_input_workers(const AggregateInput *input, const RelOptInfo *input_rel);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_INPUT_H */

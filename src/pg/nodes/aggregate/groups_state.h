/*
 * groups_state.h
 *		HpSort Aggregate, the executor half: what its files groups_*.c share.  No other folder
 *		includes it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H

#include "commands/explain.h"
#include "nodes/execnodes.h"

#include "pg/nodes/aggregate/groups/groups.h"
#include "pg/nodes/aggregate/parallel/parallel.h"
#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/read.h"
#include "pg/nodes/aggregate/results/results.h"

/* An aggregate: a column of the scan tuple. */
typedef struct GroupsOutput
{
	const Aggref *aggref;		/* the call; part of the plan */
	AggregateAnswer answer;		/* how it is answered (aggrefs.h) */
	AggregateResult *result;	/* computes it for one group after the other */
	int			source;			/* index of the source of its values; -1: it counts all rows, or
								 * is core's */
	int			core;			/* index among the aggregates of core; -1: it is none of them */
	int			shared;			/* index of the first output that has the same state, perhaps its
								 * own */
} GroupsOutput;

/* Groups that are looked up among keys that the GPU has put in order: groups_lookup.c. */
typedef struct GroupsLookup GroupsLookup;

typedef struct GroupsDone
{
	bool		done;			/* an execution has ended; what follows is of it */
	GroupsTotals totals;		/* of all groups, also of groups that HAVING refuses */
	PairsSorted *sorted;		/* by source: how its values were put in order */
	SorterStats *stats;			/* by source; valid where sorted is PAIRS_SORTED */
} GroupsDone;

/* A star join: the lookups, whose places are the first derived columns. */
typedef struct GroupsStar
{
	int			n;				/* how many there are */
	struct StarLookupState *lookups;
	Index		fact;			/* the relation that is read; 0: there are no lookups */
	uint64		removed;		/* rows that have no place, beside those that the scan refuses */
	List	   *conditions;		/* that joined rows must pass: derived columns behind the places */
	uint64		filtered;		/* rows that do not, in the last execution */
	int			many;			/* the lookup of which a row may have several rows; -1: none */
	ColumnBatch *repeated;		/* batches that are read, in which rows are repeated by their
								 * places in that one, and these places; of an execution; NULL:
								 * none so far */
	ColumnBatch *matched;		/* rows that have places in all lookups: batches that are read,
								 * and of places; of an execution; NULL: all rows so far */
	int			ncells;			/* combinations of parts of the lookups, of which one is there */
	bool		divides;		/* rows of the cell that is there are written, too */
	RowSpill   *spill;			/* rows whose cell is not there; NULL: none so far */
	bool	   *met;			/* of a right join, while rows are read: by place, whether a row
								 * has it; else NULL */
} GroupsStar;

typedef struct GroupsDerived
{
	bool		any;			/* there are some, or what else is made from rows alone: numbers
								 * of values, states of core's functions, pairs of values */
	int			n;				/* how many there are */
	DerivedColumn **columns;	/* the batch of column d is number nread + d */
	DerivedColumn **of_groups;	/* by grouping column; NULL: it is a column of the table */
	DerivedColumn **of_sources; /* by value source; NULL: it is not derived */
	ColumnBatch *batches;		/* the batches that were read, and behind them the n derived ones;
								 * NULL unless any */
	MemoryContext memory;		/* of memos and numbers; emptied for each execution and each pass */
	RowSpill   *spill;			/* rows that columns or core refused; NULL: none so far */
	struct OutsizedSums *outsized;	/* by group; NULL: none so far */
} GroupsDerived;

/* Of a parallel plan.  In other plans shared and exchange are NULL. */
typedef struct GroupsParallel
{
	GroupsShared *shared;		/* in dynamic shared memory; NULL again when that ends */
	GroupsDescription description;	/* what groups and sources are; set in all plans */
	bool		partial;		/* there is no exchange: core puts groups together */
	GroupsExchange *exchange;	/* NULL as well where core's Finalize Aggregate gets states */
} GroupsParallel;

/* Sources whose values are numbers that become ranks when all rows are in. */
typedef struct GroupsRanks
{
	const DictionaryOrder **orders; /* by source; NULL: not needed yet, or it has no ranks */
	size_t		room;			/* of the arrays, in runs */
	int64	   *values;			/* of the runs of a group; of an execution, as counts are */
	int64	   *counts;
} GroupsRanks;

typedef struct GroupsState
{
	CustomScanState css;		/* first, because core has pointers to it */
	MemoryContext memory;		/* of one execution; its child contexts are emptied one by one */
	MemoryContext rows_memory;	/* of what is kept of its rows */
	SortContext context;		/* of results, in memory; of states, in rows_memory */
	SortContext rows_context;	/* of the aggregation, whose memory is rows_memory */
	AggregateSources sources;	/* the tables to be read */

	int			ngroups;		/* grouping columns */
	GroupColumn *groups;
	ColumnDomain *group_domains;	/* by grouping column: what its values stand for */
	int			noutputs;		/* aggregates */
	GroupsOutput *outputs;
	List	   *divided;		/* ExprStates of the aggregates that are computed of those */
	bool		states;			/* there are no groups and filters, and each aggregate is a state
								 * of its own (aggref_has_state) */
	int			nvalue_sources; /* pairs of a column and a filter that aggregates are of */
	ValueSource *value_sources;
	RowSpill  **late;			/* by value source: values that come late; NULL: none so far */
	ColumnDomain *source_domains;	/* by value source: what its values stand for */
	PairType   *source_types;	/* by value source: the type of values that have numbers */
	GroupsRanks ranks;

	int			nread;			/* batches that are read: columns, then filters, and the places of
								 * rows that are repeated (groups_star_next) */
	ColumnImage *images;		/* by column that is read: its dictionary; NULL if none has one */
	bool		first_equal;	/* of equal values, the first one that is read is shown */
	GroupsDerived derived;
	MemoryBudget budget;		/* of an execution */
	size_t		lent;			/* bytes of the aggregation's share that late takers have */
	GroupsStar	star;
	bool		unordered;		/* groups may come in any order */
	RowSpill   *spill;			/* rows whose groups the aggregation refused, with the numbers
								 * that dictionaries have given; NULL: none so far */
	CoreAggregates *core;		/* aggregates that are not known; NULL: none */
	GroupsParallel parallel;

	GroupingSets *sets;			/* NULL: all grouping columns are the only set */
	int			set;			/* the set for which rows are read; -1: for all sets */
	const List *groupings;		/* for each GROUPING() in the scan tuple, the columns' indexes */
	GroupsLookup *lookup;		/* NULL: the groups cannot be looked up */
	bool		prepared;		/* the results' direct arguments have been evaluated */

	bool		started;		/* all rows have been read */
	bool		ended;			/* no more groups are returned */
	Aggregation *aggregation;	/* what this process has read; NULL if it is not needed */
	GroupReader *reader;		/* of what is returned; NULL: another process has it all */
	SourceCounts *counts;		/* by source, of the group being returned */
	GroupsDone	done;
} GroupsState;

/* --- groups_memory.c */

/*
 * Whether rows may be refused because there is no memory for their groups: whatever comes of a
 * refused row comes of a later pass, after all other groups.
 */
extern bool groups_may_be_refused(const GroupsState *node);

/* Divides the memory of an execution, whose parts are known. */
extern void groups_memory_begin(GroupsState *node);

/* Returns the bytes that the aggregation may hold now. */
extern size_t groups_memory_of_rows(const GroupsState *node);

/*
 * Takes a share from the aggregation, or gives it back: between batches.  The aggregation may write
 * what it has too much of.
 */
extern void groups_memory_lend(GroupsState *node, size_t share);
extern void groups_memory_return(GroupsState *node, size_t share);

/*
 * Notes for EXPLAIN what is held now, if it is more than before.  rows is what rows_memory has had,
 * if that was more.
 */
extern void groups_memory_note(GroupsState *node, size_t rows);

/* --- groups_results.c */

/*
 * Evaluates the direct arguments of the results, once in an execution.  Called only if there is a
 * group: an error in them is none where there is no group.
 */
extern void groups_prepare_results(GroupsState *node);

/* Begins an execution or a pass, in which dictionaries are filled anew: nothing is in order yet. */
extern void groups_forget_ranks(GroupsState *node);

/*
 * Has a source keep values in place of numbers, because there is no memory for more numbers: in the
 * memory of derived columns, between batches.
 */
extern void groups_keep_values(GroupsState *node, int source);

/*
 * Puts the values and aggregates of a group of node->reader into the scan tuple, which must be
 * empty; rows is how many rows the group has.  Datums are in the current memory context, or belong
 * to the node and are valid until the next group.
 */
extern void groups_fill_slot(GroupsState *node, const GroupValues *group, int64 rows,
							 TupleTableSlot *slot);

/* Initializes the aggregates that are computed of others. */
extern void groups_begin_divided(GroupsState *node);

/* Puts their values into the scan tuple, which has all others. */
extern void groups_fill_divided(GroupsState *node, TupleTableSlot *slot);

/*
 * Writes the different positions that the aggregates of a source want among a group's values,
 * ascending, to wanted, and returns how many there are, at most groups_most_positions(); with
 * extremes also those of the smallest and the largest value, at most two more.
 */
extern uint32 groups_list_positions(const GroupsState *node, int source, int64 values,
									int64 nulls, bool extremes, int64 *wanted);
extern size_t groups_most_positions(const GroupsState *node, int source);

/* --- groups_star.c */

/* Initializes the plans of a star join's lookups, if there are any, and describes these. */
extern void groups_star_begin(GroupsState *node, int eflags);

/* Returns the expressions of columns of the fact whose values are looked up in lookup l. */
extern List *groups_star_keys(const GroupsState *node, int l);

extern const Lookup *groups_star_lookup(const GroupsState *node, int l);

/*
 * Notes the columns that are the key of lookup l, integers that the scan may test.  They outlive
 * the node's executions.
 */
extern void groups_star_note_keys(GroupsState *node, int l, const RowInput *keys);

/* Completes *input for a column of a lookup, and returns true; false if the column is read. */
extern bool groups_star_input(const GroupsState *node, const Var *column, RowInput *input);

/* Reads the lookups whose rows are not there, or may have changed. */
extern void groups_star_read(GroupsState *node);

/* Drops shared lookups that may change, in the leader before workers are started again. */
extern void groups_star_reinitialize(GroupsState *node, dsa_area *area);

/* Forgets the rows of shared lookups before these end. */
extern void groups_star_detach(GroupsState *node);

/* Whether no row of the fact can be a row of the join, so that the fact need not be read. */
extern bool groups_star_is_empty(const GroupsState *node);

/* Returns the bytes of the lookups' rows. */
extern size_t groups_star_memory(const GroupsState *node);

/* How far groups_star_next has come with rows that were read; zeros at first. */
typedef struct StarPosition
{
	const ColumnBatch *places;	/* in the lookup of which a row may have several rows */
	RepeatPosition lookup;
} StarPosition;

/*
 * Of a node of which a lookup may have several rows for one that is read (star.many): returns the
 * next of these rows, each as often as it has rows there, with a batch of its places behind what is
 * read; valid until the next call.  NULL if there are no more.
 */
extern const ColumnBatch *groups_star_next(GroupsState *node, const ColumnBatch *batches,
										   StarPosition *position);

/*
 * Puts the rows of batches, which have been read, that are joined with rows of all lookups, and the
 * batches of places, into node->derived.batches.  Of the first of these functions they may be of
 * another cell: groups_star_cell returns it of row i, and -1 of rows that are joined for certain,
 * which have a cell as well while star.divides is set.  groups_star_filter leaves those that pass
 * conditions on joined rows.
 */
extern void groups_star_match(GroupsState *node, const ColumnBatch *batches);
extern int	groups_star_cell(const GroupsState *node, size_t i);
extern void groups_star_filter(GroupsState *node);

/* Leaves these of the rows that groups_star_match has left. */
extern void groups_star_keep_rows(GroupsState *node, const uint16 *rows, size_t nrows);

/*
 * Returns the index of the batch of the only column of the fact by which lookup l has its places,
 * if it does not repeat rows or need all of them, and is not divided; else -1.
 */
extern int	groups_star_key(const GroupsState *node, int l);

/*
 * Puts batches, as groups_star_make_batches has made them in the current memory context, and the
 * places of their rows in the lookups that have this column as their key, into
 * node->derived.batches.  Sets joined, of each row, to whether it is joined as far as these say.
 */
extern ColumnBatch *groups_star_make_batches(const GroupsState *node);
extern void groups_star_place(GroupsState *node, int column, const ColumnBatch *batches,
							  uint8 *joined);

/*
 * Called before rows are read, and when all have been: calls consume for rows of a right join's
 * lookup that no row has.
 */
extern void groups_star_begin_rows(GroupsState *node);
extern void groups_star_end_rows(GroupsState *node, ColumnConsume consume);

/*
 * Has the lookups have the rows of a cell: of one part each of those that do not fit into memory.
 * What has been computed of the parts before is forgotten.
 */
extern void groups_star_load(GroupsState *node, int cell);

/* Gives back what an execution has beside the lookups. */
extern void groups_star_free(GroupsState *node);

extern void groups_star_rescan(GroupsState *node);
extern void groups_star_end(GroupsState *node);
extern void groups_star_explain(const GroupsState *node, List *context, ExplainState *es);

/* --- groups_lookup.c */

/*
 * Makes a look-up for a node whose groups, outputs and tables have been described, in the current
 * memory context.  Returns NULL if the node wants more than positions and keys: rows, or all runs
 * of values.
 */
extern GroupsLookup *groups_lookup_make(GroupsState *node);

/*
 * Begins an execution.  Returns the handler that the scan calls with its resident rows; it is the
 * look-up's.
 */
extern ResidentRowsHandler *groups_lookup_begin(GroupsLookup *lookup);

/* Forgets what an execution has found, and gives its memory back. */
extern void groups_lookup_free(GroupsLookup *lookup);

/* Notes rows that have been read from pages, if the scan leaves resident rows to the handler. */
extern void groups_lookup_note(GroupsLookup *lookup, const ColumnBatch *batches);

/* Returns the groups, in front of the first one; NULL if not all have been found. */
extern GroupReader *groups_lookup_open(GroupsLookup *lookup);

/* --- groups_read.c */

/* Makes what rows are read into; the node has been described, and its memory made. */
extern void groups_read_begin(GroupsState *node, int eflags, int nfilters);

/* Reads all rows, or this process's share of them; then node->reader is before its first group. */
extern void groups_read_start(GroupsState *node);

/*
 * Reads a part of the rows that have been refused, or all rows for the next grouping set that is
 * read by itself, in place of the rows before, so that node->reader is in front of the first of
 * their groups.  Returns false if no rows are left.
 */
extern bool groups_read_refused(GroupsState *node);

/* Whether rows are read by a grouping column now: a set that is read by itself may not have it. */
static inline bool
groups_read_by(const GroupsState *node, int g)
{
	return node->set < 0 || grouping_sets_has(node->sets, node->set, g);
}

/* Gives back what an execution holds: rows, files and results. */
extern void groups_read_free(GroupsState *node);

/* --- groups_late.c */

/*
 * Of a batch that is about to be added, in which values have no number: has each source that wants
 * them keep values in place of numbers, or leave them out, to be added late.
 */
extern void groups_refuse_values(GroupsState *node, const ColumnBatch *batches);

/* Empties dictionaries whose values are all kept themselves, between batches. */
extern void groups_give_up_dictionaries(GroupsState *node);

/* Adds values that have been left out, when all rows of an execution or a pass have been added. */
extern void groups_add_late(GroupsState *node);

/* Forgets values that have been left out, and closes their files. */
extern void groups_free_late(GroupsState *node);

/* --- groups_outsized.c */

typedef struct OutsizedSums OutsizedSums;

/* Adds the outsized values of a batch that has been added to the aggregation. */
extern void groups_add_outsized(GroupsState *node, const ColumnBatch *batches);

/* Completes the summaries of a group, whose counts have been set, with sums of outsized values. */
extern void groups_find_outsized(GroupsState *node, const GroupValues *group);

/* --- groups_explain.c */

extern void groups_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_STATE_H */

/*
 * groups_query.h
 *		What a query asks of the groups or the different rows of a relation, as far as HpSort
 *		Aggregate answers it.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_QUERY_H
#define HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_QUERY_H

#include "nodes/pathnodes.h"

#include "pg/nodes/aggregate/plan/aggrefs.h"
#include "pg/nodes/aggregate/plan/node.h"

/* A grouping column or expression, as the query has it. */
typedef struct QueryGroup
{
	Expr	   *output;			/* as the target has it: PG 18 marks columns of grouping sets */
	Expr	   *expression;		/* of columns of the relation */
	Index		ref;			/* the number of its SortGroupClause */
	List	   *columns;		/* Vars that the expression is of */
	ColumnRead	read;			/* as what it is read, if it is a column */
	DerivedForm form;			/* what its values become */
	Oid			type;			/* by whose default operator class it is grouped */
	bool		determined;		/* a column of which a group has one value: it divides none */
	bool		descending;		/* in the order of the groups */
	bool		nulls_first;	/* in that order, too */
	bool		placed;			/* the order that is wanted has it */
} QueryGroup;

/*
 * What is joined to the relation: another one, or several that are joined with each other (star.h).
 */
typedef struct StarLookup
{
	Path	   *path;			/* reads its rows */
	Path	   *safe_path;		/* reads them in a parallel plan; NULL: none may */
	JoinType	jointype;		/* inner: a row without match is none of the join; left, semi (one
								 * match of several is enough), anti (no match), or right: rows of
								 * the lookup that no row has are rows of the join */
	bool		many;			/* a row may have several, which are all wanted */
	int			nparts;			/* into which its rows are divided, since they do not fit into
								 * memory; star_fits sets it */
	List	   *clauses;		/* OpExprs: an expression of columns that are read = a column of
								 * path's target */
	bool		integers;		/* keys are found as integers */
	double		bytes;			/* that all its rows are likely to take; star_fits sets it */
	List	   *key_columns;	/* of each clause, the index of the latter in the target */
	List	   *conditions;		/* RestrictInfos of what else joins it to the relation, or to
								 * lookups before it */
} StarLookup;

/* Whether the values of a group are numbers. */
static inline bool
query_group_has_numbers(const QueryGroup *group)
{
	return derived_form_has_numbers(group->form) ||
		(group->form == DERIVED_NONE && group->read != READ_VALUES);
}

/* What the query asks of the relation. */
typedef struct GroupsQuery
{
	PlannerInfo *root;
	Index		rti;			/* the relation that is read */
	List	   *lookups;		/* StarLookups */
	List	   *conditions;		/* all of theirs, in the order in which they are evaluated */
	double		matched;		/* rows of the join for each row read */
	bool		repeated;		/* a row may have several rows in one of these */
	List	   *looked_up_columns;	/* Vars of these, each once */
	int			ngroups;		/* grouping columns and expressions */
	QueryGroup *groups;
	List	   *aggregates;		/* Aggrefs, different ones */
	List	   *answers;		/* the AggregateAnswer of each */
	List	   *arguments;		/* these, and behind each its with */
	List	   *divided;		/* Aggrefs that are computed of these, different ones ... */
	List	   *divided_exprs;	/* ... and the expression of each (divided_sum.h) */
	List	   *aggregate_filters;	/* for each, the number of its filter (node.h) */
	List	   *filters;		/* different filters of columns that are read */
	List	   *derived_filters;	/* different other filters: of looked-up columns, too, or that
									 * may fail where rows are refused later */
	List	   *columns;		/* attribute numbers of all columns to be read ... */
	List	   *reads;			/* ... and the ColumnRead of each */
	bool		value_numbers;	/* values of aggregates are numbers */
	int			ncore;			/* aggregates of AGGREGATE_FUNCTION_CORE */
	int			nruns;			/* sources whose values are wanted in order */
	int			nsummaries;		/* sources whose values are added up */
	List	   *sets;			/* of GROUPING SETS, the largest first: the groups of each, as
								 * indexes; else NIL */
	List	   *grouping_calls; /* GroupingFuncs, different ones */
	List	   *groupings;		/* of each, the groups, as indexes */
	List	   *pathkeys;		/* the order in which groups come */
	const ResidentJobs *jobs;	/* by which the GPU may answer it without rows; else NULL */
	bool		partial;		/* a process returns all groups of its share of the rows */
	bool		states;			/* all of it can be answered from states (aggref_has_state) */
	bool		needs_states;	/* some of it is not answered in another way */
} GroupsQuery;

/*
 * Notes what target and HAVING ask of the groups (UPPERREL_GROUP_AGG) or of the different rows
 * (UPPERREL_DISTINCT) of relation query->rti and its lookups.  *query must be zeros but for these,
 * root, and states, which must be true.  Returns false if the node does not answer all of it.
 */
extern bool groups_query_note(UpperRelationKind stage, PathTarget *target, Node *having,
							  GroupsQuery *query);

/* Whether a column is read in this way. */
extern bool groups_query_reads(const GroupsQuery *query, const Var *column, ColumnRead read);

/*
 * Whether expressions are of groups and aggregates alone: of what core expects of a partial
 * aggregation columns are left where one grouping expression is selected twice.
 */
extern bool groups_query_computes(const GroupsQuery *query, List *expressions);

/*
 * Whether processes that share the rows cannot exchange groups: the first of equal floats, and sums
 * of floats in the order of the rows are different in each, and states of core's functions are not
 * exchanged.
 */
extern bool groups_query_is_serial(const GroupsQuery *query);

/*
 * Whether rows are read for each grouping set: there are totals of floats, which depend on the
 * order of the rows, or states of core's functions.
 */
extern bool groups_query_reads_each_set(const GroupsQuery *query);

/*
 * Whether the values of an aggregate are wanted in order: for itself or, with grouping sets,
 * because its moments are made of values.
 */
extern bool groups_query_wants_runs(const GroupsQuery *query, const AggregateAnswer *answer);

/* Whether groups must come in the order of the pathkeys, because something may rely on it. */
extern bool groups_query_wants_order(const GroupsQuery *query);

#endif							/* HPSORT_PG_NODES_AGGREGATE_PLAN_GROUPS_QUERY_H */

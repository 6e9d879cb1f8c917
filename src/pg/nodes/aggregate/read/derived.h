/*
 * derived.h
 *		DerivedColumn: a batch computed from those of other columns.
 *
 * It is an expression of columns, such as date_trunc('day', ts), or the place of an
 * enum's label in the order of the enum.  What a value of a single column becomes is kept in a
 * memo, so that the expression is evaluated once for each different value, or block of values
 * (values/expression_blocks.h), not for each row, as long as the memo has room for them and finds
 * most of them.  An expression of several columns is evaluated for each row.  Errors are those of
 * the expression, raised when a row has the value.
 *
 * A column of floats is derived from itself: where values are groups, those that are equal (0 and
 * -0, all NaNs) must be one integer.  It is that of the first one met.
 *
 * What the batch holds depends on the column's DerivedForm: a label's rank, the expression's own
 * value, whether it is NULL, or a number of it, where equal values have one number.  Ranks mean
 * something to this column in this process only (derived_serialize), and so do numbers, unless
 * processes give them together (dictionary_share).
 *
 * Numbers are given while there is memory for their values.  Other values have negative numbers,
 * as those of a column of the table (values/dictionary.h).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_H
#define HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_H

#include "nodes/execnodes.h"

#include "pg/nodes/aggregate/plan/plan.h"
#include "pg/nodes/aggregate/read/computed.h"
#include "pg/nodes/aggregate/read/row_expression.h"
#include "pg/values/values.h"

typedef struct DerivedColumn DerivedColumn;

/*
 * Makes the description of a column that is derived from the columns of expression, the inputs, in
 * the current memory context, for a node.  form is not DERIVED_NONE; dictionaries of inputs are of
 * identical values.  filter is the index of a batch: where that is NULL the expression, which may
 * fail, is not evaluated, and the row is NULL; or it is -1.  The arguments must outlive the column.
 */
extern DerivedColumn *derived_make(PlanState *parent, Expr *expression, DerivedForm form,
								   int ninputs, const RowInput *inputs, int filter);

/*
 * Makes the description of a column of DERIVED_PLACES: of the rows' keys in a lookup, which are
 * expressions of inputs.  Inputs of the columns of a lookup refer to its batch.
 */
extern DerivedColumn *derived_make_places(PlanState *parent, const Lookup *lookup, List *keys,
										  int ninputs, const RowInput *inputs);

/*
 * Whether a column is that of an expression in a form, at least for the rows that pass a filter.
 */
extern bool derived_is(const DerivedColumn *derived, const Expr *expression, DerivedForm form,
					   int filter);

/* Returns the index of the batch from which a column of DERIVED_RANKS is derived. */
extern int	derived_base(const DerivedColumn *derived);

/* Whether it is computed from a batch. */
extern bool derived_has_base(const DerivedColumn *derived, int batch);

/* Returns what it is computed from, and sets *n to how many inputs these are. */
extern const RowInput *derived_inputs(const DerivedColumn *derived, int *n);

/*
 * Whether it is of the places of keys that are its inputs, and integers, which the lookup finds for
 * all rows of a batch.
 */
extern bool derived_finds_integers(const DerivedColumn *derived);

/* Whether results of the expression are remembered. */
extern bool derived_has_memo(const DerivedColumn *derived);

/* Whether it is a column of numbers. */
extern bool derived_has_numbers(const DerivedColumn *derived);

/*
 * Returns what the batch holds: values of the expression's kind, ranks of labels or numbers.  It is
 * the column's; what it points to is of the execution.
 */
extern const ColumnDomain *derived_domain(const DerivedColumn *derived);

/*
 * Begins an execution, whose memory is the current memory context: memo and numbers of
 * an earlier one, which are gone with its memory, are forgotten.  The limits are bytes, of
 * the memo and of the values that have numbers.
 */
extern void derived_begin(DerivedColumn *derived, size_t memo_limit, size_t numbers_limit);

/*
 * Forgets what has been computed of keys of a lookup, or of its places: it is to have other rows.
 */
extern void derived_forget_places(DerivedColumn *derived, const Lookup *lookup);

/*
 * Computes the batch, which is valid until the next call, from the batches of the scan, and of
 * places.  Raises the errors of the expression.
 */
extern const ColumnBatch *derived_batch(DerivedColumn *derived, const ColumnBatch *batches);

/* Called where the dictionary of a column of numbers has been given up. */
extern void derived_forget(DerivedColumn *derived);

/* Does what computed_outsized does, for a column of any expression. */
extern int	derived_outsized(const DerivedColumn *derived, const OutsizedValue **values);

/*
 * Returns what a value of a batch is in every process, an enum's label for its rank;
 * derived_deserialize turns it back.  Processes give numbers together.
 */
extern int64 derived_serialize(const DerivedColumn *derived, int64 value);
extern int64 derived_deserialize(DerivedColumn *derived, int64 serialized);

#endif							/* HPSORT_PG_NODES_AGGREGATE_READ_DERIVED_H */

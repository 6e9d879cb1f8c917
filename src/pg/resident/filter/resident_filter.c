/*
 * resident_filter.c
 *		The filters of a scan, evaluated on resident extents (see resident_filter.h).
 *
 * A filter is conditions of columns, ANDed.  Each marks the rows that it accepts; values are
 * unpacked only of rows that have all marks, and not even looked at where an extent's bounds say
 * enough.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/resident/filter/resident_filter.h"
#include "pg/values/values.h"
#include "sort/kernels/kernels.h"

/* The conditions of a filter. */
typedef struct FilterColumns
{
	int			ncolumns;		/* with a condition */
	int			nown;			/* of these, the filter's own; others are of the scan's further
								 * conditions */
	ColumnFilter *columns;
	ExtentMatch match;			/* rows of the extent begun */
} FilterColumns;

struct ResidentFilter
{
	BatchPages *pages;			/* of rows, if the scan wants TIDs; else NULL */
	ColumnCutoff *cutoff;		/* as in ColumnScan */
	ColumnFilter cutoff_column; /* the first one; its set is the cutoff's */
	LongRange	cutoff_range;
	DistanceRange cutoff_distance;
	int			nreturned;		/* columns that the scan wants */
	int			nattnums;		/* these and others */
	AttrNumber *attnums;
	const SourceColumn **read;	/* by the number of the column read */
	bool		lost;			/* values of a dictionary have been given up */
	FilterColumns qual;
	int			nfilters;
	FilterColumns *filters;		/* besides the qual */

	/* of the rows that are being added */
	uint8		accepted[COLUMN_BATCH_KEYS];	/* marks: by the qual and the cutoff */
	uint8		marks[COLUMN_BATCH_KEYS];	/* marks: by one condition */
};

/* --- values that have numbers */

/* Values between looks for interrupts. */
#define VALUES_AT_ONCE 1024

/* The mark of a value that has not been evaluated. */
#define UNKNOWN 2

/*
 * Which values of a resident column of numbers (column_dictionary.h) a condition accepts, each
 * evaluated once.  Values are numbered as they were met, so that those of the extents read so far
 * are the first ones, unless other conditions have refused extents.
 */
typedef struct ValueMembers
{
	MemoryContext memory;
	const FilterCondition *condition;
	uint64		generation;		/* of the values */
	uint8	   *marks;
	Size		room;			/* in marks */
	uint32		nknown;			/* the first ones, all of which are known */
} ValueMembers;

/* Makes them for a condition of texts or values, which must live as long. */
static ValueMembers *
make_members(const FilterCondition *condition)
{
	ValueMembers *members = palloc0_object(ValueMembers);

	members->memory = CurrentMemoryContext;
	members->condition = condition;
	return members;
}

/* Whether a value is accepted. */
static bool
is_accepted(const FilterCondition *condition, Datum value)
{
	return condition->texts ? text_condition_test(condition->texts, DatumGetPointer(value)) :
		value_condition_accepts(condition->values, value, false);
}

/* Has all marks be unknown where the values are others, and has room for all of them. */
static void
review_marks(ValueMembers *members, const ColumnDictionary *dictionary)
{
	Size		size = column_dictionary_size(dictionary);
	uint64		generation = column_dictionary_generation(dictionary);
	Size		kept = members->generation == generation ? members->room : 0;

	members->generation = generation;
	if (size > members->room)
	{
		members->room = Max(size, 2 * members->room);
		members->marks = members->marks ? repalloc_huge(members->marks, members->room) :
			MemoryContextAllocHuge(members->memory, members->room);
	}
	if (kept == 0)
		members->nknown = 0;
	memset(members->marks + kept, UNKNOWN, members->room - kept);
}

/*
 * Returns marks by number: of first .. last, which the dictionary knows, 1 if the value is
 * accepted, else 0.  Valid until the next call.  Returns NULL if the values have been given up.
 */
static const uint8 *
look_at_members(ValueMembers *members, ColumnDictionary *dictionary, uint32 first, uint32 last)
{
	bool		all;			/* up to last */
	uint8	   *mark;

	review_marks(members, dictionary);
	/* Unknown values before these are evaluated, too, if they are fewer. */
	all = first <= members->nknown || first - members->nknown <= last - first;
	if (all)
		first = members->nknown;
	while (first <= last &&
		   (mark = memchr(members->marks + first, UNKNOWN, (Size) last - first + 1)) != NULL)
	{
		Datum		value;

		first = (uint32) (mark - members->marks);
		if (first % VALUES_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		if (!column_dictionary_value(dictionary, first, &value))
			return NULL;
		*mark = is_accepted(members->condition, value);
	}
	if (all)
		members->nknown = Max(members->nknown, last + 1);
	return members->marks;
}

/* --- making one */

/* Returns the number of a column among the columns read, to which it is added if it is new. */
static int
find_filter_column(ResidentFilter *filter, AttrNumber attnum)
{
	for (int c = 0; c < filter->nattnums; c++)
		if (filter->attnums[c] == attnum)
			return c;
	filter->attnums = repalloc(filter->attnums, (filter->nattnums + 1) * sizeof(AttrNumber));
	filter->attnums[filter->nattnums] = attnum;
	return filter->nattnums++;
}

/*
 * Makes the conditions of one expression of the scan, or none, and further ones; their columns
 * become columns that are read.  Returns false if not all of the expression is conditions that can
 * be evaluated here.
 */
static bool
make_filter(ResidentFilter *filter, const ExprState *expression, const List *further,
			const ColumnScan *scan, FilterColumns *columns)
{
	List	   *conditions = NIL;

	if (expression && !filter_conditions_find(expression, scan->econtext, &conditions))
		return false;
	columns->nown = list_length(conditions);
	conditions = list_concat(conditions, further);
	columns->columns = palloc0_array(ColumnFilter, Max(list_length(conditions), 1));
	foreach_ptr(const FilterCondition, condition, conditions)
	{
		ColumnFilter *column = &columns->columns[columns->ncolumns++];

		column->column = find_filter_column(filter, condition->attnum);
		column->nulls = condition->nulls;
		if (condition->texts || condition->values)
			column->members = make_members(condition);
		column->values.keys = condition->keys;
		column->values.bias = column_kind_bias(condition->kind);
		column->values.excluded = condition->excluded;
		column->values.ranges = filter_condition_ranges(condition, &column->values.nranges);
		column->values.distances = palloc_array(DistanceRange, Max(condition->nranges, 1));
		if (column->values.nranges > EXTENT_FILTER_FEW)
			column->values.table = palloc_array(uint64, EXTENT_FILTER_TABLE_WORDS);
	}
	return true;
}

ResidentFilter *
resident_filter_make(const ColumnScan *scan, BatchPages *pages)
{
	ResidentFilter *filter = palloc_object(ResidentFilter);

	memset(filter, 0, offsetof(ResidentFilter, accepted));
	filter->pages = scan->tids ? pages : NULL;
	filter->cutoff = scan->cutoff;
	filter->cutoff_column.nulls = true;
	filter->cutoff_column.values.ranges = &filter->cutoff_range;
	filter->cutoff_column.values.nranges = 1;
	filter->cutoff_column.values.distances = &filter->cutoff_distance;
	filter->nreturned = filter->nattnums = scan->ncolumns;
	filter->attnums = palloc_array(AttrNumber, Max(scan->ncolumns, 1));
	memcpy(filter->attnums, scan->attnums, scan->ncolumns * sizeof(AttrNumber));
	filter->nfilters = scan->nfilters;
	filter->filters = palloc0_array(FilterColumns, Max(scan->nfilters, 1));
	if (!make_filter(filter, scan->qual, scan->conditions, scan, &filter->qual))
		return NULL;
	for (int f = 0; f < scan->nfilters; f++)
		if (!make_filter(filter, scan->filters[f], NIL, scan, &filter->filters[f]))
			return NULL;
	/* Where no column is wanted, an extent of any one says how many rows there are. */
	if (filter->nattnums == 0)
		find_filter_column(filter, residency_most_rows(scan->rel));
	filter->read = palloc0_array(const SourceColumn *, filter->nattnums);
	return filter;
}

int
resident_filter_columns(const ResidentFilter *filter, const AttrNumber **attnums)
{
	*attnums = filter->attnums;
	return filter->nattnums;
}

void
resident_filter_read(ResidentFilter *filter, int c, const SourceColumn *column)
{
	filter->read[c] = column;
}

const ColumnFilter *
resident_filter_condition(const ResidentFilter *filter, int f, int c)
{
	const FilterColumns *columns;

	if (filter == NULL)
		return NULL;
	columns = f < 0 ? &filter->qual : &filter->filters[f];
	for (int i = 0; i < columns->ncolumns; i++)
		if (columns->columns[i].column == c)
			return &columns->columns[i];
	return NULL;
}

/* Whether two conditions, of which each may be NULL, accept the same values. */
static bool
is_same_condition(const ColumnFilter *a, const ColumnFilter *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->nulls == b->nulls && a->members == NULL && b->members == NULL &&
		a->values.keys == NULL && b->values.keys == NULL && a->values.bias == b->values.bias &&
		a->values.nranges == b->values.nranges &&
		memcmp(a->values.ranges, b->values.ranges, a->values.nranges * sizeof(LongRange)) == 0;
}

bool
resident_filter_is_same(const ResidentFilter *a, const ResidentFilter *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->nattnums != b->nattnums || a->nfilters != b->nfilters)
		return false;
	for (int f = -1; f < a->nfilters; f++)
		for (int c = 0; c < a->nattnums; c++)
			if (!is_same_condition(resident_filter_condition(a, f, c),
								   resident_filter_condition(b, f, c)))
				return false;
	return true;
}

/* Takes the bits of the first n numbers whose values a condition refuses out of words. */
static void
clear_refused(const uint8 *marks, uint32 n, uint32 *words)
{
	for (uint32 i = 0; i < n; i++)
		words[i / 32] &= ~((uint32) !marks[i] << i % 32);
}

bool
resident_filter_numbers(ResidentFilter *filter, int f, int c, uint32 n, uint32 *words,
						size_t nwords, bool *nulls)
{
	FilterColumns *columns = f < 0 ? &filter->qual : &filter->filters[f];
	const uint8 *marks;

	memset(words, 0, nwords * sizeof(uint32));
	for (int i = 0; i < (int) n; i++)
		words[i / 32] |= UINT32_C(1) << i % 32;
	*nulls = true;
	for (int i = 0; i < columns->ncolumns; i++)
	{
		ColumnFilter *column = &columns->columns[i];

		if (column->column != c)
			continue;
		*nulls &= column->nulls;
		if (column->members == NULL && column->values.nranges == 0)
			memset(words, 0, nwords * sizeof(uint32));
		if (column->members == NULL || n == 0)
			continue;
		marks = look_at_members(column->members, filter->read[c]->dictionary, 0, n - 1);
		if (marks == NULL)
			return false;
		clear_refused(marks, n, words);
	}
	return true;
}

/* --- an extent */

/*
 * Prepares a column's condition for the extent begun: which of its values are accepted, as far as
 * bounds say.  Returns which of its rows are, NULLs among them.
 */
static ExtentMatch
begin_column(ResidentFilter *filter, ColumnFilter *column)
{
	const SourceColumn *read = filter->read[column->column];
	const Extent *extent = &read->reader.header.extent;

	column->values.members = NULL;
	if (column->members && extent->nnulls < extent->nrows)
	{
		column->values.members = look_at_members(column->members, read->dictionary,
												 (uint32) extent->base,
												 (uint32) (extent->base + extent->top));
		filter->lost |= column->values.members == NULL;
	}
	column->values_match = column->members && column->values.members == NULL ? EXTENT_NONE :
		extent_filter_begin(&column->values, extent);
	if (extent->nnulls == 0)
		return column->values_match;
	if (column->values_match == EXTENT_ALL && column->nulls)
		return EXTENT_ALL;
	if (column->values_match == EXTENT_NONE && !column->nulls)
		return EXTENT_NONE;
	return EXTENT_SOME;
}

/*
 * Prepares all conditions of a filter: those of numbered values, which are evaluated value by
 * value, last, and only unless one of the filter's own refuses all rows.  Returns which rows of the
 * extent the filter accepts: as conditions are ANDed, no more than the condition that accepts least
 * (EXTENT_NONE < EXTENT_SOME < EXTENT_ALL).
 */
static ExtentMatch
begin_filter(ResidentFilter *filter, FilterColumns *columns)
{
	ExtentMatch own = EXTENT_ALL;

	columns->match = EXTENT_ALL;
	for (int c = 0; c < 2 * columns->ncolumns; c++)
	{
		ColumnFilter *column = &columns->columns[c % columns->ncolumns];

		if ((c >= columns->ncolumns) != (column->members != NULL))
			continue;
		column->match = column->members && own == EXTENT_NONE ? EXTENT_NONE :
			begin_column(filter, column);
		columns->match = Min(columns->match, column->match);
		if (c % columns->ncolumns < columns->nown)
			own = Min(own, column->match);
	}
	return columns->match;
}

bool
resident_filter_begin(ResidentFilter *filter, ExtentMatch *match)
{
	filter->lost = false;
	for (int f = 0; f < filter->nfilters; f++)
		begin_filter(filter, &filter->filters[f]);
	*match = begin_filter(filter, &filter->qual);
	return !filter->lost;
}

bool
resident_filter_is_unmatched(const ResidentFilter *filter)
{
	for (int c = 0; c < filter->qual.nown; c++)
		if (filter->qual.columns[c].match == EXTENT_NONE)
			return false;
	return true;
}

bool
resident_filter_only_cuts(const ResidentFilter *filter)
{
	return filter->qual.ncolumns == 0;
}

/* --- rows */

/*
 * Sets a mark, 1 or else 0, for each row of blocks from .. to - 1: whether a column's condition
 * accepts it.
 */
static void
mark_column(ResidentFilter *filter, const ColumnFilter *column, int from, int to, uint8 *marks)
{
	const ExtentReader *reader = &filter->read[column->column]->reader;
	PackedKeys	values = extent_reader_values(reader, from, to);

	if (column->values_match == EXTENT_SOME)
		extent_filter_mark(&column->values, &values, marks);
	else
		memset(marks, column->values_match == EXTENT_ALL, values.n);
	extent_reader_mark_nulls(reader, from, to, column->nulls, marks);
}

/*
 * Marks the rows that a filter accepts, of n rows in blocks from .. to - 1, and returns how many.
 * Sets *matched to how many rows its own conditions accept.  The filter has matched EXTENT_SOME, so
 * that at least one condition is evaluated here.
 */
static size_t
mark_rows(ResidentFilter *filter, const FilterColumns *columns, int from, int to, size_t n,
		  uint8 *accepted, size_t *matched)
{
	bool		first = true;

	*matched = n;
	for (int c = 0; c < columns->ncolumns; c++)
	{
		if (c == columns->nown && !first)
			*matched = kernel_count_marks(accepted, n);
		/* Bounds have said so already. */
		if (columns->columns[c].match == EXTENT_ALL)
			continue;
		mark_column(filter, &columns->columns[c], from, to, first ? accepted : filter->marks);
		if (!first)
			for (size_t i = 0; i < n; i++)
				accepted[i] &= filter->marks[i];
		first = false;
	}
	n = kernel_count_marks(accepted, n);
	if (columns->nown == columns->ncolumns)
		*matched = n;
	return n;
}

/*
 * Takes the rows beyond the cutoff out of the rows that the qual accepts: out of all n rows, or, if
 * naccepted is less, out of the rows marked in filter->accepted.  Counts them as skipped.  Returns
 * how many rows are left; if they are fewer than n, they are the ones marked.
 */
static size_t
cut_off(ResidentFilter *filter, int from, int to, size_t n, size_t naccepted)
{
	ColumnCutoff *cutoff = filter->cutoff;
	ColumnFilter *column = &filter->cutoff_column;
	size_t		kept = 0;

	/* The cutoff moves while the scan goes on, so that its range is made anew each time. */
	filter->cutoff_range = (LongRange)
	{
		cutoff->lo, cutoff->hi
	};
	column->match = begin_column(filter, column);
	/* NULLs are wanted in any case, so that some may match without any value that does. */
	if (column->match == EXTENT_ALL)
		return naccepted;
	if (column->match == EXTENT_SOME)
	{
		mark_column(filter, column, from, to, filter->marks);
		if (naccepted == n)
			memcpy(filter->accepted, filter->marks, n);
		else
			for (size_t i = 0; i < n; i++)
				filter->accepted[i] &= filter->marks[i];
		kept = kernel_count_marks(filter->accepted, n);
	}
	cutoff->skipped += naccepted - kept;
	return kept;
}

/*
 * Appends to the batch of a filter whether it is true of each accepted row: a row that it refuses
 * is NULL there, as the executor's evaluation has it (evaluate_filters in reader.c).  accepted has
 * a mark of each of the n rows, naccepted of which are 1; it is NULL if all rows are accepted.
 */
static void
add_filter(ResidentFilter *filter, const FilterColumns *columns, int from, int to, size_t n,
		   size_t naccepted, const uint8 *accepted, ColumnBatch *batch)
{
	uint8	   *refused = column_batch_space(batch, naccepted).nulls;
	size_t		nrefused = 0;
	size_t		nmatched;
	uint8		own[COLUMN_BATCH_KEYS];
	size_t		kept = 0;

	if (columns->match != EXTENT_SOME)
	{
		memset(refused, columns->match == EXTENT_NONE, naccepted);
		column_batch_add(batch, naccepted, columns->match == EXTENT_NONE ? naccepted : 0);
		return;
	}
	mark_rows(filter, columns, from, to, n, own, &nmatched);
	for (size_t i = 0; i < n; i++)
	{
		if (accepted && !accepted[i])
			continue;
		refused[kept] = 1 ^ own[i];
		nrefused += refused[kept++];
	}
	column_batch_add(batch, naccepted, nrefused);
}

size_t
resident_filter_add(ResidentFilter *filter, BlockNumber first, int from, int to,
					ColumnBatch *batches, size_t *matched)
{
	size_t		n = extent_reader_rows(&filter->read[0]->reader, from, to);
	size_t		naccepted = n;
	size_t		nadded;
	const uint8 *accepted = NULL;

	Assert(n <= COLUMN_BATCH_KEYS && filter->qual.match != EXTENT_NONE);
	*matched = n;
	if (filter->qual.match == EXTENT_SOME)
		naccepted = mark_rows(filter, &filter->qual, from, to, n, filter->accepted, matched);
	nadded = naccepted;
	if (naccepted > 0 && filter->cutoff)
		nadded = cut_off(filter, from, to, n, naccepted);
	if (nadded == 0)
		return naccepted;
	if (nadded < n)
		accepted = filter->accepted;
	for (int i = 0; i < filter->nreturned; i++)
		extent_reader_add(&filter->read[i]->reader, from, to, accepted, &batches[i]);
	for (int i = 0; i < filter->nfilters; i++)
		add_filter(filter, &filter->filters[i], from, to, n, nadded, accepted,
				   &batches[filter->nreturned + i]);
	if (filter->pages)
		extent_reader_add_tids(&filter->read[0]->reader, first, from, to, accepted,
							   &batches[filter->nreturned + filter->nfilters], filter->pages);
	else if (filter->nreturned + filter->nfilters == 0)
		column_batch_add(&batches[0], nadded, 0);
	return naccepted;
}

/*
 * percentiles.c
 *		percentile_disc and percentile_cont (see percentiles.h).
 *
 * A fraction asks for one row of the group, or for two neighbours between which it interpolates.
 * The rows of all fractions are sorted by their number, so that one walk over the ascending runs
 * finds their values.  In descending order a row is counted from the other end.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/fraction.h"
#include "pg/nodes/aggregate/results/percentiles.h"

/* A row that is looked for, and its value once it is found. */
typedef struct WantedRow
{
	int64		row;			/* from 0, ascending */
	int64		value;
} WantedRow;

typedef struct Fraction
{
	double		fraction;		/* of an execution */
	WantedRow	rows[2];		/* of a group; the second row only where it is another one */
	double		proportion;		/* how far the value is from the first row to the second; 0: it is
								 * the first's */
} Fraction;

struct Percentiles
{
	AggregateAnswer answer;		/* how the call is answered */
	bool		continuous;		/* percentile_cont */
	bool		array;			/* of fractions, hence of results */
	Oid			type;			/* of a result, or of the elements */
	int16		typlen;			/* of that type, as typbyval and typalign are */
	bool		typbyval;
	char		typalign;

	/* of an execution */
	ArrayType  *shape;			/* the array of fractions; NULL: not an array, or NULL */
	int			nfractions;		/* 0: the fraction is NULL, or the array has none */
	Fraction   *fractions;
	bool	   *nulls;			/* by fraction; NULL: not an array */

	/* of a group */
	int64		n;				/* values of the group */
	int			nwanted;		/* rows that are wanted of the group */
	WantedRow **order;			/* these rows, ascending; with room for two rows of each fraction */
	int			found;			/* of order, the first ones have their values */
	int64		seen;			/* rows of the runs taken, or skipped */
};

Percentiles *
percentiles_make(const Aggref *aggref, const AggregateAnswer *answer)
{
	Percentiles *percentiles = palloc0_object(Percentiles);

	percentiles->answer = *answer;
	percentiles->continuous = answer->function == AGGREGATE_FUNCTION_PERCENTILE_CONT ||
		answer->function == AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY;
	percentiles->array = answer->function == AGGREGATE_FUNCTION_PERCENTILE_DISC_ARRAY ||
		answer->function == AGGREGATE_FUNCTION_PERCENTILE_CONT_ARRAY;
	percentiles->type = percentiles->array ? get_element_type(aggref->aggtype) : aggref->aggtype;
	get_typlenbyvalalign(percentiles->type, &percentiles->typlen, &percentiles->typbyval,
						 &percentiles->typalign);
	return percentiles;
}

void
percentiles_prepare(Percentiles *percentiles, Datum fractions, bool isnull, MemoryContext memory)
{
	MemoryContext old = MemoryContextSwitchTo(memory);
	Datum	   *elements = &fractions;

	percentiles->shape = NULL;
	percentiles->nfractions = isnull ? 0 : 1;
	percentiles->nulls = NULL;
	if (percentiles->array && !isnull)
	{
		percentiles->shape = DatumGetArrayTypePCopy(fractions);
		deconstruct_array(percentiles->shape, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						  TYPALIGN_DOUBLE, &elements, &percentiles->nulls,
						  &percentiles->nfractions);
	}
	percentiles->fractions = palloc0_array(Fraction, percentiles->nfractions + 1);
	percentiles->order = palloc_array(WantedRow *, 2 * percentiles->nfractions + 1);
	for (int i = 0; i < percentiles->nfractions; i++)
		if (percentiles->nulls == NULL || !percentiles->nulls[i])
			percentiles->fractions[i].fraction = DatumGetFloat8(elements[i]);
	MemoryContextSwitchTo(old);
}

/* --- the rows looked for */

static int
compare_rows(const void *a, const void *b)
{
	int64		row_a = (*(WantedRow *const *) a)->row;
	int64		row_b = (*(WantedRow *const *) b)->row;

	return (row_a > row_b) - (row_a < row_b);
}

/* Has the value of a row looked for, whose number is in the order of the call. */
static void
want_row(Percentiles *percentiles, WantedRow *wanted, int64 row)
{
	wanted->row = percentiles->answer.descending ? percentiles->n - 1 - row : row;
	percentiles->order[percentiles->nwanted++] = wanted;
}

/* Has the rows looked for that a fraction asks for in a group of n values, n > 0. */
static void
want_fraction(Percentiles *percentiles, Fraction *fraction)
{
	if (percentiles->continuous)
	{
		int64		first;
		int64		second;

		fraction->proportion = fraction_rows(fraction->fraction, percentiles->n, &first,
											 &second);
		want_row(percentiles, &fraction->rows[0], first);
		if (second != first)
			want_row(percentiles, &fraction->rows[1], second);
	}
	else
		want_row(percentiles, &fraction->rows[0],
				 fraction_row(fraction->fraction, percentiles->n));
}

void
percentiles_begin(Percentiles *percentiles, int64 n)
{
	percentiles->n = n;
	percentiles->nwanted = 0;
	percentiles->found = 0;
	percentiles->seen = 0;
	/* One fraction is checked even if there are no values, fractions of an array are not. */
	if (percentiles->array && n == 0)
		return;
	for (int i = 0; i < percentiles->nfractions; i++)
	{
		if (percentiles->nulls && percentiles->nulls[i])
			continue;
		fraction_check(percentiles->fractions[i].fraction);
		if (n > 0)
			want_fraction(percentiles, &percentiles->fractions[i]);
	}
	if (percentiles->nwanted > 1)
		qsort(percentiles->order, percentiles->nwanted, sizeof(WantedRow *), compare_rows);
}

void
percentiles_take(Percentiles *percentiles, const ColumnDomain *domain, const int64 *values,
				 const int64 *counts, size_t nruns)
{
	int64		seen = percentiles->seen;

	for (size_t i = 0; i < nruns && percentiles->found < percentiles->nwanted; i++)
	{
		seen += counts[i];
		while (percentiles->found < percentiles->nwanted &&
			   percentiles->order[percentiles->found]->row < seen)
			percentiles->order[percentiles->found++]->value = column_domain_keep(domain, values[i]);
	}
	percentiles->seen = seen;
}

bool
percentiles_want_rows(const Percentiles *percentiles, int64 *first, int64 *last)
{
	if (percentiles->nwanted == 0)
		return false;
	*first = Min(*first, percentiles->order[0]->row);
	*last = Max(*last, percentiles->order[percentiles->nwanted - 1]->row);
	return true;
}

int
percentiles_most_rows(const Percentiles *percentiles)
{
	return 2 * percentiles->nfractions;
}

int
percentiles_list_rows(const Percentiles *percentiles, int64 *rows)
{
	for (int i = 0; i < percentiles->nwanted; i++)
		rows[i] = percentiles->order[i]->row;
	return percentiles->nwanted;
}

void
percentiles_skip(Percentiles *percentiles, int64 rows)
{
	percentiles->seen += rows;
}

/* --- the results */

/* Returns a time, in microseconds, as an interval, of which core has percentile_cont. */
static Datum
interval_of(int64 value)
{
	return DirectFunctionCall1(time_interval, TimeADTGetDatum(value));
}

/* Returns the value of a fraction whose rows have been found. */
static Datum
fraction_value(const Percentiles *percentiles, const ColumnDomain *domain,
			   const Fraction *fraction)
{
	const WantedRow *rows = fraction->rows;
	double		proportion = fraction->proportion;

	if (!percentiles->continuous)
		return column_domain_datum(domain, rows[0].value);
	if (percentiles->answer.to_float8)
	{
		int64		second = rows[proportion == 0 ? 0 : 1].value;

		return Float8GetDatum(fraction_between(column_domain_float8(domain, rows[0].value),
											   column_domain_float8(domain, second),
											   proportion));
	}
	else
	{
		Datum		first = interval_of(rows[0].value);
		Datum		part;

		if (proportion == 0)
			return first;
		part = DirectFunctionCall2(interval_mul,
								   DirectFunctionCall2(interval_mi, interval_of(rows[1].value),
													   first),
								   Float8GetDatum(proportion));
		return DirectFunctionCall2(interval_pl, part, first);
	}
}

Datum
percentiles_end(Percentiles *percentiles, const ColumnDomain *domain, bool *isnull)
{
	Datum	   *results;

	*isnull = percentiles->n == 0 ||
		(percentiles->array ? percentiles->shape == NULL : percentiles->nfractions == 0);
	if (*isnull)
		return (Datum) 0;
	if (percentiles->found < percentiles->nwanted)
		elog(ERROR, "runs of a group have fewer rows than the group");
	if (!percentiles->array)
		return fraction_value(percentiles, domain, &percentiles->fractions[0]);
	if (percentiles->nfractions == 0)
		return PointerGetDatum(construct_empty_array(percentiles->type));

	results = palloc_array(Datum, percentiles->nfractions);
	for (int i = 0; i < percentiles->nfractions; i++)
		results[i] = percentiles->nulls[i] ? (Datum) 0 :
			fraction_value(percentiles, domain, &percentiles->fractions[i]);
	/* The array has the shape of that of the fractions. */
	return PointerGetDatum(construct_md_array(results, percentiles->nulls,
											  ARR_NDIM(percentiles->shape),
											  ARR_DIMS(percentiles->shape),
											  ARR_LBOUND(percentiles->shape),
											  percentiles->type, percentiles->typlen,
											  percentiles->typbyval, percentiles->typalign));
}

/*
 * value_list.c
 *		array_agg and string_agg of values that no integer holds (see value_list.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pg/nodes/aggregate/results/value_list.h"

/* Runs that there is room for at first. */
#define FIRST_RUNS 64

void
value_list_begin(ValueList *list, int64 nulls, Datum delimiter, bool no_delimiter)
{
	list->nulls = list->answer.distinct ? Min(nulls, 1) : nulls;
	list->total = 0;
	list->n = 0;
	list->room = 0;
	list->values = NULL;
	list->counts = NULL;
	list->between = NULL;
	if (list->answer.function == AGGREGATE_FUNCTION_STRING_AGG && !no_delimiter)
		list->between = PG_DETOAST_DATUM_PACKED(delimiter);
	list->string.data = NULL;
}

static void *
enlarge(void *array, size_t room)
{
	return array ? repalloc_huge(array, room * sizeof(int64)) : palloc_array(int64, room);
}

/* Appends a value to the string, count times. */
static void
append(ValueList *list, Datum datum, int64 count)
{
	const struct varlena *between = list->between;
	struct varlena *value = PG_DETOAST_DATUM_PACKED(datum);

	for (; count > 0; count--)
	{
		if (list->string.data == NULL)
			initStringInfo(&list->string);
		else if (between)
			appendBinaryStringInfo(&list->string, VARDATA_ANY(between),
								   VARSIZE_ANY_EXHDR(between));
		appendBinaryStringInfo(&list->string, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	}
	if (value != (struct varlena *) DatumGetPointer(datum))
		pfree(value);
}

void
value_list_take(ValueList *list, const ColumnDomain *domain, const int64 *values,
				const int64 *counts, size_t nruns)
{
	bool		append_now = list->answer.function == AGGREGATE_FUNCTION_STRING_AGG &&
	!list->answer.descending;

	if (!append_now && list->n + nruns > list->room)
	{
		list->room = Max(Max(2 * list->room, list->n + nruns), FIRST_RUNS);
		list->values = enlarge(list->values, list->room);
		list->counts = enlarge(list->counts, list->room);
	}
	for (size_t i = 0; i < nruns; i++)
	{
		int64		count = list->answer.distinct ? 1 : counts[i];

		list->total += count;
		if (append_now)
		{
			append(list, column_domain_datum(domain, values[i]), count);
			continue;
		}
		list->values[list->n] = column_domain_datum(domain, column_domain_keep(domain, values[i]));
		list->counts[list->n++] = count;
	}
}

/* Returns which run comes at a place in the order of the call. */
static size_t
run_at(const ValueList *list, size_t place)
{
	return list->answer.descending ? list->n - 1 - place : place;
}

Datum
value_list_array(const ValueList *list, Oid type, bool *isnull)
{
	int64		items = list->total + list->nulls;
	bool		as_listed = items == (int64) list->n && !list->answer.descending;
	Datum	   *elements = list->values;
	bool	   *nulls = NULL;
	int			dimension = (int) items;
	int			lower_bound = 1;
	int64		at;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	*isnull = items == 0;
	if (*isnull)
		return (Datum) 0;
	if (items > (int64) MaxArraySize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("array size exceeds the maximum allowed (%d)", (int) MaxArraySize)));
	if (!as_listed)
	{
		elements = palloc_extended(items * sizeof(Datum), MCXT_ALLOC_HUGE);
		nulls = palloc_extended(items * sizeof(bool), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	}
	at = list->answer.nulls_first ? list->nulls : 0;
	for (size_t i = 0; i < list->n && !as_listed; i++)
	{
		size_t		run = run_at(list, i);

		for (int64 k = 0; k < list->counts[run]; k++)
			elements[at++] = list->values[run];
		CHECK_FOR_INTERRUPTS();
	}
	for (int64 k = 0; k < list->nulls; k++)
		nulls[list->answer.nulls_first ? k : at + k] = true;
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return PointerGetDatum(construct_md_array(elements, nulls, 1, &dimension, &lower_bound, type,
											  typlen, typbyval, typalign));
}

Datum
value_list_string(ValueList *list, bool *isnull)
{
	*isnull = list->total == 0;
	if (*isnull)
		return (Datum) 0;
	for (size_t i = 0; i < list->n; i++)
	{
		size_t		run = run_at(list, i);

		append(list, list->values[run], list->counts[run]);
		CHECK_FOR_INTERRUPTS();
	}
	/* A text and a bytea are both a header and bytes. */
	return PointerGetDatum(cstring_to_text_with_len(list->string.data, list->string.len));
}

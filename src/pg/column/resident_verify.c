/*
 * resident_verify.c
 *		Resident columns against the table's pages (see resident_verify.h).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/column/resident_verify.h"
#include "pg/sort_context.h"

/* Whether the elements of batch behind those that before has are those of page. */
static bool
is_same(const ColumnBatch *batch, const ColumnBatch *before, const ColumnBatch *page)
{
	size_t		first = before->n;
	size_t		n = page->n;

	if (batch->n - first != n || batch->nnulls - before->nnulls != page->nnulls)
		return false;
	if (batch->nulls && memcmp(batch->nulls + first, page->nulls, n) != 0)
		return false;
	if (batch->wide)
		return memcmp(batch->wide + first, page->wide, n * sizeof(int64)) == 0;
	return batch->keys == NULL || memcmp(batch->keys + first, page->keys, n * sizeof(int32)) == 0;
}

void
resident_verify_block(Relation rel, const RowLayout *layout, int nbatches, BlockNumber block,
					  const ColumnBatch *batches, const ColumnBatch *before, const ColumnBatch *page)
{
	int			b;
	int			c;

	for (c = 0; c < layout->ncolumns; c++)
	{
		const RowColumn *column = &layout->columns[c];

		b = column->batch;
		if (!is_same(&batches[b], &before[b], &page[b]))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("resident column %d of relation \"%s\" differs from block %u of the table",
							column->attnum, RelationGetRelationName(rel), block)));
	}
	for (b = layout->ncolumns; b < nbatches; b++)
		if (!is_same(&batches[b], &before[b], &page[b]))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("rows by resident columns of relation \"%s\" differ from those of block %u of the table",
							RelationGetRelationName(rel), block)));
}

/* Adds a page's values, which are those of a single column. */
static void
add_page(Sorter *sorter, const ColumnBatch *page, bool wide)
{
	size_t		i;
	SortError	err;

	for (i = 0; i < page->n; i++)
	{
		int32		key = wide ? (int32) page->wide[i] : page->keys[i];

		if (!page->nulls[i])
			pg_sort_check(sorter_add(sorter, &key, 1, &err), &err);
	}
}

/* Whether a sorter's runs are these. */
static bool
has_runs(Sorter *sorter, const Runs *runs)
{
	SorterCursor cursor;
	SortError	err;
	int32		keys[256];
	uint64		counts[256];
	size_t		seen = 0;
	size_t		got;

	pg_sort_check(sorter_finish(sorter, SORT_WANT_RUNS, &err), &err);
	pg_sort_check(sorter_open_cursor(sorter, false, &cursor, &err), &err);
	do
	{
		pg_sort_check(sorter_cursor_runs(&cursor, keys, counts, lengthof(keys), &got, &err), &err);
		if (seen + got > runs->len || memcmp(keys, runs->keys + seen, got * sizeof(int32)) != 0 ||
			memcmp(counts, runs->counts + seen, got * sizeof(uint64)) != 0)
			return false;
		seen += got;
	} while (got == lengthof(keys));
	return seen == runs->len;
}

void
resident_verify_runs(Relation rel, const RowLayout *layout, const ColumnBatch *page, const Runs *runs,
					 ResidentVerifyNext next, void *arg)
{
	SortContext context;
	Sorter		sorter;

	pg_sort_context_lenient(&context, CurrentMemoryContext, false);
	sorter_init(&sorter, &context, PG_INT32_MIN, PG_INT32_MAX);
	while (next(arg))
	{
		CHECK_FOR_INTERRUPTS();
		add_page(&sorter, page, layout->columns[0].wide);
	}
	if (!has_runs(&sorter, runs))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("resident column %d of relation \"%s\", as the GPU has counted it, differs from the table",
						layout->columns[0].attnum, RelationGetRelationName(rel))));
	sorter_reset(&sorter);
}

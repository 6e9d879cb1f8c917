/*
 * batch.c
 *		Batches of rows (see batch.h), which are written here and through column_batch_space only.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/sort_context.h"
#include "pg/values/batch.h"
#include "sort/kernels/kernels.h"

void
column_batch_make(ColumnBatch *batch, int arrays, size_t room)
{
	memset(batch, 0, sizeof(*batch));
	batch->room = room;
	if (arrays & BATCH_KEYS)
		batch->keys = MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(int32));
	if (arrays & BATCH_WIDE)
		batch->wide = MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(int64));
	if (arrays & BATCH_NULLS)
		batch->nulls = MemoryContextAllocHuge(CurrentMemoryContext, room);
}

void
column_batch_enlarge(ColumnBatch *batch, size_t room)
{
	BatchSpace	rows = column_batch_arrays(batch, 0);

	Assert(room > batch->room);
	if (rows.keys)
		batch->keys = repalloc_huge(rows.keys, room * sizeof(int32));
	if (rows.wide)
		batch->wide = repalloc_huge(rows.wide, room * sizeof(int64));
	if (rows.nulls)
		batch->nulls = repalloc_huge(rows.nulls, room);
	batch->room = room;
}

void
column_batch_free(ColumnBatch *batch)
{
	BatchSpace	rows = column_batch_arrays(batch, 0);

	if (rows.keys)
		pfree(rows.keys);
	if (rows.wide)
		pfree(rows.wide);
	if (rows.nulls)
		pfree(rows.nulls);
	memset(batch, 0, sizeof(*batch));
}

/* A defect of whoever appends, caught before it overwrites what is behind the arrays. */
void
column_batch_overflow(const ColumnBatch *batch, size_t n)
{
	elog(ERROR, "batch of %zu rows with room for %zu cannot take %zu more", batch->n, batch->room,
		 n);
}

void
column_batch_clear(ColumnBatch *batch)
{
	column_batch_empty(batch);
	/* Pages and extents without NULLs do not write there. */
	if (batch->nulls)
		memset(column_batch_arrays(batch, 0).nulls, 0, batch->room);
}

void
column_batch_take_back(ColumnBatch *batch, const ColumnBatch *before)
{
	*batch = *before;
	if (batch->nulls)
		memset(column_batch_arrays(batch, batch->n).nulls, 0, batch->room - batch->n);
}

size_t
column_batch_repeat(ColumnBatch *batch, int64 value, bool isnull, uint64 n)
{
	size_t		added = (size_t) Min(n, (uint64) (batch->room - batch->n));
	BatchSpace	space = column_batch_space(batch, added);

	if (space.wide)
		for (size_t i = 0; i < added; i++)
			space.wide[i] = value;
	else if (space.keys)
		for (size_t i = 0; i < added; i++)
			space.keys[i] = (int32) value;
	if (space.nulls)
		memset(space.nulls, isnull, added);
	column_batch_add(batch, added, isnull ? added : 0);
	return added;
}

bool
column_batch_append_narrow(ColumnBatch *batch, const ColumnBatch *rows, int64 origin)
{
	BatchSpace	space = column_batch_space(batch, rows->n);

	if (rows->keys)
		memcpy(space.keys, rows->keys, rows->n * sizeof(int32));
	else if (rows->wide)
		for (size_t i = 0; i < rows->n; i++)
		{
			int64		value = (int64) ((uint64) rows->wide[i] - (uint64) origin);

			if (rows->nulls[i])
				value = 0;
			if (value != (int32) value)
				return false;
			space.keys[i] = (int32) value;
		}
	memcpy(space.nulls, rows->nulls, rows->n);
	column_batch_add(batch, rows->n, (size_t) rows->nnulls);
	return true;
}

void
column_batch_append_wide(ColumnBatch *batch, const ColumnBatch *rows)
{
	BatchSpace	space = column_batch_space(batch, rows->n);

	if (rows->wide)
		memcpy(space.wide, rows->wide, rows->n * sizeof(int64));
	else
		for (size_t i = 0; i < rows->n; i++)
			space.wide[i] = rows->keys[i];
	memcpy(space.nulls, rows->nulls, rows->n);
	column_batch_add(batch, rows->n, (size_t) rows->nnulls);
}

/*
 * Copies the values of rows.  NEIGHBOURS that follow each other are copied at once: nearly all
 * rows, where few are left out.  repeated is as column_batch_gather has it.
 */
#define NEIGHBOURS 32
#define GATHER(to, from) \
	do { \
		for (size_t i = 0; i < n;) \
		{ \
			bool		near = !repeated && i + NEIGHBOURS <= n && \
				rows[i + NEIGHBOURS - 1] - rows[i] == NEIGHBOURS - 1; \
			\
			if (near) \
				memmove(&(to)[i], &(from)[rows[i]], NEIGHBOURS * sizeof((to)[0])); \
			else \
				(to)[i] = (from)[rows[i]]; \
			i += near ? NEIGHBOURS : 1; \
		} \
	} while (0)

void
column_batch_gather(ColumnBatch *batch, const ColumnBatch *from, const uint16 *rows, size_t n,
					bool repeated)
{
	ColumnBatch source = *from;
	BatchSpace	space;
	size_t		nnulls = 0;

	column_batch_empty(batch);
	space = column_batch_space(batch, n);
	if (source.keys)
		GATHER(space.keys, source.keys);
	else if (source.wide)
		GATHER(space.wide, source.wide);
	if (source.nnulls > 0)
	{
		GATHER(space.nulls, source.nulls);
		nnulls = kernel_count_marks(space.nulls, n);
	}
	else
		memset(space.nulls, 0, n);
	column_batch_add(batch, n, nnulls);
}

void
column_batch_append_packed(ColumnBatch *batch, const PackedKeys *values, void *memory, size_t bytes)
{
	size_t		at = batch->packed.n * values->width;
	size_t		size = values->n * values->width;

	Assert(batch->packed.n == batch->n);
	if (at > bytes || size > bytes - at)
		column_batch_overflow(batch, values->n);
	memcpy((char *) memory + at, values->values, size);
	batch->n += values->n;
	batch->packed = *values;
	batch->packed.values = memory;
	batch->packed.n = batch->n;
}

void
batch_space_unpack(const BatchSpace *space, const PackedKeys *values)
{
	if (space->keys)
		packed_keys_unpack(values, space->keys);
	else
		packed_keys_unpack_wide(values, space->wide);
}

/* Appends packed values from *at on, as many as there is room for. */
static void
append_unpacked(ColumnBatch *rows, const PackedKeys *values, size_t *at)
{
	PackedKeys	packed = *values;
	BatchSpace	space;

	packed.values = (const char *) packed.values + *at * packed.width;
	packed.n = Min(packed.n - *at, rows->room);
	space = column_batch_space(rows, packed.n);
	batch_space_unpack(&space, &packed);
	column_batch_add(rows, packed.n, 0);
	*at += packed.n;
}

bool
column_batch_next_rows(const ColumnBatch *batch, BatchPosition *position, ColumnBatch *rows)
{
	const Runs *runs = batch->runs;

	*rows = *batch;
	column_batch_empty(rows);
	if (runs == NULL && position->at < batch->packed.n)
		append_unpacked(rows, &batch->packed, &position->at);
	while (runs && position->at < runs->len && rows->n < rows->room)
	{
		uint64		left = runs->counts[position->at] - position->used;
		size_t		n = column_batch_repeat(rows, runs->keys[position->at], false, left);

		position->used += n;
		if (n == left)
		{
			position->at++;
			position->used = 0;
		}
	}
	return rows->n > 0;
}

size_t
column_batch_copy_keys(const ColumnBatch *batch, int32 *out)
{
	size_t		n = 0;

	for (size_t i = 0; i < batch->n; i++)
	{
		out[n] = batch->keys[i];
		n += batch->nulls[i] == 0;
	}
	return n;
}

void
column_batch_sort(const ColumnBatch *batch, const int32 *keys, size_t n, Sorter *sorter)
{
	const Runs *runs = batch->runs;
	SortStatus	status;
	SortError	err;

	if (runs)
		status = sorter_add_runs(sorter, runs->keys, runs->counts, runs->len, &err);
	else if (batch->packed.n > 0)
		status = sorter_add_packed(sorter, &batch->packed, &err);
	else
		status = sorter_add(sorter, keys, n, &err);
	pg_sort_check(status, &err);
}

ColumnBatch
column_batch_of_runs(const ColumnBatch *batch, size_t *at)
{
	const Runs *runs = batch->runs;
	ColumnBatch part = *batch;
	size_t		n = Min(runs->len - *at, batch->room);
	BatchSpace	space;

	column_batch_empty(&part);
	space = column_batch_space(&part, n);
	if (space.keys)
		memcpy(space.keys, runs->keys + *at, n * sizeof(int32));
	else
		for (size_t i = 0; i < n; i++)
			space.wide[i] = runs->keys[*at + i];
	column_batch_add(&part, n, 0);
	*at += n;
	return part;
}

void
batch_pages_make(BatchPages *pages, size_t room)
{
	pages->n = 0;
	pages->room = (int) room;
	pages->pages = palloc_array(PageBuffer, room);
}

void
batch_pages_add(BatchPages *pages, BlockNumber block, Buffer buffer)
{
	if (pages->n == pages->room)
		elog(ERROR, "batch has room for %d pages only", pages->room);
	pages->pages[pages->n++] = (PageBuffer)
	{
		block, buffer
	};
}

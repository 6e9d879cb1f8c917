/*
 * key_runs.c
 *		One key column without rows, as runs (see key_runs.h).
 */
#include "postgres.h"

#include "pg/nodes/sort/exec/key_runs.h"
#include "pg/sort_context.h"

void
key_runs_init(KeyRuns *runs, KeyColumn *key, const SortContext *context, MemoryContext memory,
			  Size limit)
{
	memset(runs, 0, sizeof(*runs));
	runs->key = key;
	runs->limit = limit;
	runs->has_bias = !column_kind_is_wide(key->kind);
	runs->bias = KEY_RUNS_MIDDLE;
	runs->batch = (int32 *) MemoryContextAlloc(memory, KEY_RUNS_BATCH * sizeof(int32));
	sorter_init(&runs->sorter, context, PG_INT32_MIN, PG_INT32_MAX);
}

void
key_runs_set_bias(KeyRuns *runs, uint64 image)
{
	/* Not so near the ends that distances would wrap around. */
	runs->bias = Min(Max(image, KEY_RUNS_MIDDLE), PG_UINT64_MAX - KEY_RUNS_MIDDLE);
	runs->has_bias = true;
}

/* Returns whether the sorter takes no more memory than it may. */
static bool
is_within_limit(const KeyRuns *runs)
{
	return sorter_memory(&runs->sorter) <= runs->limit;
}

bool
key_runs_make_room(KeyRuns *runs)
{
	SortError	err;

	pg_sort_check(sorter_flush(&runs->sorter, &err), &err);
	return is_within_limit(runs);
}

bool
key_runs_add(KeyRuns *runs, const ColumnBatch *batch)
{
	runs->nulls += batch->nnulls;
	column_batch_sort(batch, batch->keys, batch->n - batch->nnulls, &runs->sorter);
	return is_within_limit(runs);
}

void
key_runs_finish(KeyRuns *runs)
{
	SortError	err;

	pg_sort_check(sorter_finish(&runs->sorter, SORT_WANT_KEYS, &err), &err);
	key_runs_rewind(runs);
}

void
key_runs_rewind(KeyRuns *runs)
{
	SortError	err;

	pg_sort_check(sorter_open_cursor(&runs->sorter, false, &runs->cursor, &err), &err);
	runs->at = runs->got = 0;
	runs->nulls_left = runs->nulls;
}

size_t
key_runs_fetch(KeyRuns *runs)
{
	SortError	err;

	pg_sort_check(sorter_cursor_keys(&runs->cursor, runs->batch, KEY_RUNS_BATCH, &runs->got, &err),
				  &err);
	runs->at = 0;
	return runs->got;
}

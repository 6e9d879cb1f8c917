/*
 * groups_shared.c
 *		The shared memory of a parallel HpSort Aggregate: made by the leader, found by workers, and
 *		the totals that EXPLAIN shows (see groups_shared.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/parallel/groups_shared.h"

/* Returns the bytes in front of the lookups. */
static Size
written_size(int nprocesses)
{
	return MAXALIGN(add_size(offsetof(GroupsShared, written),
							 mul_size(nprocesses, sizeof(SharedWritten))));
}

/* Returns the bytes in front of the dictionaries. */
static Size
lookups_end(int nprocesses, int nlookups)
{
	return add_size(written_size(nprocesses), mul_size(nlookups, sizeof(SharedLookup)));
}

Size
groups_shared_size(int nworkers, int nlookups, int ndictionaries)
{
	return add_size(lookups_end(nworkers + 1, nlookups),
					mul_size(ndictionaries, sizeof(SharedDictionary)));
}

SharedDictionary *
groups_shared_dictionaries(GroupsShared *shared)
{
	return (SharedDictionary *) ((char *) shared +
								 lookups_end(shared->nprocesses, shared->nlookups));
}

static SharedLookup *
get_lookup(GroupsShared *shared, int l)
{
	return (SharedLookup *) ((char *) shared + written_size(shared->nprocesses)) + l;
}

/* Begins an execution: no process has read or written anything. */
static void
start_phases(GroupsShared *shared)
{
	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->nreaders, 0);
	pg_atomic_init_u32(&shared->next_part, 0);
	shared->give_up = false;
	pg_atomic_init_flag(&shared->read_alone);
	memset(&shared->totals, 0, sizeof(shared->totals));
	memset(shared->written, 0, shared->nprocesses * sizeof(SharedWritten));
}

void
groups_shared_init(GroupsShared *shared, ParallelContext *pcxt, int nlookups, int ndictionaries)
{
	shared->nprocesses = pcxt->nworkers + 1;
	shared->nlookups = nlookups;
	shared->ndictionaries = ndictionaries;
	for (int l = 0; l < nlookups; l++)
	{
		SharedLookup *lookup = get_lookup(shared, l);

		*lookup = (SharedLookup)
		{
			.block = InvalidDsaPointer
		};
		pg_atomic_init_u32(&lookup->state, SHARED_LOOKUP_WANTED);
		ConditionVariableInit(&lookup->made);
	}
	for (int d = 0; d < ndictionaries; d++)
		shared_dictionary_init(&groups_shared_dictionaries(shared)[d]);
	shared->segment = dsm_segment_handle(pcxt->seg);
	SharedFileSetInit(&shared->files, pcxt->seg);
	SpinLockInit(&shared->mutex);
	start_phases(shared);
}

/* The workers of the execution before have ended: nobody reads what was written. */
void
groups_shared_reset(GroupsShared *shared, dsa_area *area)
{
	for (int p = 0; p < shared->nprocesses; p++)
		block_store_free_shared(area, shared->written[p].blocks);
	for (int d = 0; d < shared->ndictionaries; d++)
		shared_dictionary_reset(&groups_shared_dictionaries(shared)[d], area);
	SharedFileSetDeleteAll(&shared->files);
	start_phases(shared);
}

void
groups_shared_attach(GroupsShared *shared)
{
	dsm_segment *segment = dsm_find_mapping(shared->segment);

	if (segment == NULL)
		elog(ERROR, "a parallel worker has not got its leader's shared memory");
	SharedFileSetAttach(&shared->files, segment);
}

/* --- lookups */

bool
groups_shared_claim_lookup(GroupsShared *shared, int l)
{
	uint32		wanted = SHARED_LOOKUP_WANTED;

	return pg_atomic_compare_exchange_u32(&get_lookup(shared, l)->state, &wanted,
										  SHARED_LOOKUP_CLAIMED);
}

void
groups_shared_put_lookup(GroupsShared *shared, int l, dsa_pointer block, int64 rows, int64 keys)
{
	SharedLookup *lookup = get_lookup(shared, l);

	lookup->block = block;
	lookup->rows = rows;
	lookup->keys = keys;
	pg_write_barrier();
	pg_atomic_write_u32(&lookup->state, SHARED_LOOKUP_MADE);
	ConditionVariableBroadcast(&lookup->made);
}

dsa_pointer
groups_shared_get_lookup(GroupsShared *shared, int l)
{
	SharedLookup *lookup = get_lookup(shared, l);

	while (pg_atomic_read_u32(&lookup->state) != SHARED_LOOKUP_MADE)
		ConditionVariableSleep(&lookup->made, WaitEventExtensionNew("HpSortAggregate"));
	ConditionVariableCancelSleep();
	pg_read_barrier();
	return lookup->block;
}

void
groups_shared_drop_lookup(GroupsShared *shared, int l, dsa_area *area)
{
	SharedLookup *lookup = get_lookup(shared, l);

	if (DsaPointerIsValid(lookup->block))
		dsa_free(area, lookup->block);
	lookup->block = InvalidDsaPointer;
	lookup->rows = lookup->keys = 0;
	pg_atomic_write_u32(&lookup->state, SHARED_LOOKUP_WANTED);
}

int64
groups_shared_lookup_rows(GroupsShared *shared, int l, int64 *keys)
{
	*keys = get_lookup(shared, l)->keys;
	return get_lookup(shared, l)->rows;
}

/* --- totals */

void
groups_shared_add_totals(GroupsShared *shared, const GroupsTotals *totals)
{
	SpinLockAcquire(&shared->mutex);
	shared->totals.rows += totals->rows;
	shared->totals.groups += totals->groups;
	shared->totals.unmatched += totals->unmatched;
	shared->totals.filtered += totals->filtered;
	shared->totals.disk += totals->disk;
	shared->totals.memory = Max(shared->totals.memory, totals->memory);
	SpinLockRelease(&shared->mutex);
}

void
groups_shared_get_totals(GroupsShared *shared, GroupsTotals *totals)
{
	SpinLockAcquire(&shared->mutex);
	*totals = shared->totals;
	SpinLockRelease(&shared->mutex);
}

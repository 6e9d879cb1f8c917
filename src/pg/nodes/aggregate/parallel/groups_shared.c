/*
 * groups_shared.c
 *		The shared memory of a parallel HpSort Aggregate: made by the leader, found by workers, and
 *		the totals that EXPLAIN shows (see groups_shared.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/parallel/groups_shared.h"

/* Returns the bytes in front of the dictionaries. */
static Size
written_size(int nprocesses)
{
	return MAXALIGN(add_size(offsetof(GroupsShared, written),
							 mul_size(nprocesses, sizeof(SharedWritten))));
}

Size
groups_shared_size(int nworkers, int ndictionaries)
{
	return add_size(written_size(nworkers + 1), mul_size(ndictionaries, sizeof(SharedDictionary)));
}

SharedDictionary *
groups_shared_dictionaries(GroupsShared *shared)
{
	return (SharedDictionary *) ((char *) shared + written_size(shared->nprocesses));
}

/* Begins an execution: no process has read or written anything. */
static void
start_phases(GroupsShared *shared)
{
	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->nreaders, 0);
	pg_atomic_init_u32(&shared->next_part, 0);
	pg_atomic_init_flag(&shared->read_alone);
	memset(&shared->totals, 0, sizeof(shared->totals));
	memset(shared->written, 0, shared->nprocesses * sizeof(SharedWritten));
}

void
groups_shared_init(GroupsShared *shared, ParallelContext *pcxt, int ndictionaries)
{
	int			d;

	shared->nprocesses = pcxt->nworkers + 1;
	shared->ndictionaries = ndictionaries;
	for (d = 0; d < ndictionaries; d++)
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
	int			p;
	int			d;

	for (p = 0; p < shared->nprocesses; p++)
		block_store_free_shared(area, shared->written[p].blocks);
	for (d = 0; d < shared->ndictionaries; d++)
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

void
groups_shared_add_totals(GroupsShared *shared, const GroupsTotals *totals)
{
	SpinLockAcquire(&shared->mutex);
	shared->totals.rows += totals->rows;
	shared->totals.groups += totals->groups;
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

/*
 * extents.c
 *		The extents that a device keeps (see extents.h).
 *
 * A hash table finds them.  Generations are given out one after the other, so their low bits
 * are the hash: extents of one column lie in buckets side by side, and looking up all of them
 * goes through the table in order.  What to give up is found by a clock, whose hand goes around the
 * table, with one bit for each extent: that a job has used it since the hand has come by.
 *
 * Device memory is freed without the lock, because a device may take long for it.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "gpud/extents.h"

/*
 * The table has a bucket for each 16 kB that extents may take, within these bounds.  An extent of
 * 128 full blocks has more bytes, so that chains are short.
 */
#define BYTES_IN_BUCKET 16384
#define LEAST_BUCKETS 1024
#define MOST_BUCKETS (1 << 22)

/* How many extents ahead of the one that is looked at the cache is asked for. */
#define EXTENTS_AHEAD 12

#define CACHE_LINE 64

/*
 * HeldExtents are allocated by slabs of 64 kB.  Finding, comparing, listing and letting go 7,000
 * extents of two columns then takes 12 ns a column's extent, and 20 where each extent lies beside
 * its blocks' starts, three to a page (virtual machine, AMD EPYC, test/gpu_stub and
 * bench/gpu/service_bench.c, by perf).
 */
#define SLAB_EXTENTS 1023

typedef struct ExtentSlab
{
	struct ExtentSlab *next;
	char		unused[CACHE_LINE - sizeof(struct ExtentSlab *)];
	HeldExtent	extents[SLAB_EXTENTS];
} ExtentSlab;

_Static_assert(sizeof(HeldExtent) == CACHE_LINE, "an extent is a cache line");

bool
extents_init(Extents *extents, uint64_t limit)
{
	memset(extents, 0, sizeof(*extents));
	extents->limit = limit;
	extents->nbuckets = LEAST_BUCKETS;
	while (extents->nbuckets < MOST_BUCKETS && extents->nbuckets < limit / BYTES_IN_BUCKET)
		extents->nbuckets *= 2;
	extents->buckets = calloc(extents->nbuckets, sizeof(*extents->buckets));
	pthread_mutex_init(&extents->lock, NULL);
	return extents->buckets != NULL;
}

/* --- with the lock */

/* The bucket of a generation. */
static HeldExtent **
bucket_of(const Extents *extents, uint64_t generation)
{
	return &extents->buckets[generation & (extents->nbuckets - 1)];
}

/* Returns the extent of a generation, or NULL if none can be found. */
static HeldExtent *
find(const Extents *extents, uint64_t generation)
{
	HeldExtent *e;

	for (e = *bucket_of(extents, generation); e && e->generation != generation; e = e->chain)
		;
	return e;
}

/* Adds a job to the jobs that hold the extent, and marks the extent as used. */
static void
hold(Extents *extents, HeldExtent *e)
{
	if (e->jobs++ == 0)
		extents->bytes_in_jobs += e->size;
	e->used = true;
}

/* Adds an extent that nobody can find and no job holds to the extents that dispose() frees. */
static void
condemn(Extents *extents, HeldExtent *e, HeldExtent **doomed)
{
	extents->bytes -= e->size;
	e->chain = *doomed;
	*doomed = e;
}

/*
 * Takes the extent that link points to out of its bucket, so that nobody finds it any more.  The
 * extent is condemned now if no job holds it; else by extents_release, when the last job lets go.
 */
static void
forget(Extents *extents, HeldExtent **link, HeldExtent **doomed)
{
	HeldExtent *e = *link;

	*link = e->chain;
	e->known = false;
	extents->count--;
	if (e->jobs == 0)
		condemn(extents, e, doomed);
}

/* Forgets all extents; with spare, extents that jobs hold stay. */
static void
forget_all(Extents *extents, bool spare, HeldExtent **doomed)
{
	for (uint64_t i = 0; i < extents->nbuckets && extents->count > 0; i++)
	{
		HeldExtent **link = &extents->buckets[i];

		while (*link)
			if (spare && (*link)->jobs > 0)
				link = &(*link)->chain;
			else
				forget(extents, link, doomed);
	}
}

/*
 * Forgets the extents that no job holds and that were not used for longest, until the others
 * and need fit.  The caller has seen that it is possible: the second time around, no bit is set.
 */
static void
evict(Extents *extents, uint64_t need, HeldExtent **doomed)
{
	while (extents->count > 0 && extents->bytes + need > extents->limit)
	{
		HeldExtent **link = &extents->buckets[extents->hand++ & (extents->nbuckets - 1)];

		while (*link && extents->bytes + need > extents->limit)
			if ((*link)->jobs == 0 && !(*link)->used)
				forget(extents, link, doomed);
			else
			{
				(*link)->used &= (*link)->jobs > 0;
				link = &(*link)->chain;
			}
	}
}

/* Returns an unused extent, or NULL if there is no memory for a slab. */
static HeldExtent *
take_unused(Extents *extents)
{
	HeldExtent *e = extents->unused;
	ExtentSlab *slab;

	if (e == NULL)
	{
		slab = aligned_alloc(CACHE_LINE, sizeof(ExtentSlab));
		if (slab == NULL)
			return NULL;
		slab->next = extents->slabs;
		extents->slabs = slab;
		for (int i = SLAB_EXTENTS; i-- > 0; e = &slab->extents[i])
			slab->extents[i].chain = e;
	}
	extents->unused = e->chain;
	return e;
}

/* --- without it */

/* Frees the extents that were condemned. */
static void
dispose(Extents *extents, HeldExtent *doomed)
{
	HeldExtent *last = NULL;

	if (doomed == NULL)
		return;
	for (HeldExtent *e = doomed; e; last = e, e = e->chain)
	{
		if (e->packed)
			hpsort_cuda_packed_free(e->packed);
		free(e->starts);
	}
	pthread_mutex_lock(&extents->lock);
	last->chain = extents->unused;
	extents->unused = doomed;
	pthread_mutex_unlock(&extents->lock);
}

void
extents_destroy(Extents *extents)
{
	ExtentSlab *slab;

	(void) extents_forget(extents, true);
	while ((slab = extents->slabs) != NULL)
	{
		extents->slabs = slab->next;
		free(slab);
	}
	free(extents->buckets);
	pthread_mutex_destroy(&extents->lock);
}

void
extents_set_epoch(Extents *extents, uint64_t epoch)
{
	HeldExtent *doomed = NULL;

	if (epoch == 0)
		return;
	pthread_mutex_lock(&extents->lock);
	if (extents->epoch != epoch)
		forget_all(extents, false, &doomed);
	extents->epoch = epoch;
	pthread_mutex_unlock(&extents->lock);
	dispose(extents, doomed);
}

bool
extents_forget(Extents *extents, bool spare)
{
	HeldExtent *doomed = NULL;
	bool		any;

	pthread_mutex_lock(&extents->lock);
	forget_all(extents, spare, &doomed);
	pthread_mutex_unlock(&extents->lock);
	any = doomed != NULL;
	dispose(extents, doomed);
	return any;
}

/* A look-up waits for memory: that of the generation EXTENTS_AHEAD places on is prefetched. */
void
extents_find(Extents *extents, uint64_t epoch, const uint64_t *generations, uint32_t n,
			 HeldExtent **found)
{
	bool		any;

	pthread_mutex_lock(&extents->lock);
	any = epoch != 0 && extents->epoch == epoch;
	for (uint32_t i = 0; i < n; i++)
	{
		if (any && n - i > EXTENTS_AHEAD)
			__builtin_prefetch(*bucket_of(extents, generations[i + EXTENTS_AHEAD]), 1);
		found[i] = any ? find(extents, generations[i]) : NULL;
		if (found[i])
			hold(extents, found[i]);
	}
	pthread_mutex_unlock(&extents->lock);
}

bool
extents_are_aligned(const HeldExtent *extent, HeldExtent *other)
{
	uint64_t	shape = atomic_load_explicit(&extent->shape, memory_order_relaxed);

	if (atomic_load_explicit(&other->shape, memory_order_relaxed) == shape)
		return true;
	if (other->nblocks != extent->nblocks ||
		memcmp(other->starts, extent->starts, ((size_t) extent->nblocks +
											   1) * sizeof(uint32_t)) != 0)
		return false;
	atomic_store_explicit(&other->shape, shape, memory_order_relaxed);
	return true;
}

/*
 * Returns a new extent of a generation, without its values and not yet in the table; NULL if there
 * is no memory.
 */
static HeldExtent *
make_extent(Extents *extents, uint64_t generation, const Extent *front)
{
	const size_t starts = ((size_t) front->nblocks + 1) * sizeof(uint32_t);
	const size_t nulls = (size_t) front->nblocks * sizeof(uint32_t);
	uint32_t   *blocks = malloc(starts + nulls);
	HeldExtent *e = NULL;

	if (blocks)
	{
		pthread_mutex_lock(&extents->lock);
		e = take_unused(extents);
		pthread_mutex_unlock(&extents->lock);
	}
	if (e == NULL)
	{
		free(blocks);
		return NULL;
	}
	memset(e, 0, sizeof(*e));
	e->generation = generation;
	e->size = front->size;
	e->nblocks = front->nblocks;
	e->nrows = front->nrows;
	e->nnulls = front->nnulls;
	e->starts = blocks;
	memcpy(blocks, extent_starts(front), starts);
	memcpy(extent_block_nulls(e), extent_null_counts(front), nulls);
	return e;
}

/* The extent is allocated before the lock is taken, and freed again where it is not wanted. */
ExtentsRoom
extents_make_room(Extents *extents, uint64_t epoch, uint64_t generation, const Extent *front,
				  HeldExtent **extent)
{
	HeldExtent *doomed = NULL;
	ExtentsRoom room = EXTENTS_FULL;
	uint64_t	need = front->size;
	HeldExtent *known = NULL;
	HeldExtent *e = make_extent(extents, generation, front);

	if (e == NULL)
		return EXTENTS_FULL;
	pthread_mutex_lock(&extents->lock);
	if (epoch != 0 && epoch == extents->epoch)
	{
		known = find(extents, generation);
		if (known)
		{
			hold(extents, known);
			room = EXTENTS_KNOWN;
		}
		else if (extents->bytes_in_jobs + need <= extents->limit)
		{
			evict(extents, need, &doomed);
			extents->bytes += need;
			atomic_init(&e->shape, ++extents->shapes);
			hold(extents, e);
			room = EXTENTS_ROOM;
		}
	}
	pthread_mutex_unlock(&extents->lock);
	if (room != EXTENTS_ROOM)
	{
		e->chain = doomed;
		doomed = e;
	}
	dispose(extents, doomed);
	*extent = room == EXTENTS_ROOM ? e : known;
	return room;
}

void
extents_enter(Extents *extents, uint64_t epoch, HeldExtent *e)
{
	pthread_mutex_lock(&extents->lock);

	/* Meanwhile another client may have named another epoch, or kept the same extent. */
	if (epoch == extents->epoch && find(extents, e->generation) == NULL)
	{
		HeldExtent **bucket = bucket_of(extents, e->generation);

		e->chain = *bucket;
		*bucket = e;
		e->known = true;
		extents->count++;
	}
	pthread_mutex_unlock(&extents->lock);
}

void
extents_release(Extents *extents, HeldExtent *const *list, uint32_t n)
{
	HeldExtent *doomed = NULL;

	pthread_mutex_lock(&extents->lock);
	for (uint32_t i = 0; i < n; i++)
	{
		if (--list[i]->jobs > 0)
			continue;
		extents->bytes_in_jobs -= list[i]->size;
		if (!list[i]->known)
			condemn(extents, list[i], &doomed);
	}
	pthread_mutex_unlock(&extents->lock);
	dispose(extents, doomed);
}

void
extents_status(Extents *extents, uint64_t *count, uint64_t *bytes)
{
	pthread_mutex_lock(&extents->lock);
	*count = extents->count;
	*bytes = extents->bytes;
	pthread_mutex_unlock(&extents->lock);
}

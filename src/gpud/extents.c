/*
 * extents.c
 *		The extents that a device keeps (see extents.h).
 *
 * A hash table finds them.  Generations are given out one after the other, so their low bits
 * are the hash: extents of one column lie in buckets side by side, and looking up all of them
 * goes through the table in order.  What to give up is found by a clock with one bit for each
 * extent: that a job has used it since the hand has come by.
 *
 * Device memory is freed without the lock, because a device may take long for it.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "gpud/extents.h"

/* Buckets of the first table; it doubles when there are more extents than buckets. */
#define FIRST_BUCKETS 1024

/* How many extents ahead of the one that is looked at the cache is asked for. */
#define EXTENTS_AHEAD 12

#define CACHE_LINE 64

void
extents_init(Extents *extents, uint64_t limit)
{
	memset(extents, 0, sizeof(*extents));
	extents->limit = limit;
	pthread_mutex_init(&extents->lock, NULL);
}

/* --- with the lock */

static HeldExtent **
bucket_of(const Extents *extents, uint64_t generation)
{
	return &extents->buckets[generation & (extents->nbuckets - 1)];
}

static HeldExtent *
find(const Extents *extents, uint64_t generation)
{
	HeldExtent *e;

	if (extents->buckets == NULL)
		return NULL;
	for (e = *bucket_of(extents, generation); e && e->generation != generation; e = e->chain)
		;
	return e;
}

/* A table with room for one more extent; false if there is no memory for the first table. */
static bool
grow_table(Extents *extents)
{
	uint64_t	nbuckets = extents->nbuckets > 0 ? extents->nbuckets * 2 : FIRST_BUCKETS;
	HeldExtent **old = extents->buckets;
	HeldExtent **buckets;
	uint64_t	n = extents->nbuckets;
	uint64_t	i;

	if (extents->count < n)
		return true;
	buckets = calloc(nbuckets, sizeof(*buckets));
	if (buckets == NULL)
		return old != NULL;		/* chains get longer */
	extents->buckets = buckets;
	extents->nbuckets = nbuckets;
	for (i = 0; i < n; i++)
		while (old[i])
		{
			HeldExtent *e = old[i];
			HeldExtent **bucket = bucket_of(extents, e->generation);

			old[i] = e->chain;
			e->chain = *bucket;
			*bucket = e;
		}
	free(old);
	return true;
}

/* The caller holds the extent. */
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

/* Nobody finds the extent any more. */
static void
forget(Extents *extents, HeldExtent *e, HeldExtent **doomed)
{
	HeldExtent **link = bucket_of(extents, e->generation);

	while (*link != e)
		link = &(*link)->chain;
	*link = e->chain;
	if (extents->hand == e)
		extents->hand = e->next != e ? e->next : NULL;
	e->next->previous = e->previous;
	e->previous->next = e->next;
	e->known = false;
	extents->count--;
	if (e->jobs == 0)
		condemn(extents, e, doomed);
}

static void
forget_all(Extents *extents, HeldExtent **doomed)
{
	while (extents->hand)
		forget(extents, extents->hand, doomed);
}

/*
 * Forgets the extents that no job holds and that were not used for longest, until the others
 * and need fit.  The caller has seen that it is possible: the second time around, no bit is set.
 */
static void
evict(Extents *extents, uint64_t need, HeldExtent **doomed)
{
	while (extents->hand && extents->bytes + need > extents->limit)
	{
		HeldExtent *e = extents->hand;

		extents->hand = e->next;
		if (e->jobs > 0)
			continue;
		if (e->used)
			e->used = false;
		else
			forget(extents, e, doomed);
	}
}

/* --- without it */

/* Frees the extents that were condemned. */
static void
dispose(HeldExtent *doomed)
{
	while (doomed)
	{
		HeldExtent *e = doomed;

		doomed = e->chain;
		if (e->packed)
			hpsort_cuda_packed_free(e->packed);
		free(e);
	}
}

void
extents_destroy(Extents *extents)
{
	(void) extents_give_up(extents);
	free(extents->buckets);
	pthread_mutex_destroy(&extents->lock);
}

void
extents_hear(Extents *extents, uint64_t epoch)
{
	HeldExtent *doomed = NULL;

	if (epoch == 0)
		return;
	pthread_mutex_lock(&extents->lock);
	if (extents->epoch != epoch)
		forget_all(extents, &doomed);
	extents->epoch = epoch;
	pthread_mutex_unlock(&extents->lock);
	dispose(doomed);
}

void
extents_forget(Extents *extents)
{
	HeldExtent *doomed = NULL;

	pthread_mutex_lock(&extents->lock);
	forget_all(extents, &doomed);
	pthread_mutex_unlock(&extents->lock);
	dispose(doomed);
}

void
extents_find(Extents *extents, uint64_t epoch, const uint64_t *generations, uint32_t n,
			 HeldExtent **found)
{
	uint32_t	i;
	bool		any;

	pthread_mutex_lock(&extents->lock);
	any = epoch != 0 && extents->epoch == epoch && extents->buckets != NULL;
	for (i = 0; i < n; i++)
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

/* An extent without its values; NULL if there is no memory. */
static HeldExtent *
make_extent(uint64_t generation, const Extent *front)
{
	size_t		starts = ((size_t) front->nblocks + 1) * sizeof(uint32_t);
	size_t		nulls = (size_t) front->nblocks * sizeof(uint32_t);
	size_t		bytes = (sizeof(HeldExtent) + starts + nulls + CACHE_LINE -
						 1) / CACHE_LINE * CACHE_LINE;
	HeldExtent *e = aligned_alloc(CACHE_LINE, bytes);

	if (e == NULL)
		return NULL;
	memset(e, 0, sizeof(*e));
	e->generation = generation;
	e->size = front->size;
	e->nblocks = front->nblocks;
	e->nrows = front->nrows;
	e->nnulls = front->nnulls;
	e->starts = (uint32_t *) (e + 1);
	e->nulls = e->starts + front->nblocks + 1;
	memcpy(e->starts, extent_starts(front), starts);
	memcpy(e->nulls, extent_null_counts(front), nulls);
	return e;
}

ExtentsRoom
extents_make_room(Extents *extents, uint64_t epoch, uint64_t generation, const Extent *front,
				  HeldExtent **extent)
{
	HeldExtent *doomed = NULL;
	ExtentsRoom room = EXTENTS_FULL;
	uint64_t	need = front->size;
	HeldExtent *known = NULL;
	HeldExtent *e = make_extent(generation, front);

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
	dispose(doomed);
	*extent = room == EXTENTS_ROOM ? e : known;
	if (room != EXTENTS_ROOM)
		free(e);
	return room;
}

void
extents_enter(Extents *extents, uint64_t epoch, HeldExtent *e)
{
	pthread_mutex_lock(&extents->lock);

	/* Meanwhile another client may have named another epoch, or kept the same extent. */
	if (epoch == extents->epoch && find(extents, e->generation) == NULL && grow_table(extents))
	{
		HeldExtent **bucket = bucket_of(extents, e->generation);

		e->chain = *bucket;
		*bucket = e;
		if (extents->hand == NULL)
			extents->hand = e->next = e->previous = e;
		else
		{
			/* just behind the hand, which comes to it last */
			e->next = extents->hand;
			e->previous = extents->hand->previous;
			e->previous->next = e;
			e->next->previous = e;
		}
		e->known = true;
		extents->count++;
	}
	pthread_mutex_unlock(&extents->lock);
}

void
extents_release(Extents *extents, HeldExtent *const *list, uint32_t n)
{
	HeldExtent *doomed = NULL;
	uint32_t	i;

	pthread_mutex_lock(&extents->lock);
	for (i = 0; i < n; i++)
	{
		if (--list[i]->jobs > 0)
			continue;
		extents->bytes_in_jobs -= list[i]->size;
		if (!list[i]->known)
			condemn(extents, list[i], &doomed);
	}
	pthread_mutex_unlock(&extents->lock);
	dispose(doomed);
}

bool
extents_give_up(Extents *extents)
{
	HeldExtent *doomed = NULL;
	bool		any;
	uint64_t	n;

	pthread_mutex_lock(&extents->lock);
	for (n = extents->count; n > 0; n--)
	{
		HeldExtent *e = extents->hand;

		extents->hand = e->next;
		if (e->jobs == 0)
			forget(extents, e, &doomed);
	}
	pthread_mutex_unlock(&extents->lock);
	any = doomed != NULL;
	dispose(doomed);
	return any;
}

void
extents_status(Extents *extents, uint64_t *count, uint64_t *bytes)
{
	pthread_mutex_lock(&extents->lock);
	*count = extents->count;
	*bytes = extents->bytes;
	pthread_mutex_unlock(&extents->lock);
}

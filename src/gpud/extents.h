/*
 * extents.h
 *		The extents that a device keeps for jobs to come: found by their generation, given
 *		up when there is no room.
 *
 * Each device has one Extents.  All extents in it are of one epoch, the last one that a client
 * has named: generations of another one mean other bytes.  A job that uses an extent holds
 * it: a held extent is never given up, and if it is forgotten, it is freed when the last
 * job lets it go.  All functions may be called by several threads at once.
 */
#ifndef HPSORT_GPUD_EXTENTS_H
#define HPSORT_GPUD_EXTENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "hpsort_cuda.h"
#include "sort/extents/extent.h"

/*
 * An extent that a device holds: what a job looks at of each of thousands, 64 bytes side by side
 * with those of other extents.  Where blocks begin lies elsewhere, and behind it how many NULLs
 * each has.
 */
typedef struct HeldExtent
{
	uint64_t	generation;
	uint32_t	jobs;			/* that hold it */
	bool		known;			/* it can be found */
	bool		used;			/* since the hand has come by */
	struct HeldExtent *chain;	/* of the same bucket */
	HpsortCudaPacked *packed;	/* NULL: not yet on the device, or without rows */
	_Atomic uint64_t shape;		/* extents of one shape have the same blocks: see
								 * extents_are_aligned */
	uint32_t	size;			/* bytes */
	uint32_t	nblocks;
	uint32_t	nrows;
	uint32_t	nnulls;
	uint32_t   *starts;			/* of blocks, nblocks + 1 */
} HeldExtent;

/* The NULLs of each block. */
static inline uint32_t *
extent_block_nulls(const HeldExtent *extent)
{
	return extent->starts + extent->nblocks + 1;
}

typedef struct Extents
{
	uint64_t	limit;			/* bytes, 0: none is kept */
	pthread_mutex_t lock;		/* of what follows */
	uint64_t	epoch;			/* 0: none yet */
	uint64_t	count;			/* that can be found */
	uint64_t	bytes;			/* of all, forgotten ones that jobs hold included */
	uint64_t	bytes_in_jobs;	/* of the extents that jobs hold */
	HeldExtent **buckets;
	uint64_t	nbuckets;		/* a power of two */
	uint64_t	shapes;			/* that have been given out */
	uint64_t	hand;			/* of the clock: the next bucket, modulo nbuckets */
	HeldExtent *unused;			/* chained */
	struct ExtentSlab *slabs;	/* memory of all, freed in the end */
} Extents;

/* Makes *extents empty, with limit bytes at most.  False if there is no memory. */
extern bool extents_init(Extents *extents, uint64_t limit);

/* Frees all; no job may hold one. */
extern void extents_destroy(Extents *extents);

/* A client has named its epoch: extents of another one are forgotten. */
extern void extents_set_epoch(Extents *extents, uint64_t epoch);

/*
 * Finds n extents by their generations: found[i] is held by the caller from now on, or is NULL
 * where there is no extent of that generation.
 */
extern void extents_find(Extents *extents, uint64_t epoch, const uint64_t *generations, uint32_t n,
						 HeldExtent **found);

/*
 * Whether two extents have as many blocks, and these as many rows each.  Several columns of the
 * same blocks have, so what has been compared once is remembered: other takes extent's shape.
 * Each extent is made with a shape of its own, whatever generation the client says that it is of.
 */
extern bool extents_are_aligned(const HeldExtent *extent, HeldExtent *other);

typedef enum ExtentsRoom
{
	EXTENTS_ROOM,				/* *extent is held by the caller, who copies it to the device */
	EXTENTS_KNOWN,				/* *extent, of that generation, is held by the caller: the first
								 * one stays */
	EXTENTS_FULL				/* there is no room, nor can be made */
} ExtentsRoom;

/*
 * Makes room for an extent, giving up others that no job holds and that were not used for
 * longest.  front is the extent up to its values, and sound.
 */
extern ExtentsRoom extents_make_room(Extents *extents, uint64_t epoch, uint64_t generation,
									 const Extent *front, HeldExtent **extent);

/*
 * Enters an extent that has been copied to the device, so that it can be found.  Where epoch is
 * not the last one named, or another extent has its generation, it is not entered, and goes with
 * the job that holds it.
 */
extern void extents_enter(Extents *extents, uint64_t epoch, HeldExtent *extent);

/* Lets n extents go that the caller holds, once for each time that it was found or made. */
extern void extents_release(Extents *extents, HeldExtent *const *list, uint32_t n);

/*
 * Forgets all extents, so that nobody finds them any more; with spare, only extents that no job
 * holds.  Memory of held extents is freed when the last job lets them go.  Returns whether memory
 * was freed.
 */
extern bool extents_forget(Extents *extents, bool spare);

/*
 * Sets *count to the number of extents that can be found, and *bytes to what all extents take,
 * which includes forgotten ones that jobs still hold.
 */
extern void extents_status(Extents *extents, uint64_t *count, uint64_t *bytes);

#endif							/* HPSORT_GPUD_EXTENTS_H */

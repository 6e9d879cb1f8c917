/*
 * slabs.h
 *		The shared memory of resident columns: slabs, and pieces of them.
 *
 * The root lies in the server's shared memory and is small.  Everything else is in slabs, which
 * are pinned segments of dynamic shared memory, allocated and freed by the background worker
 * alone (worker.h): dsm_create may fail with an error, and a query shall not fail for it.  All
 * slabs together never exceed hpsort.resident_memory.
 *
 * A slab begins with core's FreePageManager, which has the pages that are free, and pieces are
 * whole pages.  Who allocates a piece notes its size.  Processes map slabs at different addresses:
 * a piece is known by its place, a number that has one meaning in all processes.
 *
 * One lock is for all that is in the root and in slabs, except for the bytes of extents, which
 * are also copied without it (resident.h says how that is safe).  While a process has the lock it
 * has all slabs mapped.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_SLABS_H
#define HPSORT_PG_RESIDENT_MEMORY_SLABS_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "pg/resident/memory/resident.h"

/* How many slabs there may be, and lists of columns by hash. */
#define RESIDENT_SLABS 64
#define RESIDENT_BUCKETS 256

/* How many databases may have columns being filled at one time. */
#define RESIDENT_FILLERS 64

/* Bytes. */
#define RESIDENT_MB ((uint64) 1024 * 1024)

/* A place in resident memory: the number of a slab, plus 1, above the offset in it; 0: nowhere. */
typedef uint64 ResidentPlace;

#define RESIDENT_PLACE(slab, offset) ((uint64) ((slab) + 1) << 40 | (offset))
#define RESIDENT_PLACE_OFFSET(place) ((place) & ((UINT64CONST(1) << 40) - 1))

/* What all processes know of a slab. */
typedef struct ResidentSlab
{
	uint32		serial;			/* never used again; 0: there is no slab */
	dsm_handle	handle;			/* of its segment */
	Size		npages;			/* of FPM_PAGE_SIZE */
} ResidentSlab;

/* The background worker that fills the declared columns of a database. */
typedef struct ResidentFiller
{
	Oid			database;		/* InvalidOid: there is none */
	pid_t		pid;			/* 0: it has been registered, and has not begun */
	TimestampTz registered;
	bool		again;			/* it was asked for while it was at work */
} ResidentFiller;

/* What all else is found from. */
typedef struct ResidentRoot
{
	LWLock		lock;
	int			tranche;
	uint64		epoch;			/* random, never changes; 0: there was no random number to be had */

	/* Changes before memory of an extent is used for anything else. */
	pg_atomic_uint64 losses;

	pg_atomic_uint32 copying;	/* processes that copy bytes of extents */

	/* All below is protected by lock. */
	uint64		generations;	/* given to extents */
	uint64		changes;		/* of extents, made, marked or given up ... */
	uint64		saved;			/* ... of which so many are in the file of saved_extents.c */
	uint64		allocated;		/* bytes of all slabs */
	uint32		serials;		/* given to slabs */
	uint32		hand_bucket;	/* where the search for extents to give up goes on ... */
	uint32		hand_extent;	/* ... in each column of this bucket */
	ResidentSlab slabs[RESIDENT_SLABS];
	ResidentPlace buckets[RESIDENT_BUCKETS];	/* of directory.c */

	/* The background worker's, also protected by lock. */
	pid_t		worker;			/* 0: there is none */
	Latch	   *latch;			/* its latch */
	TimestampTz started;		/* when it was last registered */
	uint64		wanted;			/* bytes that queries have asked for; 0: nothing */
	ResidentReason failure;		/* of the last allocation; RESIDENT_OK */
	TimestampTz failed;			/* when that was */
	ConditionVariable changed;	/* wanted became 0 */

	/* Of fill_request.c, also protected by lock. */
	bool		taken_back;		/* what there was of saved_extents.c's file */
	bool		launched;		/* all databases have been asked to be filled */
	ResidentFiller fillers[RESIDENT_FILLERS];
} ResidentRoot;

/* Returns the root.  NULL means that there are no resident columns, and is no error. */
extern ResidentRoot *resident_root(void);

/*
 * Maps all slabs, and takes the lock.  Returns false, without the lock, if they cannot be
 * mapped.
 */
extern bool resident_lock(ResidentRoot *root, LWLockMode mode);

/* Gives the lock back.  Pointers into slabs are void afterwards. */
extern void resident_unlock(ResidentRoot *root);

/* Returns where a place lies in this process; NULL if its slab is not mapped here, or is gone. */
extern void *resident_pointer(const ResidentRoot *root, ResidentPlace place);

/*
 * Allocates size bytes, and returns their place; 0 if there is no room.  This function and
 * resident_free(), which frees as many bytes, need the lock, exclusively.
 */
extern ResidentPlace resident_allocate(ResidentRoot *root, Size size);
extern void resident_free(ResidentRoot *root, ResidentPlace place, Size size);

/* Whether size bytes could be in one of the slabs, if all else were free.  Needs the lock. */
extern bool resident_could_hold(const ResidentRoot *root, Size size);

/*
 * Attaches to a segment; or, for the worker, makes one of size bytes, unless size is 0.  It stays
 * mapped when the transaction ends.  Returns NULL if there is no memory or are no descriptors for
 * it, and *error, if error is not NULL, says why in this context; or if there are too many
 * segments.
 */
extern dsm_segment *resident_segment(dsm_handle handle, Size size, ErrorData **error);

/*
 * For the worker: enters a segment as a slab, which fails if there are too many; forgets all
 * slabs.
 */
extern bool resident_add_slab(ResidentRoot *root, dsm_segment *segment);
extern void resident_drop_slabs(ResidentRoot *root);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_SLABS_H */

/*
 * slabs.c
 *		Slabs and chunks (see memory.h).
 */
#include "postgres.h"

#include <sys/mman.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "port/pg_bitutils.h"

#include "pg/compat.h"
#include "pg/guarded_call.h"
#include "pg/resident/memory/slabs.h"
#include "pg/shared_memory.h"

/* How long slabs that have been dropped are kept for processes that are copying their bytes. */
#define COPYING_MS 5000

/* A slab in this process. */
typedef struct MappedSlab
{
	uint32		serial;			/* 0: none */
	dsm_segment *segment;
	char	   *base;
	uint64		size;			/* bytes */
} MappedSlab;

static MappedSlab mapped[RESIDENT_SLABS];

/* The last slab that could not be mapped: it is not tried again. */
static uint32 failed_serial;

/* The root, once it has been found. */
static ResidentRoot *the_root;

/* The phase in which this process copies bytes. */
static uint32 my_phase;

/*
 * Slabs that are gone, but that scans of this transaction may still point into.  What a scan
 * reads there, zeros or anything, is found to be void (resident_holds).
 */
static dsm_segment *retired[RESIDENT_SLABS];
static int	nretired;

/* --- the root */

/* Makes the root, in shared memory. */
static void
init(void *data)
{
	ResidentRoot *root = (ResidentRoot *) data;

	memset(root, 0, sizeof(*root));
	root->tranche = LWLockNewTrancheId("HpsortResident");
	LWLockInitialize(&root->lock, root->tranche);
	if (!pg_strong_random(&root->epoch, sizeof(root->epoch)))
		root->epoch = 0;
	pg_atomic_init_u64(&root->losses, 1);
	pg_atomic_init_u32(&root->phase, 0);
	pg_atomic_init_u32(&root->copying[0], 0);
	pg_atomic_init_u32(&root->copying[1], 0);
	ConditionVariableInit(&root->changed);
}

ResidentRoot *
resident_root(void)
{
	if (the_root == NULL)
	{
		the_root = (ResidentRoot *) shared_memory_attach("hpsort resident columns",
														 sizeof(ResidentRoot), init);
		if (the_root)
			LWLockRegisterTranche(the_root->tranche, "HpsortResident");
	}
	return the_root;
}

/* --- slabs in this process */

/* Whether exactly the slabs that there are are mapped here.  Needs the lock. */
static bool
all_mapped(const ResidentRoot *root)
{
	int			s;

	for (s = 0; s < RESIDENT_SLABS; s++)
		if (mapped[s].serial != root->slabs[s].serial)
			return false;
	return true;
}

/* A segment to be mapped. */
typedef struct Mapping
{
	dsm_handle	handle;
	dsm_segment *segment;
} Mapping;

static void
attach(void *arg)
{
	Mapping    *mapping = (Mapping *) arg;

	mapping->segment = dsm_attach(mapping->handle);
	if (mapping->segment)
		dsm_pin_mapping(mapping->segment);
}

/* Maps a segment; NULL if there is no memory, or are no descriptors, to do so. */
static dsm_segment *
attach_segment(dsm_handle handle)
{
	Mapping		mapping = {.handle = handle};

	return guarded_call(attach, &mapping, NULL) ? mapping.segment : NULL;
}

/* An XactCallback: unmaps retired slabs, since no scan is open any more. */
static void
unmap_retired(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PARALLEL_COMMIT &&
		event != XACT_EVENT_ABORT && event != XACT_EVENT_PARALLEL_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	while (nretired > 0)
		dsm_detach(retired[--nretired]);
}

/*
 * Has a slab unmapped when the transaction ends; where there were very many, when this process
 * ends.
 */
static void
retire_slab(MappedSlab *slab)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(unmap_retired, NULL);
	registered = true;
	slab->serial = 0;
	if (nretired < RESIDENT_SLABS)
		retired[nretired++] = slab->segment;
}

/* Maps the slabs that are not mapped yet, and retires slabs that are gone. */
static void
map_slabs(ResidentRoot *root)
{
	ResidentSlab slabs[RESIDENT_SLABS];
	int			s;

	LWLockAcquire(&root->lock, LW_SHARED);
	memcpy(slabs, root->slabs, sizeof(slabs));
	LWLockRelease(&root->lock);
	for (s = 0; s < RESIDENT_SLABS; s++)
	{
		MappedSlab *slab = &mapped[s];

		if (slab->serial == slabs[s].serial)
			continue;
		if (slab->serial != 0)
			retire_slab(slab);
		if (slabs[s].serial == 0 || slabs[s].serial == failed_serial)
			continue;
		slab->segment = attach_segment(slabs[s].handle);
		if (slab->segment == NULL)
			failed_serial = slabs[s].serial;
		else
		{
			slab->base = dsm_segment_address(slab->segment);
			slab->size = dsm_segment_map_length(slab->segment);
			slab->serial = slabs[s].serial;
		}
	}
}

bool
resident_lock(ResidentRoot *root, LWLockMode mode)
{
	int			attempt;

	for (attempt = 0; attempt < 3; attempt++)
	{
		if (attempt > 0)
			map_slabs(root);
		LWLockAcquire(&root->lock, mode);
		if (all_mapped(root))
			return true;
		LWLockRelease(&root->lock);
	}
	return false;
}

void
resident_unlock(ResidentRoot *root)
{
	LWLockRelease(&root->lock);
}

void *
resident_pointer(const ResidentRoot *root, ResidentPlace place)
{
	uint32		s = (uint32) (place >> 40) - 1;

	if (place == 0 || mapped[s].serial == 0 || mapped[s].serial != root->slabs[s].serial)
		return NULL;
	return mapped[s].base + (place & ((UINT64CONST(1) << 40) - 1));
}

bool
resident_reaches(ResidentPlace place, Size size)
{
	return (place & ((UINT64CONST(1) << 40) - 1)) + sizeof(ResidentChunk) + size <=
		mapped[(place >> 40) - 1].size;
}

/* --- units */

/* Returns the bitmap of a slab's units in use. */
static inline uint64 *
used_bits(int s)
{
	return (uint64 *) mapped[s].base;
}

/* Returns the bitmap of the units of a slab in which a chunk starts. */
static inline uint64 *
start_bits(int s, const ResidentSlab *slab)
{
	return used_bits(s) + (slab->nunits + 63) / 64;
}

/*
 * Returns the first bit from i on that is set, or that is clear if flip is all ones; n if there
 * is none.
 */
static uint32
next_bit(const uint64 *bits, uint32 i, uint32 n, uint64 flip)
{
	while (i < n)
	{
		uint64		word = (bits[i / 64] ^ flip) >> i % 64;

		if (word != 0)
			return Min(i + (uint32) pg_rightmost_one_pos64(word), n);
		i = (i / 64 + 1) * 64;
	}
	return n;
}

/* Returns the first of n free units in a row between from and to; 0 if there are none. */
static uint32
find_free(const uint64 *used, uint32 from, uint32 to, uint32 n)
{
	uint32		i = from;

	while (i < to)
	{
		uint32		start = next_bit(used, i, to, ~UINT64CONST(0));

		if (start >= to || to - start < n)
			return 0;
		i = next_bit(used, start, start + n, 0);
		if (i == start + n)
			return start;
	}
	return 0;
}

/* Sets or clears n bits from first on. */
static void
set_used(uint64 *used, uint32 first, uint32 n, bool value)
{
	uint32		i;

	for (i = first; i < first + n; i++)
		if (value)
			used[i / 64] |= UINT64CONST(1) << i % 64;
		else
			used[i / 64] &= ~(UINT64CONST(1) << i % 64);
}

/* Returns how many units a chunk for size bytes takes. */
static uint32
chunk_units(Size size)
{
	return (uint32) ((size + sizeof(ResidentChunk) + RESIDENT_UNIT - 1) / RESIDENT_UNIT);
}

bool
resident_could_hold(const ResidentRoot *root, Size size)
{
	int			s;

	for (s = 0; s < RESIDENT_SLABS; s++)
		if (root->slabs[s].serial != 0 && root->slabs[s].nunits -
			root->slabs[s].first >= chunk_units(size))
			return true;
	return false;
}

ResidentPlace
resident_allocate(ResidentRoot *root, Size size, ResidentChunkKind kind, ResidentChunk **chunk)
{
	uint32		n = chunk_units(size);
	int			s;

	for (s = 0; s < RESIDENT_SLABS; s++)
	{
		ResidentSlab *slab = &root->slabs[s];
		uint32		unit;

		if (slab->serial == 0 || slab->nfree < n)
			continue;
		unit = find_free(used_bits(s), slab->next, slab->nunits, n);
		if (unit == 0)
			unit = find_free(used_bits(s), slab->first, slab->nunits, n);
		if (unit == 0)
			continue;
		set_used(used_bits(s), unit, n, true);
		set_used(start_bits(s, slab), unit, 1, true);
		slab->nfree -= n;
		slab->next = unit + n;
		*chunk = (ResidentChunk *) (mapped[s].base + (Size) unit * RESIDENT_UNIT);
		memset(*chunk, 0, sizeof(**chunk));
		(*chunk)->nunits = n;
		(*chunk)->kind = kind;
		return RESIDENT_PLACE(s, (uint64) unit * RESIDENT_UNIT);
	}
	return 0;
}

void
resident_free(ResidentRoot *root, ResidentPlace place)
{
	ResidentChunk *chunk = (ResidentChunk *) resident_pointer(root, place);
	int			s = (int) (place >> 40) - 1;
	uint32		unit = (uint32) ((place & ((UINT64CONST(1) << 40) - 1)) / RESIDENT_UNIT);

	set_used(used_bits(s), unit, chunk->nunits, false);
	set_used(start_bits(s, &root->slabs[s]), unit, 1, false);
	root->slabs[s].nfree += chunk->nunits;
	root->slabs[s].next = Min(root->slabs[s].next, unit);
	/* This is a barrier, too: losses changes before anything else is written there. */
	pg_atomic_fetch_add_u64(&root->losses, 1);
}

ResidentPlace
resident_next_chunk(ResidentRoot *root, uint64 *searched)
{
	int			i;

	for (i = 0; i <= RESIDENT_SLABS; i++)
	{
		uint32		s = root->hand_slab;
		ResidentSlab *slab = &root->slabs[s];
		uint32		unit;

		if (slab->serial != 0 && root->hand_unit < slab->nunits)
		{
			unit = next_bit(start_bits(s, slab), root->hand_unit, slab->nunits, 0);
			*searched += (uint64) (unit - root->hand_unit) * RESIDENT_UNIT;
			if (unit < slab->nunits)
			{
				ResidentPlace place = RESIDENT_PLACE(s, (uint64) unit * RESIDENT_UNIT);

				root->hand_unit = unit + ((ResidentChunk *) resident_pointer(root, place))->nunits;
				*searched += (uint64) (root->hand_unit - unit) * RESIDENT_UNIT;
				return place;
			}
		}
		root->hand_slab = (s + 1) % RESIDENT_SLABS;
		root->hand_unit = 0;
	}
	return 0;
}

/* --- for the worker */

bool
resident_add_slab(ResidentRoot *root, dsm_segment *segment)
{
	uint64		size = dsm_segment_map_length(segment);
	uint32		nunits = (uint32) (size / RESIDENT_UNIT);
	Size		bitmaps = (Size) (nunits + 63) / 64 * sizeof(uint64) * 2;
	int			s;

	memset(dsm_segment_address(segment), 0, bitmaps);
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	for (s = 0; s < RESIDENT_SLABS; s++)
	{
		ResidentSlab *slab = &root->slabs[s];

		if (slab->serial != 0)
			continue;
		if (mapped[s].serial != 0)
			dsm_detach(mapped[s].segment);
		slab->serial = ++root->serials;
		slab->handle = dsm_segment_handle(segment);
		slab->size = size;
		slab->nunits = nunits;
		slab->first = slab->next = (uint32) ((bitmaps + RESIDENT_UNIT - 1) / RESIDENT_UNIT);
		slab->nfree = nunits - slab->first;
		root->allocated += size;
		mapped[s].serial = slab->serial;
		mapped[s].segment = segment;
		mapped[s].base = dsm_segment_address(segment);
		mapped[s].size = size;
		set_used(used_bits(s), 0, slab->first, true);
		break;
	}
	LWLockRelease(&root->lock);
	return s < RESIDENT_SLABS;
}

void
resident_start_copying(void)
{
	ResidentRoot *root = resident_root();

	if (root == NULL)
		return;
	for (;;)
	{
		my_phase = pg_atomic_read_u32(&root->phase);

		/*
		 * A barrier, as is the exchange in wait_for_copying(): a process that still finds a slab
		 * began to copy in the phase in which the slab was dropped.
		 */
		pg_atomic_fetch_add_u32(&root->copying[my_phase], 1);
		if (pg_atomic_read_u32(&root->phase) == my_phase)
			return;
		pg_atomic_fetch_sub_u32(&root->copying[my_phase], 1);
	}
}

void
resident_stop_copying(void)
{
	if (the_root)
		pg_atomic_fetch_sub_u32(&the_root->copying[my_phase], 1);
}

/*
 * Begins the next phase.  Returns whether all processes that began to copy in the last phase
 * have ended, after COPYING_MS at the latest.  Does not wait longer when the worker is to end.
 */
static bool
wait_for_copying(ResidentRoot *root)
{
	uint32		last = pg_atomic_read_u32(&root->phase);
	TimestampTz start = GetCurrentTimestamp();
	uint32		wait_event = WaitEventExtensionNew("HpSortResidentDrop");

	(void) pg_atomic_exchange_u32(&root->phase, 1 - last);
	while (pg_atomic_read_u32(&root->copying[last]) > 0 && !ShutdownRequestPending &&
		   !TimestampDifferenceExceeds(start, GetCurrentTimestamp(), COPYING_MS))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	/* The latch may have been set for something else, which the worker's loop looks at. */
	SetLatch(MyLatch);
	return pg_atomic_read_u32(&root->copying[last]) == 0;
}

void
resident_drop_slabs(ResidentRoot *root)
{
	bool		unused;
	int			s;

	map_slabs(root);
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	memset(root->buckets, 0, sizeof(root->buckets));
	for (s = 0; s < RESIDENT_SLABS; s++)
	{
		if (root->slabs[s].serial == 0)
			continue;
		root->slabs[s].serial = 0;
		dsm_unpin_segment(root->slabs[s].handle);
	}
	root->allocated = 0;
	pg_atomic_fetch_add_u64(&root->losses, 1);
	LWLockRelease(&root->lock);

	unused = wait_for_copying(root);
	for (s = 0; s < RESIDENT_SLABS; s++)
	{
		if (mapped[s].serial == 0)
			continue;
#ifdef MADV_REMOVE

		/*
		 * Sessions may keep the slab mapped for long.  Its pages are given back at once if no
		 * process copies, otherwise when the sessions unmap it.
		 */
		if (unused)
			(void) madvise(mapped[s].base, dsm_segment_map_length(mapped[s].segment), MADV_REMOVE);
#endif
		mapped[s].serial = 0;
		dsm_detach(mapped[s].segment);
	}
}

/*
 * slabs.c
 *		Slabs and their free pages (see slabs.h).
 */
#include "postgres.h"

#include <sys/mman.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "utils/freepage.h"

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
	pg_atomic_init_u32(&root->copying, 0);
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
	return mapped[s].base + RESIDENT_PLACE_OFFSET(place);
}

bool
resident_reaches(ResidentPlace place, Size size)
{
	return RESIDENT_PLACE_OFFSET(place) + size <= mapped[(place >> 40) - 1].size;
}

/* --- pages */

/* The pages at a slab's start that have its FreePageManager. */
#define MANAGER_PAGES (fpm_size_to_pages(sizeof(FreePageManager)))

static inline FreePageManager *
free_pages(int s)
{
	return (FreePageManager *) mapped[s].base;
}

bool
resident_could_hold(const ResidentRoot *root, Size size)
{
	int			s;

	for (s = 0; s < RESIDENT_SLABS; s++)
		if (root->slabs[s].serial != 0 &&
			root->slabs[s].npages - MANAGER_PAGES >= fpm_size_to_pages(size))
			return true;
	return false;
}

ResidentPlace
resident_allocate(ResidentRoot *root, Size size)
{
	Size		page;
	int			s;

	for (s = 0; s < RESIDENT_SLABS; s++)
		if (root->slabs[s].serial != 0 &&
			FreePageManagerGet(free_pages(s), fpm_size_to_pages(size), &page))
			return RESIDENT_PLACE(s, page * FPM_PAGE_SIZE);
	return 0;
}

void
resident_free(ResidentRoot *root, ResidentPlace place, Size size)
{
	/*
	 * A barrier, too: losses changes before anything is written there, by the manager among
	 * others.
	 */
	pg_atomic_fetch_add_u64(&root->losses, 1);
	FreePageManagerPut(free_pages((int) (place >> 40) - 1),
					   RESIDENT_PLACE_OFFSET(place) / FPM_PAGE_SIZE, fpm_size_to_pages(size));
}

/* --- for the worker */

bool
resident_add_slab(ResidentRoot *root, dsm_segment *segment)
{
	uint64		size = dsm_segment_map_length(segment);
	char	   *base = dsm_segment_address(segment);
	Size		npages = size / FPM_PAGE_SIZE;
	int			s;

	FreePageManagerInitialize((FreePageManager *) base, base);
	FreePageManagerPut((FreePageManager *) base, MANAGER_PAGES, npages - MANAGER_PAGES);
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
		slab->npages = npages;
		root->allocated += size;
		mapped[s].serial = slab->serial;
		mapped[s].segment = segment;
		mapped[s].base = base;
		mapped[s].size = size;
		break;
	}
	LWLockRelease(&root->lock);
	return s < RESIDENT_SLABS;
}

void
resident_start_copying(void)
{
	ResidentRoot *root = resident_root();

	/*
	 * A barrier, as is wait_for_copying(): a process that still finds a slab began to copy before
	 * the slab was dropped.
	 */
	if (root)
		pg_atomic_fetch_add_u32(&root->copying, 1);
}

void
resident_stop_copying(void)
{
	if (the_root)
		pg_atomic_fetch_sub_u32(&the_root->copying, 1);
}

/*
 * Waits until no process copies, for COPYING_MS at the latest; returns whether that is so.  A
 * process that begins while this waits finds no slab, and ends at once.  Does not wait longer when
 * the worker is to end.
 */
static bool
wait_for_copying(ResidentRoot *root)
{
	TimestampTz start = GetCurrentTimestamp();
	uint32		wait_event = WaitEventExtensionNew("HpSortResidentDrop");
	bool		copying;

	pg_memory_barrier();
	while ((copying = pg_atomic_read_u32(&root->copying) > 0) && !ShutdownRequestPending &&
		   !TimestampDifferenceExceeds(start, GetCurrentTimestamp(), COPYING_MS))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1, wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	/* The latch may have been set for something else, which the worker's loop looks at. */
	SetLatch(MyLatch);
	return !copying;
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

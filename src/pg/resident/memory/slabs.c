/*
 * slabs.c
 *		Slabs and their free pages (see slabs.h).
 */
#include "postgres.h"

#include <sys/mman.h>

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
	for (int s = 0; s < RESIDENT_SLABS; s++)
		if (mapped[s].serial != root->slabs[s].serial)
			return false;
	return true;
}

/* What resident_segment() is asked for, and the result. */
typedef struct SegmentCall
{
	dsm_handle	handle;
	Size		size;
	dsm_segment *segment;
} SegmentCall;

/*
 * For guarded_call: makes a segment, if a size is given, or attaches to one; and pins the mapping.
 */
static void
open_segment(void *arg)
{
	SegmentCall *call = (SegmentCall *) arg;

	call->segment = call->size > 0 ? dsm_create(call->size, DSM_CREATE_NULL_IF_MAXSEGMENTS)
		: dsm_attach(call->handle);
	if (call->segment)
		dsm_pin_mapping(call->segment);
}

dsm_segment *
resident_segment(dsm_handle handle, Size size, ErrorData **error)
{
	SegmentCall call = {.handle = handle,.size = size};

	return guarded_call(open_segment, &call, error) ? call.segment : NULL;
}

/*
 * Maps the slabs that are not mapped yet, and unmaps slabs that are gone.  A scan of this process
 * may still have a pointer into a slab that is unmapped here, but it asks for the extent's address
 * again before it follows the pointer.  Takes the lock for a moment, and not while it maps: that
 * may take long, and may fail.
 */
static void
map_slabs(ResidentRoot *root)
{
	ResidentSlab slabs[RESIDENT_SLABS];

	LWLockAcquire(&root->lock, LW_SHARED);
	memcpy(slabs, root->slabs, sizeof(slabs));
	LWLockRelease(&root->lock);
	for (int s = 0; s < RESIDENT_SLABS; s++)
	{
		MappedSlab *slab = &mapped[s];

		if (slab->serial == slabs[s].serial)
			continue;
		if (slab->serial != 0)
			dsm_detach(slab->segment);
		slab->serial = 0;
		if (slabs[s].serial == 0 || slabs[s].serial == failed_serial)
			continue;
		slab->segment = resident_segment(slabs[s].handle, 0, NULL);
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
	/*
	 * Usually all slabs are mapped already.  The worker may add or drop some while this process
	 * maps slabs, hence a third attempt; a slab that cannot be mapped fails all of them.
	 */
	for (int attempt = 0; attempt < 3; attempt++)
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

const char *
resident_address(const ResidentExtent *extent)
{
	ResidentRoot *root = resident_root();

	/* What is mapped here stays mapped until this process takes the lock. */
	const char *bytes = root ? resident_pointer(root, extent->place) : NULL;

	/* The place may be of an earlier slab of that number, which was larger. */
	return bytes && RESIDENT_PLACE_OFFSET(extent->place) + extent->size <=
		mapped[(extent->place >> 40) - 1].size ? bytes : NULL;
}

/* --- pages */

/* The pages at a slab's start that have its FreePageManager. */
#define MANAGER_PAGES (fpm_size_to_pages(sizeof(FreePageManager)))

/* Returns the free pages of slab s, which is mapped.  Needs the lock. */
static inline FreePageManager *
free_pages(int s)
{
	return (FreePageManager *) mapped[s].base;
}

bool
resident_could_hold(const ResidentRoot *root, Size size)
{
	for (int s = 0; s < RESIDENT_SLABS; s++)
		if (root->slabs[s].serial != 0 &&
			root->slabs[s].npages - MANAGER_PAGES >= fpm_size_to_pages(size))
			return true;
	return false;
}

ResidentPlace
resident_allocate(ResidentRoot *root, Size size)
{
	Size		page;

	for (int s = 0; s < RESIDENT_SLABS; s++)
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

	/* Nobody else knows of the segment yet: no lock. */
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

	/* All slabs were made here, and are mapped, unless an earlier worker made them. */
	map_slabs(root);
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	memset(root->buckets, 0, sizeof(root->buckets));
	root->changes++;
	for (int s = 0; s < RESIDENT_SLABS; s++)
	{
		if (root->slabs[s].serial == 0)
			continue;
		root->slabs[s].serial = 0;
		dsm_unpin_segment(root->slabs[s].handle);
	}
	root->allocated = 0;
	/* Whoever is copying finds that the bytes were not to be trusted. */
	pg_atomic_fetch_add_u64(&root->losses, 1);
	LWLockRelease(&root->lock);

	unused = wait_for_copying(root);
	for (int s = 0; s < RESIDENT_SLABS; s++)
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

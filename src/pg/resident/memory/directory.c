/*
 * directory.c
 *		Which columns are resident, and their extents (see resident.h).
 *
 * A column is found by its table and attribute from one of the root's buckets.  Its map, an array
 * of what is known of each extent, is another piece of memory, and so is each extent.  A column is
 * looked up anew each time the lock is taken, because it may have been given up.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/freepage.h"

#include "pg/guc.h"
#include "pg/resident/memory/directory.h"
#include "pg/resident/memory/worker.h"

bool
resident_enabled(void)
{
	return hpsort_resident_memory > 0 && hpsort_enable_resident;
}

uint64
resident_epoch(void)
{
	ResidentRoot *root = hpsort_resident_memory > 0 ? resident_root() : NULL;

	return root ? root->epoch : 0;
}

/* --- with the lock */

/* Returns where the list of columns begins that a column belongs to, by hash. */
static ResidentPlace *
find_bucket(ResidentRoot *root, Oid database, Oid relid, uint32 attnum)
{
	uint32		hash = hash_combine(hash_combine(murmurhash32(database), murmurhash32(relid)),
									murmurhash32(attnum));

	return &root->buckets[hash % RESIDENT_BUCKETS];
}

/*
 * Returns the column of a table and attribute, whatever else its key says; NULL if there is
 * none.
 */
static ResidentColumn *
find_attribute(ResidentRoot *root, const ResidentKey *key)
{
	ResidentColumn *column = directory_column(root, *find_bucket(root, key->database, key->relid,
																 key->attnum));

	while (column && (column->key.database != key->database || column->key.relid != key->relid ||
					  column->key.attnum != key->attnum))
		column = directory_column(root, column->next);
	return column;
}

ResidentColumn *
directory_find(ResidentRoot *root, const ResidentKey *key)
{
	ResidentColumn *column = find_attribute(root, key);

	return column && memcmp(&column->key, key, sizeof(*key)) == 0 ? column : NULL;
}

/* Returns the extent of that number if it is still of that generation, else NULL. */
static ResidentExtent *
find_generation(ResidentRoot *root, const ResidentKey *key, uint32 number, uint64 generation)
{
	ResidentColumn *column = directory_find(root, key);
	ResidentExtent *extent = column ? directory_extent(root, column, number) : NULL;

	return extent && extent->generation == generation ? extent : NULL;
}

/* Makes the bounds of a column's values the bounds of no values. */
static void
forget_bounds(ResidentColumn *column)
{
	column->summary.lo = PG_INT64_MAX;
	column->summary.hi = PG_INT64_MIN;
}

/* Gives up an extent, if there is one. */
static void
drop_extent(ResidentRoot *root, ResidentColumn *column, ResidentExtent *extent)
{
	if (extent->generation == 0)
		return;
	column->status.bytes -= extent->size;
	column->summary.rows -= extent->rows;
	column->nextents--;
	root->changes++;
	if (column->nextents == 0)
		forget_bounds(column);
	resident_free(root, extent->place, extent->size);
	memset(extent, 0, sizeof(*extent));
}

/* Gives up the values of which a column's extents, which are gone, had numbers. */
static void
drop_values(ResidentRoot *root, ResidentColumn *column)
{
	value_parts_drop(root, &column->values);
	column->numbered_extents = column->first_values = 0;
	column->numbered = column->numbered_anew = column->first_rows = 0;
	column->fullest = 0;
}

void
directory_drop_values(ResidentRoot *root, ResidentColumn *column, bool no_repeats)
{
	for (uint32 i = 0; i < column->capacity; i++)
		drop_extent(root, column, directory_extent(root, column, i));
	drop_values(root, column);
	column->summary.no_repeats = no_repeats;
}

void
directory_drop(ResidentRoot *root, ResidentColumn *column)
{
	ResidentPlace *link = find_bucket(root, column->key.database, column->key.relid,
									  column->key.attnum);

	directory_drop_values(root, column, false);
	if (column->map != 0)
		resident_free(root, column->map, column->capacity * sizeof(ResidentExtent));
	while (*link != column->place)
		link = &directory_column(root, *link)->next;
	*link = column->next;
	resident_free(root, column->place, sizeof(ResidentColumn));
}

/* Returns a new column; NULL if there is no room. */
static ResidentColumn *
make_column(ResidentRoot *root, const ResidentKey *key)
{
	ResidentPlace *bucket = find_bucket(root, key->database, key->relid, key->attnum);
	ResidentPlace place = resident_allocate(root, sizeof(ResidentColumn));
	ResidentColumn *column = directory_column(root, place);

	if (column == NULL)
		return NULL;
	memset(column, 0, sizeof(*column));
	column->place = place;
	column->key = *key;
	column->next = *bucket;
	column->status.reason = RESIDENT_READ_ONCE;
	forget_bounds(column);
	*bucket = place;
	return column;
}

/* Returns the bytes of a map of nextents extents and some more, which the table may soon have. */
static Size
map_size(uint32 nextents)
{
	return ((Size) nextents + nextents / 4 + 16) * sizeof(ResidentExtent);
}

/* Enlarges a map to nextents extents.  Returns false if there is no room. */
static bool
grow_map(ResidentRoot *root, ResidentColumn *column, uint32 nextents)
{
	Size		size = map_size(nextents);
	Size		old_size = column->capacity * sizeof(ResidentExtent);
	ResidentPlace place;
	char	   *map;

	if (nextents <= column->capacity)
		return true;
	place = resident_allocate(root, size);
	if (place == 0)
		return false;
	map = resident_pointer(root, place);
	memset(map, 0, size);
	if (column->map != 0)
	{
		memcpy(map, resident_pointer(root, column->map), old_size);
		resident_free(root, column->map, old_size);
	}
	column->map = place;
	column->capacity = (uint32) (size / sizeof(ResidentExtent));
	return true;
}

/* --- giving up */

/*
 * Gives up an extent of a column, or the column if it has none, unless it has been used lately.
 * Returns how many bytes are free by that.
 */
static Size
sweep_extent(ResidentRoot *root, ResidentColumn *column, uint32 number)
{
	ResidentExtent *extent = directory_extent(root, column, number);
	Size		size;

	/* A column without extents is looked at once each time round: where its first one would be. */
	if (column->nextents == 0 && number == 0 && column->usage > 0)
		column->usage--;
	else if (column->nextents == 0 && number == 0)
	{
		size = sizeof(ResidentColumn) + column->capacity * sizeof(ResidentExtent);
		directory_drop(root, column);
		return size;
	}
	else if (extent && extent->usage > 0)
		extent->usage--;
	else if (extent && extent->generation != 0)
	{
		size = extent->size;
		drop_extent(root, column, extent);
		if (column->nextents == 0)
		{
			size += column->values.bytes;
			drop_values(root, column);
		}
		column->status.evictions++;
		column->status.reason = RESIDENT_NO_ROOM;
		return size;
	}
	return 0;
}

/*
 * Sweeps the extents of one number of all columns in a bucket, but for the column of key.  Then
 * moves the root's hand on: to the next number, or, if no column there has more, to the next
 * bucket, which is counted in sweep.  Returns how many bytes are free by that.
 */
static Size
sweep_bucket(ResidentRoot *root, const ResidentKey *key, ResidentSweep *sweep)
{
	ResidentPlace place = root->buckets[root->hand_bucket];
	bool		more = false;
	Size		freed = 0;

	while (place != 0)
	{
		ResidentColumn *column = directory_column(root, place);

		/* Before the column may be given up. */
		place = column->next;
		more = more || root->hand_extent + 1 < column->capacity;
		if (memcmp(&column->key, key, sizeof(*key)) != 0)
			freed += sweep_extent(root, column, root->hand_extent);
	}
	root->hand_extent++;
	if (!more)
	{
		root->hand_extent = 0;
		root->hand_bucket = (root->hand_bucket + 1) % RESIDENT_BUCKETS;
		sweep->searched++;
	}
	return freed;
}

/*
 * Gives up extents of other columns until size bytes have become free.  Returns false if all have
 * been swept before that, or no slab is as large.
 */
static bool
sweep_for(ResidentRoot *root, const ResidentKey *key, Size size, ResidentSweep *sweep)
{
	Size		freed = 0;

	if (!resident_could_hold(root, size))
		return false;
	/* One bucket more than there are: the hand may have begun in the middle of one. */
	while (freed < size && sweep->searched <= RESIDENT_BUCKETS)
		freed += sweep_bucket(root, key, sweep);
	return freed >= size;
}

bool
directory_get_room(ResidentRoot *root, const ResidentKey *key, Size size, Size ask,
				   ResidentSweep *sweep)
{
	bool		more = true;

	if (sweep->full)
		more = !sweep->free_only && sweep_for(root, key, size, sweep);
	resident_unlock(root);
	if (!sweep->full)
		sweep->full = !resident_worker_ask(root, ask, sweep->free_only, &sweep->reason);
	else if (!more && sweep->reason == RESIDENT_OK)
		sweep->reason = RESIDENT_NO_ROOM;
	return more;
}

/* --- reading */

bool
resident_begin(const ResidentKey *key, uint32 nextents, ResidentSweep *sweep,
			   ResidentSummary *summary)
{
	ResidentRoot *root = resident_root();
	Size		size = map_size(nextents);
	ResidentColumn *column;

	if (root == NULL)
		return false;
	for (;;)
	{
		if (!resident_lock(root, LW_EXCLUSIVE))
			return false;
		column = find_attribute(root, key);
		/* The table has another file, or the attribute another type or default. */
		if (column && memcmp(&column->key, key, sizeof(*key)) != 0)
		{
			directory_drop(root, column);
			column = NULL;
		}
		if (column == NULL)
			column = make_column(root, key);
		if (column && grow_map(root, column, nextents))
			break;
		if (!directory_get_room(root, key, size + sizeof(ResidentColumn), size + RESIDENT_MB,
								sweep))
			return false;
	}
	column->usage = RESIDENT_MAX_USAGE;
	column->wanted = nextents;
	if (column->summary.no_repeats)
		sweep->reason = RESIDENT_NO_REPEATS;
	*summary = column->summary;
	resident_unlock(root);
	return true;
}

bool
resident_summarize(const ResidentKey *key, ResidentSummary *summary)
{
	ResidentRoot *root = resident_root();
	ResidentColumn *column;

	if (root == NULL || !resident_lock(root, LW_SHARED))
		return false;
	column = directory_find(root, key);
	if (column)
		*summary = column->summary;
	resident_unlock(root);
	return column != NULL;
}

void
resident_end(const ResidentKey *key, const ResidentUse *use)
{
	ResidentRoot *root = resident_root();
	ResidentColumn *column;

	if (root == NULL || !resident_lock(root, LW_EXCLUSIVE))
		return;
	column = directory_find(root, key);
	if (column)
	{
		column->status.blocks = use->blocks;
		column->status.hits += use->hits;
		column->status.gpu_hits += use->gpu_hits;
		column->status.refreshes += use->refreshes;
		/* Another process has kept the values since this one found that they are not read twice. */
		if (use->reason != RESIDENT_READ_ONCE || column->summary.reads == 0)
			column->status.reason = use->reason;
		column->status.filler = 0;
		column->summary.reads += use->complete;
	}
	resident_unlock(root);
}

void
resident_note_fill(const ResidentKey *key, int64 filled, int64 blocks)
{
	ResidentRoot *root = resident_root();
	ResidentColumn *column;

	if (root == NULL || !resident_lock(root, LW_EXCLUSIVE))
		return;
	column = directory_find(root, key);
	if (column)
	{
		column->status.filler = MyProcPid;
		column->status.filled = filled;
		column->status.blocks = blocks;
	}
	resident_unlock(root);
}

uint64
resident_look(const ResidentKey *key, uint32 first, int n, ResidentExtent *extents)
{
	ResidentRoot *root = resident_root();
	ResidentColumn *column;
	uint64		seen;
	int			known = 0;

	memset(extents, 0, n * sizeof(ResidentExtent));
	if (root == NULL || !resident_lock(root, LW_SHARED))
		return 0;
	column = directory_find(root, key);
	if (column && first < column->capacity)
	{
		known = Min((uint32) n, column->capacity - first);
		memcpy(extents, directory_extent(root, column, first), known * sizeof(ResidentExtent));
	}
	/* With the lock, so that nothing is given up between this and what has been copied. */
	seen = pg_atomic_read_u64(&root->losses);
	resident_unlock(root);
	return seen;
}

bool
resident_holds(const ResidentKey *key, uint32 number, const ResidentExtent *extent, uint64 seen)
{
	ResidentRoot *root = resident_root();
	bool		holds;

	/* The bytes have been read before losses is read. */
	pg_read_barrier();
	/* The usual case: nothing at all has been given up, and no lock is needed. */
	if (pg_atomic_read_u64(&root->losses) == seen)
		return true;
	if (!resident_lock(root, LW_SHARED))
		return false;
	holds = find_generation(root, key, number, extent->generation) != NULL;
	resident_unlock(root);
	return holds;
}

void
resident_mark(const ResidentKey *key, uint32 number, const ResidentExtent *extent, uint64 stamp,
			  const ResidentBlocks *blocks)
{
	ResidentRoot *root = resident_root();
	ResidentExtent *known;

	if (root == NULL || !resident_lock(root, LW_EXCLUSIVE))
		return;
	known = find_generation(root, key, number, extent->generation);
	if (known)
		known->usage = extent->usage;
	if (known && blocks)
	{
		/* Blocks that were found to have changed never come back. */
		for (int w = 0; w < (int) lengthof(blocks->words); w++)
			known->blocks.words[w] &= blocks->words[w];
		known->stamp = Max(known->stamp, stamp);
		root->changes++;
	}
	resident_unlock(root);
}

/* --- filling */

/*
 * Returns a place for an extent of size bytes, and holds the lock.  Returns 0, without the lock, if
 * there is no room.
 */
static ResidentPlace
find_room(ResidentRoot *root, const ResidentKey *key, Size size, Size expected,
		  ResidentSweep *sweep)
{
	for (;;)
	{
		ResidentPlace place;

		if (!resident_lock(root, LW_EXCLUSIVE))
		{
			sweep->reason = RESIDENT_NO_MEMORY;
			return 0;
		}
		place = resident_allocate(root, size);
		if (place != 0)
			return place;
		if (!directory_get_room(root, key, size, expected + expected / 8 + 2 * FPM_PAGE_SIZE,
								sweep))
			return 0;
	}
}

/* Whether values hardly repeat if as many of the numbered ones do, and others are missing. */
static bool
hardly_repeat(double repeats, int64 numbered, double missing)
{
	double		n = (double) numbered;

	return 2 * repeats * (n + missing) < n * n;
}

/*
 * Notes that an extent of numbers of values has been made.  Returns false, and gives up all of the
 * column, if that is better: if values hardly repeat, or most of them are dead.
 *
 * Numbers save nothing if values occur less than twice.  How often they will have occurred at the
 * table's end is known only there, or after most of the table; before, it is asked if statistics
 * say that they hardly repeat, and a part of the table is expected to have as large a part of the
 * repeats.  Extents that are missing are taken to have as many values as the fullest has: rows
 * may have been deleted from those that are there.
 *
 * Values are dead if all extents that had them have been made anew.  If many extents have been, and
 * values hardly repeat, or there are twice as many for as many rows as when most of the table had
 * extents for the first time, most of the values are dead, or have come since.  So are values that
 * were saved, and are too many for the extents that were saved with them.
 *
 * That values hardly repeat is noted, so that they are not read again, only if they hardly did even
 * if each value that was numbered since the first extent was made anew were one of a row that has
 * been replaced.
 */
static bool
is_worth_numbers(ResidentRoot *root, ResidentColumn *column, const ResidentExtent *extent,
				 const ResidentSweep *sweep)
{
	double		values = column->values.n;
	uint32		known = extent->rows - extent->nulls;
	double		repeats;
	double		missing;		/* values of extents that are missing */
	bool		most;
	bool		asks;
	bool		more;
	bool		noted;
	uint32		anew;			/* extents that have been made more than once */

	column->numbered_extents++;
	column->numbered += known;
	column->fullest = Max(column->fullest, known);
	anew = column->numbered_extents - Min(column->numbered_extents, column->nextents);
	if (anew > 0)
		column->numbered_anew += known;
	repeats = (double) column->numbered - values;
	missing = (double) column->fullest * (column->wanted - Min(column->nextents, column->wanted));
	most = 7 * missing <= (double) column->numbered;
	asks = (most || sweep->many) && column->numbered >= RESIDENT_LEAST_NUMBERED;
	if (most && column->first_values == 0)
	{
		column->first_values = column->values.n;
		column->first_rows = column->summary.rows;
	}
	more = values >= RESIDENT_LEAST_NUMBERED && column->first_values > 0 &&
		values * column->first_rows >= 2.0 * column->first_values *
		Max(column->first_rows, column->summary.rows);
	if (!(asks && hardly_repeat(repeats, column->numbered, missing)) &&
		!(more && 2 * anew >= column->nextents))
		return true;
	noted = asks && !sweep->saved &&
		hardly_repeat(repeats, column->numbered - column->numbered_anew, missing);
	directory_drop_values(root, column, noted);
	return false;
}

bool
resident_publish(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
				 const void *bytes, Size size, Size expected, ResidentSweep *sweep)
{
	ResidentRoot *root = resident_root();
	ResidentPlace place;
	ResidentColumn *column;
	ResidentExtent *known;

	if (root == NULL)
		return false;
	place = find_room(root, key, size, expected, sweep);
	if (place == 0)
		return false;
	column = directory_find(root, key);
	known = column ? directory_extent(root, column, number) : NULL;

	/* The column has been given up, or its values, or has another key, since the read began. */
	if (known == NULL || extent->values != column->values.generation)
	{
		resident_free(root, place, size);
		resident_unlock(root);
		return false;
	}
	drop_extent(root, column, known);
	memcpy(resident_pointer(root, place), bytes, size);
	*known = *extent;
	known->generation = ++root->generations;
	known->place = place;
	known->size = (uint32) size;
	known->usage = Min(extent->usage, RESIDENT_MAX_USAGE);
	column->status.bytes += (int64) size;
	column->summary.rows += extent->rows;
	column->summary.lo = Min(column->summary.lo, extent->base);
	column->summary.hi = Max(column->summary.hi, (int64) ((uint64) extent->base + extent->top));
	column->nextents++;
	root->changes++;
	if (extent->values != 0 && !is_worth_numbers(root, column, extent, sweep))
		sweep->reason = column->summary.no_repeats ? RESIDENT_NO_REPEATS : RESIDENT_OK;
	resident_unlock(root);
	return true;
}

void
resident_refuse(const ResidentKey *key, uint32 number)
{
	ResidentRoot *root = resident_root();
	ResidentColumn *column;
	ResidentExtent *extent;

	if (root == NULL || !resident_lock(root, LW_EXCLUSIVE))
		return;
	column = directory_find(root, key);
	extent = column ? directory_extent(root, column, number) : NULL;
	if (extent)
	{
		drop_extent(root, column, extent);
		extent->refused = true;
	}
	resident_unlock(root);
}

Size
resident_footprint(Size size)
{
	return TYPEALIGN(FPM_PAGE_SIZE, size) + sizeof(ResidentExtent);
}

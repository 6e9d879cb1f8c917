/*
 * fill.c
 *		Making the missing extents of a table's columns (see fill.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/compat.h"
#include "pg/resident/extents/extents.h"
#include "pg/resident/source/fill.h"
#include "pg/resident/source/page_list.h"

/* How many blocks a step goes through. */
#define STEP_BLOCKS (32 * RESIDENT_EXTENT_BLOCKS)

struct ResidentFill
{
	MemoryContext memory;
	BlockNumber nblocks;		/* of the table when the fill began */
	BlockNumber next;
	int			ncolumns;
	SourceColumn *columns;
	int64	   *valid;			/* by column: blocks that were valid before */
	bool		works;			/* an extent was missing */
	VisibilityCopy map;
};

/* --- beginning and ending */

/* Returns the declared columns of a table.  The type of one may have been altered since. */
static Bitmapset *
declared_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *attnums = NULL;

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
		if (residency_keeps_column(TupleDescAttr(desc, attnum - 1)) &&
			resident_is_kept(RelationGetRelid(rel), attnum))
			attnums = bms_add_member(attnums, attnum);
	return attnums;
}

/* Enters the columns; false if there is no memory for one of them. */
static bool
begin_columns(ResidentFill *fill, Relation rel, const Bitmapset *attnums)
{
	uint32		nextents = visibility_extent(fill->nblocks - 1) + 1;
	int			attnum = -1;

	fill->columns = source_columns_make(bms_num_members(attnums), fill->nblocks);
	fill->valid = palloc0_array(int64, bms_num_members(attnums));
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		SourceColumn *column = &fill->columns[fill->ncolumns++];
		ResidentSummary summary;

		residency_key(rel, (AttrNumber) attnum, &column->reader.key);
		column->sweep.free_only = true;
		if (!resident_begin(&column->reader.key, nextents, &column->sweep, &summary))
			return false;
		column->capture = true;
	}
	return true;
}

ResidentFill *
resident_fill_begin(Relation rel, MemoryContext parent)
{
	BlockNumber nblocks = 0;
	MemoryContext old;
	ResidentFill *fill;
	Bitmapset  *attnums;
	bool		begun;

	if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		nblocks = RelationGetNumberOfBlocks(rel);
	if (!resident_enabled() || residency_refusal(rel, nblocks) != NULL ||
		!residency_is_allowed(rel, GetActiveSnapshot()))
		return NULL;
	attnums = declared_columns(rel);
	if (attnums == NULL)
		return NULL;
	old = MemoryContextSwitchTo(AllocSetContextCreate(parent, "HpSort Resident Fill",
													  ALLOCSET_DEFAULT_SIZES));
	fill = palloc0_object(ResidentFill);
	fill->memory = CurrentMemoryContext;
	fill->nblocks = nblocks;
	begun = begin_columns(fill, rel, attnums);
	MemoryContextSwitchTo(old);
	if (begun)
		return fill;
	resident_fill_end(fill);
	return NULL;
}

bool
resident_fill_fits(const ResidentFill *fill, Relation rel)
{
	Bitmapset  *attnums = declared_columns(rel);
	int			attnum = -1;
	int			c = 0;

	if (bms_num_members(attnums) != fill->ncolumns)
		return false;
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		ResidentKey key;

		residency_key(rel, (AttrNumber) attnum, &key);
		if (memcmp(&key, &fill->columns[c++].reader.key, sizeof(key)) != 0)
			return false;
	}
	return true;
}

/* Notes in the directory what the fill has done. */
static void
end_columns(const ResidentFill *fill)
{
	for (int c = 0; c < fill->ncolumns; c++)
	{
		const SourceColumn *column = &fill->columns[c];
		ResidentUse use = {
			.blocks = fill->nblocks,
			.refreshes = column->refreshes,
			/* What has not been filled is kept by the next read. */
			.complete = true,
			.reason = resident_valid_reason(column, fill->valid[c], fill->next)
		};

		/* An error, or a cancel, has ended it. */
		if (use.reason == RESIDENT_OK && fill->next < fill->nblocks)
			use.reason = column->sweep.reason != RESIDENT_OK ? column->sweep.reason :
				RESIDENT_READ_ONCE;
		resident_end(&column->reader.key, &use);
	}
}

void
resident_fill_end(ResidentFill *fill)
{
	end_columns(fill);
	MemoryContextDelete(fill->memory);
}

/* --- filling */

/* Lists an extent, if it is missing in one of the columns. */
static void
list_extent(ResidentFill *fill, Relation rel, BlockNumber nblocks, PageList *list)
{
	BlockNumber end = Min(visibility_extent_end(fill->next), nblocks);
	ListedExtent extent = {.first = fill->next,.nblocks = (int) (end - fill->next)};
	ResidentHeaders headers = {{{0, 0}}};
	ResidentLook look = {
		.rel = rel,
		.headers = &headers,
		.number = visibility_extent(fill->next),
		.first = extent.first,
		.nblocks = extent.nblocks,
		.whole = true,
		.later = true
	};

	source_columns_look(fill->columns, fill->ncolumns, rel, extent.first, &fill->map);
	look.lsn = extent.lsn = fill->map.lsn;
	look.visible = visibility_copy_blocks(&fill->map, extent.first, extent.nblocks);
	extent.visible = look.visible;
	for (int c = 0; c < fill->ncolumns; c++)
	{
		bool		wants;
		ResidentBlocks valid = resident_valid_find(&look, &fill->columns[c], &wants);

		if (wants)
			extent.wanted = bms_add_member(extent.wanted, c);
		else
			fill->valid[c] += resident_blocks_count(&valid);
	}
	if (extent.wanted)
	{
		fill->works = true;
		extent.blocks = look.visible;
	}
	page_list_add(list, &extent);
	bms_free(extent.wanted);
	fill->next = end;
}

/* Shows how far it has come, once an extent was missing. */
static void
note_progress(const ResidentFill *fill, BlockNumber filled)
{
	for (int c = 0; fill->works && c < fill->ncolumns; c++)
		resident_note_fill(&fill->columns[c].reader.key, filled, fill->nblocks);
}

/* Goes through the next blocks. */
static void
fill_blocks(ResidentFill *fill, Relation rel)
{
	/* Since the last step the table may have become shorter. */
	BlockNumber nblocks = Min(fill->nblocks, RelationGetNumberOfBlocks(rel));
	BlockNumber end = (BlockNumber) Min((uint64) fill->next + STEP_BLOCKS, nblocks);
	PageList   *list;

	if (fill->next < end)
	{
		BlockNumber first = fill->next;

		list = page_list_make(rel, nblocks, fill->ncolumns, fill->columns, STEP_BLOCKS);
		fill->map.first = InvalidBlockNumber;
		while (fill->next < end)
		{
			CHECK_FOR_INTERRUPTS();
			list_extent(fill, rel, nblocks, list);
		}
		note_progress(fill, first);
		page_list_read(list);
	}
	if (fill->next >= nblocks)
		fill->next = fill->nblocks;
	note_progress(fill, fill->next);
}

/* Whether there is no memory for more extents. */
static bool
is_full(const ResidentFill *fill)
{
	for (int c = 0; c < fill->ncolumns; c++)
	{
		ResidentReason reason = fill->columns[c].sweep.reason;

		if (reason != RESIDENT_OK && reason != RESIDENT_NO_REPEATS)
			return true;
	}
	return false;
}

bool
resident_fill_more(ResidentFill *fill, Relation rel)
{
	MemoryContext memory = AllocSetContextCreate(fill->memory, "HpSort Resident Fill Step",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);

	PG_TRY();
	{
		fill_blocks(fill, rel);
	}
	PG_CATCH();
	{
		/* Pages may be on their way to buffers, and be reported to the stream, which stays. */
		end_columns(fill);
		PG_RE_THROW();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
	return fill->next < fill->nblocks && !is_full(fill);
}

bool
resident_fill_table(Relation rel)
{
	ResidentFill *fill;

	if (!RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		return true;
	fill = resident_fill_begin(rel, CurrentMemoryContext);
	if (fill == NULL)
		return residency_refusal(rel, RelationGetNumberOfBlocks(rel)) != NULL ||
			residency_is_allowed(rel, GetActiveSnapshot());
	while (resident_fill_more(fill, rel))
		CHECK_FOR_INTERRUPTS();
	resident_fill_end(fill);
	return true;
}

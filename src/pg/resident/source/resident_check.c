/*
 * resident_check.c
 *		A resident column compared with its table (see resident_check.h).
 *
 * Which blocks are valid is decided by a ResidentSource, as it is for queries.  The table is read
 * by core's sequential scan.  Both come in the order of blocks, so that one pass over the table is
 * enough.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pg/resident/extents/extents.h"
#include "pg/resident/source/resident_check.h"
#include "pg/resident/source/resident_source.h"
#include "pg/values/values.h"

/* The table, row by row. */
typedef struct TableRows
{
	TableScanDesc scan;
	TupleTableSlot *slot;
	bool		more;			/* the slot has a row that has not been compared */
	AttrNumber	attnum;
	ColumnDomain domain;
	Form_pg_attribute att;
	ColumnDictionary *dictionary;	/* of a domain of numbers; or NULL */
	uint64		generation;		/* of the values that rows in memory have numbers of */
} TableRows;

/* Moves on to the table's next row, in the order of blocks and line numbers. */
static inline void
next_row(TableRows *table)
{
	table->more = table_scan_getnextslot(table->scan, ForwardScanDirection, table->slot);
}

static void
open_table(TableRows *table, Relation rel, Snapshot snapshot)
{
	/* Not synchronized with other scans: from the first block on. */
	table->scan = table_beginscan_strat(rel, snapshot, 0, NULL, true, false);
	table->slot = table_slot_create(rel, NULL);
	next_row(table);
}

static void
close_table(TableRows *table)
{
	ExecDropSingleTupleTableSlot(table->slot);
	table_endscan(table->scan);
}

/*
 * Whether a number stands for the bytes of a value; true if what it stands for has just been given
 * up.
 */
static bool
number_is_of(const TableRows *table, uint32 number, Datum value)
{
	ColumnDictionary *dictionary = table->dictionary;
	Datum		kept;

	if ((column_dictionary_generation(dictionary) != table->generation ||
		 number >= column_dictionary_size(dictionary)) &&
		!column_dictionary_look(dictionary, table->generation))
		return true;
	return number < column_dictionary_size(dictionary) &&
		(!column_dictionary_value(dictionary, number, &kept) ||
		 datum_image_eq(kept, value, table->att->attbyval, table->att->attlen));
}

/* Whether there is a row i in a batch, which has the column's value of the row in the slot. */
static bool
is_same(const TableRows *table, const ColumnBatch *batch, size_t i)
{
	bool		isnull;
	Datum		datum = slot_getattr(table->slot, table->attnum, &isnull);
	int64		bias = column_kind_bias(table->domain.kind);

	if (i >= batch->n || isnull != (batch->nulls[i] != 0))
		return false;
	if (!isnull && table->dictionary)
		return number_is_of(table, (uint32) column_batch_value(batch, i), datum);
	return isnull ||
		residency_value(&table->domain, datum) == column_batch_value(batch, i) + bias;
}

/* Whether a batch has the rows of a block.  All blocks before it have been compared. */
static bool
block_is_same(TableRows *table, BlockNumber block, const ColumnBatch *batch)
{
	bool		same = true;
	size_t		n = 0;

	for (; table->more; next_row(table))
	{
		BlockNumber at = ItemPointerGetBlockNumber(&table->slot->tts_tid);

		CHECK_FOR_INTERRUPTS();
		if (at > block)
			break;
		if (at == block)
			same = is_same(table, batch, n++) && same;
	}
	return same && n == batch->n;
}

/* Compares all blocks that the source has. */
static void
check_blocks(ResidentSource *source, PageList *list, TableRows *table, ResidentCheck *check)
{
	ColumnBatch batch;
	BlockNumber block;
	ResidentStep step;

	column_batch_make(&batch, BATCH_NULLS |
					  (column_kind_is_wide(table->domain.kind) ? BATCH_WIDE : BATCH_KEYS),
					  MaxHeapTuplesPerPage);
	column_batch_clear(&batch);
	while ((step = resident_source_fill(source, &batch, &block)) != RESIDENT_END)
	{
		if (step == RESIDENT_PAGES)
		{
			/* These blocks are not in memory. */
			page_list_end(list);
			continue;
		}
		table->generation = resident_source_values(source);
		check->blocks++;
		check->rows += (int64) batch.n;
		if (!block_is_same(table, block, &batch) && check->differing++ == 0)
			check->first_differing = block;
		column_batch_clear(&batch);
	}
}

void
resident_check_column(Relation rel, AttrNumber attnum, ResidentCheck *check)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Check",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	TableRows	table = {
		.attnum = attnum,
		.domain = residency_domain(rel, attnum),
		.att = TupleDescAttr(RelationGetDescr(rel), attnum - 1)
	};
	ColumnScan	scan = {
		.rel = rel,
		.snapshot = GetActiveSnapshot(),
		.ncolumns = 1,
		.attnums = &attnum
	};
	ResidentSource *source = NULL;
	PageList   *list;
	ResidentSummary summary;
	ResidentKey key;

	memset(check, 0, sizeof(*check));
	check->first_differing = InvalidBlockNumber;
	/* A column that is not in memory is not entered. */
	residency_key(rel, attnum, &key);
	if (table.domain.kind == COLUMN_KIND_NUMBER)
		table.dictionary = column_dictionary_make(rel, attnum);
	if (resident_summarize(&key, &summary))
		source = resident_source_open(&scan, RelationGetNumberOfBlocks(rel), NULL, &list);
	if (source)
	{
		open_table(&table, rel, scan.snapshot);
		check_blocks(source, list, &table, check);
		close_table(&table);
	}
	MemoryContextSwitchTo(old);
	/* With the source, which is not closed: its read counts for nothing. */
	MemoryContextDelete(memory);
}

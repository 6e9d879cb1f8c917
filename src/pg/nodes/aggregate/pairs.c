/*
 * pairs.c
 *		PairSorter: a bag of (group, value) pairs (see pairs.h).
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buffile.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/pair_rows.h"
#include "pg/nodes/aggregate/pairs.h"

/* Runs that are read, written and merged at once: 16 kB. */
#define BLOCK_RUNS 1024

/* How pairs are coded. */
typedef struct PairCoding
{
	const GroupLayout *groups;
	FieldRange	values;			/* as batches hold them */
	bool		markers;		/* markers have places, below those of values */
	int			value_bits;
	int			bits;			/* in all */
} PairCoding;

/* Runs in order in the temporary file, in blocks. */
typedef struct Segment
{
	PairCoding	coding;
	int			fileno;			/* where its first block is */
	off_t		offset;
	uint64		nblocks;
} Segment;

struct PairSorter
{
	MemoryContext memory;
	const SortContext *context;
	ColumnKind	kind;
	size_t		limit;
	PairCoding	coding;
	LongSorter *sorter;
	PairRows   *rows;			/* instead, where pairs need more than 64 bits */
	uint64		count;

	BufFile    *file;			/* NULL: nothing has been written */
	int			nsegments;
	int			segments_room;
	Segment    *segments;
	uint64		disk;			/* bytes */

	/* a batch's codes */
	uint64		codes[COLUMN_BATCH_KEYS];
	uint32		narrow[COLUMN_BATCH_KEYS];
};

/* --- codes */

static void
set_bits(PairCoding *coding)
{
	uint64		values = field_range_values(&coding->values);
	uint64		markers = coding->markers ? PAIR_MARKERS : 0;

	if (field_range_is_empty(&coding->values))
		coding->value_bits = coding->markers ? 1 : 0;
	else if (values == 0 || values - 1 + markers < values - 1)
		coding->value_bits = markers ? 65 : 64;
	else
		coding->value_bits = values - 1 + markers == 0 ? 0 :
			pg_leftmost_one_pos64(values - 1 + markers) + 1;
	coding->bits = coding->groups->bits + coding->value_bits;
}

/* The place of a value less the value. */
static inline uint64
value_offset(const PairCoding *coding)
{
	return (coding->markers ? PAIR_MARKERS : 0) - (uint64) coding->values.lo;
}

static inline uint64
group_of_code(const PairCoding *coding, uint64 code)
{
	return coding->value_bits < 64 ? code >> coding->value_bits : 0;
}

static inline uint64
place_of_code(const PairCoding *coding, uint64 code)
{
	return coding->value_bits < 64 ? code & ((UINT64CONST(1) << coding->value_bits) - 1) : code;
}

static inline uint64
make_code(const PairCoding *coding, uint64 group, uint64 place)
{
	return coding->value_bits < 64 ? group << coding->value_bits | place : place;
}

static inline bool
place_is_marker(const PairCoding *coding, uint64 place)
{
	return coding->markers && place < PAIR_MARKERS;
}

static GroupValues
make_group_values(int ncolumns)
{
	GroupValues values;

	values.values = palloc0_array(int64, Max(ncolumns, 1));
	values.nulls = palloc0_array(bool, Max(ncolumns, 1));
	return values;
}

/* Turns codes of one coding into those of a wider one, which keeps their order. */
typedef struct Recoding
{
	const PairCoding *from;
	const PairCoding *to;
	bool		started;
	uint64		from_group;
	uint64		to_group;
	GroupValues group;
} Recoding;

static void
begin_recoding(Recoding *recoding, const PairCoding *from, const PairCoding *to)
{
	recoding->from = from;
	recoding->to = to;
	recoding->started = false;
	recoding->group = make_group_values(from->groups->ncolumns);
}

static void
recode(Recoding *recoding, uint64 *codes, size_t n)
{
	const PairCoding *from = recoding->from;
	const PairCoding *to = recoding->to;
	uint64		shift = value_offset(to) - value_offset(from);
	size_t		i;

	for (i = 0; i < n; i++)
	{
		uint64		group = group_of_code(from, codes[i]);
		uint64		place = place_of_code(from, codes[i]);

		if (!recoding->started || group != recoding->from_group)
		{
			group_layout_values(from->groups, group, &recoding->group);
			recoding->to_group = group_layout_code(to->groups, &recoding->group);
			recoding->from_group = group;
			recoding->started = true;
		}
		if (!place_is_marker(from, place))
			place += shift;
		codes[i] = make_code(to, recoding->to_group, place);
	}
}

/* --- the sorter */

static LongSorter *
new_sorter(PairSorter *pairs)
{
	LongSorter *sorter = MemoryContextAlloc(pairs->memory, sizeof(LongSorter));

	long_sorter_init(sorter, pairs->context, pairs->coding.bits, pairs->limit);
	return sorter;
}

PairSorter *
pairs_make(const SortContext *context, const GroupLayout *groups, ColumnKind kind,
		   size_t memory_limit)
{
	PairSorter *pairs = palloc0_object(PairSorter);

	pairs->memory = CurrentMemoryContext;
	pairs->context = context;
	pairs->kind = kind;
	pairs->limit = memory_limit;
	pairs->coding.groups = groups;
	pairs->coding.values = EMPTY_FIELD_RANGE;
	/* The range of a narrow column need not be looked for where there are no groups. */
	if (groups->ncolumns == 0 && kind != COLUMN_KIND_NONE && !column_kind_is_wide(kind))
	{
		pairs->coding.values.lo = PG_INT32_MIN;
		pairs->coding.values.hi = PG_INT32_MAX;
	}
	set_bits(&pairs->coding);
	if (pairs->coding.bits > 64)
		pairs->rows = pair_rows_make(groups->columns, groups->ncolumns, memory_limit);
	else
		pairs->sorter = new_sorter(pairs);
	return pairs;
}

/* Reads what is in memory, in order, a block after the other, into take. */
typedef void (*TakeBlock) (PairSorter *pairs, void *arg, uint64 *codes, uint64 *counts, size_t n);

static void
read_memory(PairSorter *pairs, LongSorter *sorter, TakeBlock take, void *arg)
{
	uint64	   *codes = palloc_array(uint64, 2 * BLOCK_RUNS);
	uint64	   *counts = codes + BLOCK_RUNS;
	LongSorterCursor cursor;
	SortError	err;
	size_t		n;

	pg_sort_check(long_sorter_finish(sorter, &err), &err);
	pg_sort_check(long_sorter_open_cursor(sorter, &cursor, &err), &err);
	do
	{
		pg_sort_check(long_sorter_cursor_runs(&cursor, codes, counts, BLOCK_RUNS, &n, &err), &err);
		if (n > 0)
			take(pairs, arg, codes, counts, n);
		CHECK_FOR_INTERRUPTS();
	} while (n == BLOCK_RUNS);
	pfree(codes);
}

/* A TakeBlock: into the sorter, coded anew. */
static void
take_recoded(PairSorter *pairs, void *arg, uint64 *codes, uint64 *counts, size_t n)
{
	SortError	err;

	recode((Recoding *) arg, codes, n);
	pg_sort_check(long_sorter_add_runs(pairs->sorter, codes, counts, n, &err), &err);
}

/* Adds runs of codes to the rows. */
static void
add_to_rows(PairSorter *pairs, const PairCoding *coding, const uint64 *codes,
			const uint64 *counts, size_t n)
{
	GroupValues group = make_group_values(coding->groups->ncolumns);
	size_t		i;

	for (i = 0; i < n; i++)
	{
		uint64		place = place_of_code(coding, codes[i]);

		group_layout_values(coding->groups, group_of_code(coding, codes[i]), &group);
		if (place_is_marker(coding, place))
			pair_rows_add(pairs->rows, &group, (int) place, 0, (int64) counts[i]);
		else
			pair_rows_add(pairs->rows, &group, PAIR_MARKERS,
						  (int64) (place - value_offset(coding)), (int64) counts[i]);
	}
	pfree(group.values);
	pfree(group.nulls);
}

/* A TakeBlock: into the rows; arg is the coding. */
static void
take_to_rows(PairSorter *pairs, void *arg, uint64 *codes, uint64 *counts, size_t n)
{
	add_to_rows(pairs, (const PairCoding *) arg, codes, counts, n);
}

static void segments_to_rows(PairSorter *pairs);

/* The coding has changed from old, which what is in memory still has. */
static void
change_coding(PairSorter *pairs, const PairCoding *old)
{
	LongSorter *sorter = pairs->sorter;

	set_bits(&pairs->coding);
	if (pairs->rows != NULL)
		return;
	if (pairs->coding.bits > 64)
	{
		pairs->rows = pair_rows_make(pairs->coding.groups->columns, pairs->coding.groups->ncolumns,
									 pairs->limit);
		pairs->sorter = NULL;
		if (long_sorter_count(sorter) > 0)
			read_memory(pairs, sorter, take_to_rows, (void *) old);
		segments_to_rows(pairs);
	}
	else
	{
		pairs->sorter = new_sorter(pairs);
		if (long_sorter_count(sorter) > 0)
		{
			Recoding	recoding;

			begin_recoding(&recoding, old, &pairs->coding);
			read_memory(pairs, sorter, take_recoded, &recoding);
		}
	}
	long_sorter_reset(sorter);
	pfree(sorter);
}

void
pairs_regroup(PairSorter *pairs, const GroupLayout *before)
{
	PairCoding	old = pairs->coding;

	old.groups = before;
	change_coding(pairs, &old);
}

/* Makes sure that values of a range, and markers, have places. */
static void
cover(PairSorter *pairs, const FieldRange *range, bool markers)
{
	PairCoding	old = pairs->coding;
	PairCoding *coding = &pairs->coding;
	bool		widened = field_range_add(&coding->values, range);

	if (!widened && (coding->markers || !markers))
		return;
	coding->markers |= markers;
	set_bits(coding);
	if (widened && coding->value_bits < 64)
	{
		uint64		places = field_range_values(&coding->values) + (coding->markers ? PAIR_MARKERS : 0);

		field_range_extend(&coding->values, &old.values, pairs->kind,
						   (UINT64CONST(1) << coding->value_bits) - places);
	}
	change_coding(pairs, &old);
}

/* --- the temporary file */

typedef struct BlockHeader
{
	uint32		n;
	uint32		ones;			/* all counts are 1, and not written */
} BlockHeader;

/* Writes a block to the end of the file, which is where it stands. */
static void
write_block(PairSorter *pairs, const uint64 *codes, const uint64 *counts, size_t n)
{
	BlockHeader header = {.n = (uint32) n, .ones = 1};
	size_t		i;

	for (i = 0; i < n && header.ones; i++)
		header.ones = counts[i] == 1;
	BufFileWrite(pairs->file, (void *) &header, sizeof(header));
	BufFileWrite(pairs->file, (void *) codes, n * sizeof(uint64));
	if (!header.ones)
		BufFileWrite(pairs->file, (void *) counts, n * sizeof(uint64));
	pairs->disk += sizeof(header) + n * sizeof(uint64) * (header.ones ? 1 : 2);
}

/* A TakeBlock: to the file; arg is the segment. */
static void
take_to_file(PairSorter *pairs, void *arg, uint64 *codes, uint64 *counts, size_t n)
{
	write_block(pairs, codes, counts, n);
	((Segment *) arg)->nblocks++;
}

static BufFile *
new_file(PairSorter *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->memory);
	BufFile    *file;

	PrepareTempTablespaces();
	file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return file;
}

/* A new segment at the end of the file, of the present coding. */
static Segment *
new_segment(PairSorter *pairs)
{
	Segment    *segment;

	if (pairs->nsegments == pairs->segments_room)
	{
		pairs->segments_room = Max(16, 2 * pairs->segments_room);
		pairs->segments = pairs->segments ?
			repalloc(pairs->segments, pairs->segments_room * sizeof(Segment)) :
			MemoryContextAlloc(pairs->memory, pairs->segments_room * sizeof(Segment));
	}
	segment = &pairs->segments[pairs->nsegments++];
	segment->coding = pairs->coding;
	segment->coding.groups = group_layout_copy(pairs->coding.groups);
	segment->nblocks = 0;
	BufFileTell(pairs->file, &segment->fileno, &segment->offset);
	return segment;
}

static void merge_segments(PairSorter *pairs);

/* Writes what is in memory to a segment of its own. */
static void
flush_memory(PairSorter *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->memory);
	Segment    *segment;

	/* A reader of each segment has a block in memory. */
	if (pairs->nsegments > Max(pairs->limit / (4 * BLOCK_RUNS * sizeof(uint64)), 16))
		merge_segments(pairs);
	if (pairs->file == NULL)
		pairs->file = new_file(pairs);
	segment = new_segment(pairs);
	read_memory(pairs, pairs->sorter, take_to_file, segment);
	long_sorter_reset(pairs->sorter);
	MemoryContextSwitchTo(old);
}

/* A position in a segment. */
typedef struct SegmentReader
{
	int			fileno;
	off_t		offset;
	uint64		blocks_left;
	Recoding	recoding;
	size_t		n;
	size_t		at;
	uint64		codes[BLOCK_RUNS];
	uint64		counts[BLOCK_RUNS];
} SegmentReader;

/* Reads the next block, codes being those of recoding.to; false at the end. */
static bool
read_block(PairSorter *pairs, SegmentReader *reader)
{
	BlockHeader header;
	size_t		i;

	reader->at = reader->n = 0;
	if (reader->blocks_left == 0)
		return false;
	if (BufFileSeek(pairs->file, reader->fileno, reader->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of an aggregate")));
	compat_buffile_read(pairs->file, &header, sizeof(header));
	compat_buffile_read(pairs->file, reader->codes, header.n * sizeof(uint64));
	if (!header.ones)
		compat_buffile_read(pairs->file, reader->counts, header.n * sizeof(uint64));
	else
		for (i = 0; i < header.n; i++)
			reader->counts[i] = 1;
	BufFileTell(pairs->file, &reader->fileno, &reader->offset);
	reader->blocks_left--;
	reader->n = header.n;
	recode(&reader->recoding, reader->codes, reader->n);
	CHECK_FOR_INTERRUPTS();
	return true;
}

static SegmentReader *
open_segment(const Segment *segment, const PairCoding *to)
{
	SegmentReader *reader = palloc_object(SegmentReader);

	reader->fileno = segment->fileno;
	reader->offset = segment->offset;
	reader->blocks_left = segment->nblocks;
	begin_recoding(&reader->recoding, &segment->coding, to);
	return reader;
}

/* All segments, merged. */
typedef struct Merge
{
	PairSorter *pairs;
	binaryheap *heap;			/* of SegmentReaders that are not at their ends */
} Merge;

static int
compare_readers(Datum a, Datum b, void *arg)
{
	const SegmentReader *ra = (const SegmentReader *) DatumGetPointer(a);
	const SegmentReader *rb = (const SegmentReader *) DatumGetPointer(b);
	uint64		ca = ra->codes[ra->at];
	uint64		cb = rb->codes[rb->at];

	/* A binaryheap has its largest element first. */
	return ca < cb ? 1 : ca > cb ? -1 : 0;
}

static Merge *
open_merge(PairSorter *pairs)
{
	Merge	   *merge = palloc_object(Merge);
	int			i;

	merge->pairs = pairs;
	merge->heap = binaryheap_allocate(Max(pairs->nsegments, 1), compare_readers, NULL);
	for (i = 0; i < pairs->nsegments; i++)
	{
		SegmentReader *reader = open_segment(&pairs->segments[i], &pairs->coding);

		if (read_block(pairs, reader))
			binaryheap_add_unordered(merge->heap, PointerGetDatum(reader));
	}
	binaryheap_build(merge->heap);
	return merge;
}

/* The next runs in order; fewer than BLOCK_RUNS only at the end. */
static size_t
merge_next(Merge *merge, uint64 *codes, uint64 *counts)
{
	size_t		n = 0;

	while (!binaryheap_empty(merge->heap))
	{
		SegmentReader *reader = (SegmentReader *) DatumGetPointer(binaryheap_first(merge->heap));
		uint64		code = reader->codes[reader->at];

		if (n > 0 && codes[n - 1] == code)
			counts[n - 1] += reader->counts[reader->at];
		else
		{
			if (n == BLOCK_RUNS)
				break;
			codes[n] = code;
			counts[n] = reader->counts[reader->at];
			n++;
		}
		if (++reader->at < reader->n || read_block(merge->pairs, reader))
			binaryheap_replace_first(merge->heap, PointerGetDatum(reader));
		else
		{
			binaryheap_remove_first(merge->heap);
			pfree(reader);
		}
	}
	return n;
}

/* Merges all segments to one, in a new file, when there are too many to be read at once. */
static void
merge_segments(PairSorter *pairs)
{
	Merge	   *merge = open_merge(pairs);
	BufFile    *old_file = pairs->file;
	BufFile    *file = new_file(pairs);
	uint64	   *codes = palloc_array(uint64, 2 * BLOCK_RUNS);
	Segment    *segment;
	Segment		merged;
	size_t		n;

	segment = new_segment(pairs);
	merged = *segment;
	pairs->nsegments--;
	BufFileTell(file, &merged.fileno, &merged.offset);
	while ((n = merge_next(merge, codes, codes + BLOCK_RUNS)) > 0)
	{
		pairs->file = file;
		write_block(pairs, codes, codes + BLOCK_RUNS, n);
		pairs->file = old_file;
		merged.nblocks++;
	}
	BufFileClose(old_file);
	pairs->file = file;
	pairs->segments[0] = merged;
	pairs->nsegments = 1;
	binaryheap_free(merge->heap);
	pfree(merge);
	pfree(codes);
}

/* Moves all segments into the rows. */
static void
segments_to_rows(PairSorter *pairs)
{
	int			i;

	for (i = 0; i < pairs->nsegments; i++)
	{
		Segment    *segment = &pairs->segments[i];
		SegmentReader *reader = open_segment(segment, &segment->coding);

		while (read_block(pairs, reader))
			add_to_rows(pairs, &segment->coding, reader->codes, reader->counts, reader->n);
		pfree(reader);
	}
	pairs->nsegments = 0;
	if (pairs->file)
		BufFileClose(pairs->file);
	pairs->file = NULL;
}

/* --- adding */

/* Adds the codes that have been made. */
static void
add_codes(PairSorter *pairs, int n)
{
	SortError	err;

	if (pairs->coding.bits <= 32)
		pg_sort_check(long_sorter_add_narrow(pairs->sorter, pairs->narrow, n, &err), &err);
	else
		pg_sort_check(long_sorter_add(pairs->sorter, pairs->codes, n, &err), &err);
	pairs->count += n;
	if (long_sorter_is_full(pairs->sorter))
		flush_memory(pairs);
}

/* The range of those of a batch's values that are added. */
static FieldRange
range_of_rows(const ColumnBatch *batch, const uint16 *rows, int nrows)
{
	FieldRange	range = EMPTY_FIELD_RANGE;
	int			i;

	if (rows == NULL)
		field_range_add_batch(&range, batch);
	else
		for (i = 0; i < nrows; i++)
		{
			int64		value = batch->keys ? batch->keys[rows[i]] : batch->wide[rows[i]];

			range.lo = Min(range.lo, value);
			range.hi = Max(range.hi, value);
		}
	return range;
}

/* The values of a row's group. */
static void
group_of_row(const GroupLayout *groups, const ColumnBatch *batches, int row, GroupValues *group)
{
	int			c;

	for (c = 0; c < groups->ncolumns; c++)
	{
		const ColumnBatch *batch = &batches[groups->columns[c].column];

		group->nulls[c] = batch->nnulls > 0 && batch->nulls[row];
		group->values[c] = group->nulls[c] ? 0 : batch->keys ? batch->keys[row] : batch->wide[row];
	}
}

static void
add_rows(PairSorter *pairs, int marker, const ColumnBatch *batches, const ColumnBatch *batch,
		 const uint16 *rows, int nrows)
{
	const GroupLayout *groups = pairs->coding.groups;
	GroupValues group = make_group_values(groups->ncolumns);
	int			i;

	for (i = 0; i < nrows; i++)
	{
		int			row = rows ? rows[i] : i;
		int64		value = batch == NULL ? 0 : batch->keys ? batch->keys[row] : batch->wide[row];

		group_of_row(groups, batches, row, &group);
		pair_rows_add(pairs->rows, &group, marker, value, 1);
	}
	pairs->count += nrows;
	pfree(group.values);
	pfree(group.nulls);
}

/*
 * Loops of their own for each width of values and codes, with and without a choice of
 * rows; all of them are inlined.
 */
static pg_attribute_always_inline void
code_values(PairSorter *pairs, const ColumnBatch *batch, const uint64 *codes, const uint16 *rows,
			int nrows, bool narrow, bool chosen)
{
	uint64		offset = value_offset(&pairs->coding);
	int			shift = pairs->coding.value_bits;
	int			i;

	for (i = 0; i < nrows; i++)
	{
		int			row = chosen ? rows[i] : i;
		uint64		place = offset + (uint64) (batch->keys ? (int64) batch->keys[row] : batch->wide[row]);
		uint64		code = codes ? codes[row] << shift | place : place;

		if (narrow)
			pairs->narrow[i] = (uint32) code;
		else
			pairs->codes[i] = code;
	}
}

void
pairs_add(PairSorter *pairs, const ColumnBatch *batches, int column, const uint64 *codes,
		  const uint16 *rows, int nrows)
{
	const ColumnBatch *batch = &batches[column];
	FieldRange	range;

	if (nrows == 0)
		return;
	if (pairs->coding.groups->ncolumns > 0 || column_kind_is_wide(pairs->kind))
	{
		range = range_of_rows(batch, rows, nrows);
		cover(pairs, &range, false);
	}
	if (pairs->rows)
	{
		add_rows(pairs, PAIR_MARKERS, batches, batch, rows, nrows);
		return;
	}
	if (pairs->coding.groups->bits == 0)
		codes = NULL;
	if (pairs->coding.bits <= 32)
	{
		if (rows)
			code_values(pairs, batch, codes, rows, nrows, true, true);
		else
			code_values(pairs, batch, codes, rows, nrows, true, false);
	}
	else if (rows)
		code_values(pairs, batch, codes, rows, nrows, false, true);
	else
		code_values(pairs, batch, codes, rows, nrows, false, false);
	add_codes(pairs, nrows);
}

void
pairs_add_markers(PairSorter *pairs, PairMarker marker, const ColumnBatch *batches,
				  const uint64 *codes, const uint16 *rows, int nrows)
{
	FieldRange	none = EMPTY_FIELD_RANGE;
	int			i;

	if (nrows == 0)
		return;
	cover(pairs, &none, true);
	if (pairs->rows)
	{
		add_rows(pairs, marker, batches, NULL, rows, nrows);
		return;
	}
	for (i = 0; i < nrows; i++)
	{
		int			row = rows ? rows[i] : i;
		uint64		code = make_code(&pairs->coding,
									 pairs->coding.groups->bits > 0 ? codes[row] : 0, marker);

		pairs->codes[i] = code;
		pairs->narrow[i] = (uint32) code;
	}
	add_codes(pairs, nrows);
}

void
pairs_add_group(PairSorter *pairs, const GroupValues *group, const int64 markers[PAIR_MARKERS],
				const int64 *values, const int64 *counts, size_t nruns)
{
	int64		bias = column_kind_bias(pairs->kind);
	FieldRange	range = EMPTY_FIELD_RANGE;
	bool		marked = false;
	uint64		code;
	SortError	err;
	size_t		i;
	int			m;

	if (nruns > 0)
	{
		range.lo = values[0] - bias;
		range.hi = values[nruns - 1] - bias;
	}
	for (m = 0; m < PAIR_MARKERS; m++)
		marked |= markers[m] > 0;
	cover(pairs, &range, marked);
	code = pairs->rows ? 0 : group_layout_code(pairs->coding.groups, group);
	for (m = 0; m < PAIR_MARKERS; m++)
	{
		uint64		marker = pairs->rows ? 0 : make_code(&pairs->coding, code, m);
		uint64		count = (uint64) markers[m];

		if (count == 0)
			continue;
		if (pairs->rows)
			pair_rows_add(pairs->rows, group, m, 0, markers[m]);
		else
			pg_sort_check(long_sorter_add_runs(pairs->sorter, &marker, &count, 1, &err), &err);
		pairs->count += count;
	}
	while (nruns > 0)
	{
		size_t		n = Min(nruns, BLOCK_RUNS);

		for (i = 0; i < n; i++)
		{
			pairs->count += (uint64) counts[i];
			if (pairs->rows)
				pair_rows_add(pairs->rows, group, PAIR_MARKERS, values[i] - bias, counts[i]);
			else
				pairs->codes[i] = make_code(&pairs->coding, code,
											value_offset(&pairs->coding) + (uint64) (values[i] - bias));
		}
		if (!pairs->rows)
		{
			pg_sort_check(long_sorter_add_runs(pairs->sorter, pairs->codes,
											   (const uint64 *) counts, n, &err), &err);
			if (long_sorter_is_full(pairs->sorter))
				flush_memory(pairs);
		}
		values += n;
		counts += n;
		nruns -= n;
	}
}

size_t
pairs_memory(const PairSorter *pairs)
{
	return sizeof(PairSorter) + (pairs->sorter ? long_sorter_memory(pairs->sorter) : 0);
}

uint64
pairs_disk(const PairSorter *pairs)
{
	return pairs->disk;
}

uint64
pairs_count(const PairSorter *pairs)
{
	return pairs->count;
}

void
pairs_stats(PairSorter *pairs, SorterStats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (pairs->sorter)
		long_sorter_stats(pairs->sorter, stats);
	stats->n = pairs->count;
}

void
pairs_free(PairSorter *pairs)
{
	if (pairs->sorter)
		long_sorter_reset(pairs->sorter);
	if (pairs->rows)
		pair_rows_free(pairs->rows);
	if (pairs->file)
		BufFileClose(pairs->file);
	pfree(pairs);
}

/* --- reading */

struct PairCursor
{
	PairSorter *pairs;
	LongSorterCursor memory;
	Merge	   *merge;			/* instead, if something has been written */
	PairRowsCursor *rows;		/* instead of both */

	GroupValues group;
	uint64		last_code;		/* the largest that a pair of the group can have */
	bool		ended;

	bool		more;			/* there may be further blocks */
	size_t		n;				/* of the block */
	size_t		at;
	uint64		codes[BLOCK_RUNS];
	uint64		counts[BLOCK_RUNS];
	int64		values[BLOCK_RUNS];
};

/* Sees to it that the block has runs that have not been taken; false at the end. */
static bool
fill_block(PairCursor *cursor)
{
	SortError	err;

	if (cursor->at < cursor->n)
		return true;
	cursor->at = cursor->n = 0;
	if (!cursor->more)
		return false;
	if (cursor->merge)
		cursor->n = merge_next(cursor->merge, cursor->codes, cursor->counts);
	else
		pg_sort_check(long_sorter_cursor_runs(&cursor->memory, cursor->codes, cursor->counts,
											  BLOCK_RUNS, &cursor->n, &err), &err);
	cursor->more = cursor->n == BLOCK_RUNS;
	CHECK_FOR_INTERRUPTS();
	return cursor->n > 0;
}

/* Looks which group the next run is of. */
static void
start_group(PairCursor *cursor)
{
	const PairCoding *coding = &cursor->pairs->coding;
	uint64		group;

	if (!fill_block(cursor))
	{
		cursor->ended = true;
		return;
	}
	group = group_of_code(coding, cursor->codes[cursor->at]);
	group_layout_values(coding->groups, group, &cursor->group);
	cursor->last_code = coding->value_bits < 64 ?
		(group << coding->value_bits) | ((UINT64CONST(1) << coding->value_bits) - 1) : PG_UINT64_MAX;
}

PairCursor *
pairs_open(PairSorter *pairs)
{
	PairCursor *cursor = palloc0_object(PairCursor);
	SortError	err;

	cursor->pairs = pairs;
	cursor->group = make_group_values(pairs->coding.groups->ncolumns);
	if (pairs->rows)
	{
		cursor->rows = pair_rows_open(pairs->rows);
		return cursor;
	}
	if (pairs->nsegments > 0)
	{
		if (long_sorter_count(pairs->sorter) > 0)
			flush_memory(pairs);
		cursor->merge = open_merge(pairs);
	}
	else
	{
		pg_sort_check(long_sorter_finish(pairs->sorter, &err), &err);
		pg_sort_check(long_sorter_open_cursor(pairs->sorter, &cursor->memory, &err), &err);
	}
	cursor->more = true;
	start_group(cursor);
	return cursor;
}

const GroupValues *
pairs_group(const PairCursor *cursor)
{
	if (cursor->rows)
		return pair_rows_group(cursor->rows);
	return cursor->ended ? NULL : &cursor->group;
}

void
pairs_markers(PairCursor *cursor, int64 markers[PAIR_MARKERS])
{
	const PairCoding *coding = &cursor->pairs->coding;

	memset(markers, 0, PAIR_MARKERS * sizeof(int64));
	if (cursor->rows)
		pair_rows_markers(cursor->rows, markers);
	else if (coding->markers)
		while (fill_block(cursor) && cursor->codes[cursor->at] <= cursor->last_code &&
			   place_of_code(coding, cursor->codes[cursor->at]) < PAIR_MARKERS)
		{
			markers[place_of_code(coding, cursor->codes[cursor->at])] += (int64) cursor->counts[cursor->at];
			cursor->at++;
		}
}

size_t
pairs_runs(PairCursor *cursor, const int64 **values, const int64 **counts)
{
	const PairCoding *coding = &cursor->pairs->coding;
	uint64		mask;
	uint64		offset;
	size_t		first;
	size_t		i;

	if (cursor->rows)
		return pair_rows_runs(cursor->rows, column_kind_bias(cursor->pairs->kind), values, counts);
	if (cursor->ended)
		return 0;
	if (!fill_block(cursor) || cursor->codes[cursor->at] > cursor->last_code)
	{
		start_group(cursor);
		return 0;
	}
	first = cursor->at;
	if (cursor->codes[cursor->n - 1] <= cursor->last_code)
		cursor->at = cursor->n;
	else
		while (cursor->codes[cursor->at] <= cursor->last_code)
			cursor->at++;
	mask = coding->value_bits < 64 ? (UINT64CONST(1) << coding->value_bits) - 1 : PG_UINT64_MAX;
	offset = (uint64) column_kind_bias(cursor->pairs->kind) - value_offset(coding);
	for (i = first; i < cursor->at; i++)
		cursor->values[i] = (int64) ((cursor->codes[i] & mask) + offset);
	*values = &cursor->values[first];
	*counts = (const int64 *) &cursor->counts[first];
	return cursor->at - first;
}

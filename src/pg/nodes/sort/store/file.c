/*
 * file.c
 *		A temporary file of many sequences (see file.h).
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/file.h"

/* As BufFile's segments. */
#define SEGMENT_BYTES ((uint64) 1 << 30)

/*
 * The place of the first byte.  A build with a start beyond 32 GB, which is as far
 * as 32 bits reach even in units of eight bytes, writes a file with a hole in
 * front, and shows that no place is cut to 32 bits.
 */
#ifndef SPILL_FILE_START
#define SPILL_FILE_START UINT64CONST(0)
#endif

typedef struct SegmentedFile
{
	SpillFile	open;			/* what file.h shows */
	MemoryContext memory;
	ResourceOwner owner;		/* of all segments */
	int			nsegments;
	int			room;
	File	   *segments;

	/* Writing. */
	SpillSequence *target;		/* the sequence that is appended to */
	uint64		started;		/* start of what is not yet among its pieces */
	bool		in_hole;		/* bytes given back are being overwritten ... */
	uint64		hole_end;		/* ... up to here */
	uint64		end;			/* where the file goes on after all holes */
	SpillSequence holes;		/* bytes given back ... */
	Size		next_hole;		/* ... and not yet used again, from here on */
} SegmentedFile;

StaticAssertDecl(sizeof(((SpillPiece *) 0)->start) == 8 && sizeof(((SpillPiece *) 0)->len) == 8,
				 "files may be large, and so may their pieces");

SpillFile *
spill_file_create(void)
{
	SegmentedFile *file = (SegmentedFile *) palloc0(sizeof(SegmentedFile));

	PrepareTempTablespaces();
	file->memory = CurrentMemoryContext;
	file->owner = CurrentResourceOwner;
	file->open.buffer = (char *) palloc(BLCKSZ);
	file->room = 8;
	file->segments = (File *) palloc(file->room * sizeof(File));
	file->open.at = file->started = SPILL_FILE_START;
	return &file->open;
}

/* Adds a segment, of the first one's resource owner: the current one may end before the file. */
static void
add_segment(SegmentedFile *file)
{
	ResourceOwner old = CurrentResourceOwner;

	if (file->nsegments == file->room)
	{
		file->segments = (File *) repalloc_huge(file->segments, 2 * file->room * sizeof(File));
		file->room *= 2;
	}
	CurrentResourceOwner = file->owner;
	file->segments[file->nsegments] = OpenTemporaryFile(false);
	CurrentResourceOwner = old;
	file->nsegments++;
}

/* Appends a piece, or makes the last one longer if the piece begins where that one ends. */
static void
add_piece(SegmentedFile *file, SpillSequence *sequence, uint64 start, uint64 len)
{
	SpillPiece *last = sequence->n > 0 ? &sequence->pieces[sequence->n - 1] : NULL;

	if (len == 0)
		return;
	if (last && last->start + last->len == start)
	{
		last->len += len;
		return;
	}
	if (sequence->n == sequence->room)
	{
		Size		room = Max(sequence->room * 2, 4);

		if (sequence->pieces == NULL)
			sequence->pieces = (SpillPiece *) MemoryContextAlloc(file->memory,
																 room * sizeof(SpillPiece));
		else
			sequence->pieces = (SpillPiece *) repalloc_huge(sequence->pieces,
															room * sizeof(SpillPiece));
		sequence->room = room;
	}
	sequence->pieces[sequence->n].start = start;
	sequence->pieces[sequence->n].len = len;
	sequence->n++;
}

/* Adds what has been put since the last call to the pieces of its sequence. */
static void
note_piece(SegmentedFile *file)
{
	uint64		at = file->open.at + file->open.used;

	if (file->target)
		add_piece(file, file->target, file->started, at - file->started);
	file->started = at;
}

/* Has these bytes overwritten by later ones. */
static void
give_back(SegmentedFile *file, uint64 start, uint64 len)
{
	if (file->next_hole == file->holes.n)
		file->next_hole = file->holes.n = 0;
	add_piece(file, &file->holes, start, len);
}

/* I/O times, for track_io_timing and EXPLAIN (BUFFERS). */
static void
start_io(instr_time *start)
{
	if (track_io_timing)
		INSTR_TIME_SET_CURRENT(*start);
	else
		INSTR_TIME_SET_ZERO(*start);
}

static void
end_io(instr_time start, instr_time *total)
{
	instr_time	now;

	if (!track_io_timing)
		return;
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_ACCUM_DIFF(*total, now, start);
}

/* Writes the buffer to the file, and empties it. */
static void
write_buffer(SegmentedFile *file)
{
	SpillFile  *open = &file->open;
	Size		done = 0;
	instr_time	start;

	start_io(&start);
	while (done < open->used)
	{
		uint64		at = open->at + done;
		Size		part = Min(open->used - done, SEGMENT_BYTES - at % SEGMENT_BYTES);
		int			got;

		while (at / SEGMENT_BYTES >= (uint64) file->nsegments)
			add_segment(file);
		got = FileWrite(file->segments[at / SEGMENT_BYTES], open->buffer + done, (int) part,
						(off_t) (at % SEGMENT_BYTES), WAIT_EVENT_BUFFILE_WRITE);
		if (got <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to file \"%s\": %m",
							FilePathName(file->segments[at / SEGMENT_BYTES]))));
		done += got;
	}
	end_io(start, &pgBufferUsage.temp_blk_write_time);
	pgBufferUsage.temp_blks_written += (done + BLCKSZ - 1) / BLCKSZ;
	open->at += done;
	open->used = 0;
	open->size = BLCKSZ - open->at % BLCKSZ;
	if (file->in_hole)
		open->size = Min(open->size, file->hole_end - open->at);

	/* Rows may be large, and disks slow. */
	CHECK_FOR_INTERRUPTS();
}

/* Goes on in the next hole, or, if there is none, at the end of the file. */
static void
find_place(SegmentedFile *file)
{
	SpillFile  *open = &file->open;

	note_piece(file);
	if (open->used > 0)
		write_buffer(file);
	if (!file->in_hole)
		file->end = open->at;
	file->in_hole = file->next_hole < file->holes.n;
	if (file->in_hole)
	{
		const SpillPiece *hole = &file->holes.pieces[file->next_hole++];

		open->at = hole->start;
		file->hole_end = hole->start + hole->len;
	}
	else
		open->at = file->end;
	open->size = BLCKSZ - open->at % BLCKSZ;
	if (file->in_hole)
		open->size = Min(open->size, file->hole_end - open->at);
	file->started = open->at;
}

void
spill_file_put_rest(SpillFile *open, const void *data, Size len)
{
	const char *from = (const char *) data;

	while (len > 0)
	{
		Size		part;

		if (open->used == open->size)
		{
			if (open->used > 0)
				write_buffer((SegmentedFile *) open);
			if (open->size == 0)
				find_place((SegmentedFile *) open);
		}
		part = Min(len, open->size - open->used);
		memcpy(open->buffer + open->used, from, part);
		open->used += part;
		from += part;
		len -= part;
	}
}

void
spill_file_write_to(SpillFile *open, SpillSequence *sequence)
{
	SegmentedFile *file = (SegmentedFile *) open;

	note_piece(file);
	file->target = sequence;
	if (sequence && !file->in_hole && file->next_hole < file->holes.n)
		find_place(file);
}

void
spill_file_append(SpillFile *open, SpillSequence *to, SpillSequence *from)
{
	Size		i;

	for (i = 0; i < from->n; i++)
		add_piece((SegmentedFile *) open, to, from->pieces[i].start, from->pieces[i].len);
	if (from->pieces)
		pfree(from->pieces);
	memset(from, 0, sizeof(*from));
}

void
spill_file_sync(SpillFile *open)
{
	if (open->used > 0)
		write_buffer((SegmentedFile *) open);
}

void
spill_file_give_back(SpillFile *open, SpillSequence *sequence)
{
	Size		i;

	for (i = 0; i < sequence->n; i++)
		give_back((SegmentedFile *) open, sequence->pieces[i].start, sequence->pieces[i].len);
	if (sequence->pieces)
		pfree(sequence->pieces);
	memset(sequence, 0, sizeof(*sequence));
}

uint64
spill_file_bytes(const SpillFile *open)
{
	const SegmentedFile *file = (const SegmentedFile *) open;

	return (file->in_hole ? file->end : open->at + open->used) - SPILL_FILE_START;
}

void
spill_file_read(SpillFile *open, uint64 offset, void *data, Size len)
{
	SegmentedFile *file = (SegmentedFile *) open;
	char	   *to = (char *) data;
	instr_time	start;

	start_io(&start);
	pgBufferUsage.temp_blks_read += (len + BLCKSZ - 1) / BLCKSZ;
	while (len > 0)
	{
		File		segment = file->segments[offset / SEGMENT_BYTES];
		Size		part = Min(len, SEGMENT_BYTES - offset % SEGMENT_BYTES);
		int			got = FileRead(segment, to, (int) part, (off_t) (offset % SEGMENT_BYTES),
								   WAIT_EVENT_BUFFILE_READ);

		if (got < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", FilePathName(segment))));
		if (got == 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read from temporary file: read only %zu of %zu bytes",
							(Size) (to - (char *) data), (Size) (to - (char *) data) + len)));
		to += got;
		offset += got;
		len -= got;
		CHECK_FOR_INTERRUPTS();
	}
	end_io(start, &pgBufferUsage.temp_blk_read_time);
}

void
spill_reader_init(SpillReader *reader, SpillFile *file, Size size)
{
	memset(reader, 0, sizeof(*reader));
	reader->file = file;
	reader->size = size;
	reader->buffer = (char *) palloc(size);
}

void
spill_reader_start(SpillReader *reader, const SpillSequence *sequence, bool consume)
{
	/* Some bytes of the sequence may still be in the buffer. */
	spill_file_sync(reader->file);
	reader->sequence = sequence;
	reader->next = 0;
	reader->rest.len = 0;
	reader->consume = consume;
	reader->used = reader->filled = 0;
}

static void
fill_reader(SpillReader *reader)
{
	Size		filled = 0;

	/* Several pieces together, if they are short. */
	do
	{
		Size		part;

		if (reader->rest.len == 0)
		{
			if (reader->next == reader->sequence->n)
				break;
			reader->rest = reader->sequence->pieces[reader->next++];
		}
		part = Min(reader->rest.len, reader->size - filled);
		spill_file_read(reader->file, reader->rest.start, reader->buffer + filled, part);
		if (reader->consume)
			give_back((SegmentedFile *) reader->file, reader->rest.start, part);
		reader->rest.start += part;
		reader->rest.len -= part;
		filled += part;
	} while (filled < reader->size);
	if (filled == 0)
		elog(ERROR, "no more rows in a temporary file");
	reader->used = 0;
	reader->filled = filled;
}

void
spill_reader_get_rest(SpillReader *reader, void *data, Size len)
{
	char	   *to = (char *) data;

	while (len > 0)
	{
		Size		part;

		if (reader->used == reader->filled)
			fill_reader(reader);
		part = Min(len, reader->filled - reader->used);
		memcpy(to, reader->buffer + reader->used, part);
		reader->used += part;
		to += part;
		len -= part;
	}
}

void
spill_file_close(SpillFile *open)
{
	SegmentedFile *file = (SegmentedFile *) open;
	int			i;

	for (i = 0; i < file->nsegments; i++)
		FileClose(file->segments[i]);
	file->nsegments = 0;
}

/*
 * order_file.c
 *		A temporary file (see order_file.h).
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "order_file.h"

/* As BufFile's. */
#define SEGMENT_BYTES ((uint64) 1 << 30)

typedef struct SegmentedFile
{
	OrderFile	open;			/* what order_file.h shows */
	MemoryContext memory;
	ResourceOwner owner;		/* of all segments */
	int			nsegments;
	int			room;
	File	   *segments;
} SegmentedFile;

OrderFile *
order_file_create(void)
{
	SegmentedFile *file = (SegmentedFile *) palloc0(sizeof(SegmentedFile));

	PrepareTempTablespaces();
	file->memory = CurrentMemoryContext;
	file->owner = CurrentResourceOwner;
	file->open.size = BLCKSZ;
	file->open.buffer = (char *) palloc(BLCKSZ);
	file->room = 8;
	file->segments = (File *) palloc(file->room * sizeof(File));
	return &file->open;
}

/* Another segment, of the owner of the first: rows are read in other places. */
static void
add_segment(SegmentedFile *file)
{
	ResourceOwner old = CurrentResourceOwner;

	if (file->nsegments == file->room)
	{
		file->room *= 2;
		file->segments = (File *) repalloc(file->segments, file->room * sizeof(File));
	}
	CurrentResourceOwner = file->owner;
	file->segments[file->nsegments] = OpenTemporaryFile(false);
	CurrentResourceOwner = old;
	file->nsegments++;
}

/* What EXPLAIN (BUFFERS) and track_io_timing want to know. */
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

static void
write_buffer(SegmentedFile *file)
{
	OrderFile  *open = &file->open;
	Size		done = 0;
	instr_time	start;

	if (open->written == (uint64) file->nsegments * SEGMENT_BYTES)
		add_segment(file);
	start_io(&start);
	while (done < open->used)
	{
		int			got = FileWrite(file->segments[file->nsegments - 1], open->buffer + done,
									(int) (open->used - done),
									(off_t) ((open->written + done) % SEGMENT_BYTES),
									WAIT_EVENT_BUFFILE_WRITE);

		if (got <= 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not write to file \"%s\": %m",
							FilePathName(file->segments[file->nsegments - 1]))));
		done += got;
	}
	end_io(start, &pgBufferUsage.temp_blk_write_time);
	pgBufferUsage.temp_blks_written += (done + BLCKSZ - 1) / BLCKSZ;
	open->written += done;
	open->used = 0;

	/* Rows may be large, and disks slow. */
	CHECK_FOR_INTERRUPTS();
}

void
order_file_put_rest(OrderFile *file, const void *data, Size len)
{
	const char *from = (const char *) data;

	while (len > 0)
	{
		Size		part = Min(len, file->size - file->used);

		memcpy(file->buffer + file->used, from, part);
		file->used += part;
		from += part;
		len -= part;
		if (file->used == file->size)
			write_buffer((SegmentedFile *) file);
	}
}

void
order_file_finish(OrderFile *file)
{
	if (file->buffer == NULL)
		return;
	if (file->used > 0)
		write_buffer((SegmentedFile *) file);
	pfree(file->buffer);
	file->buffer = NULL;
	file->size = 0;
}

void
order_file_read(OrderFile *open, uint64 offset, void *data, Size len)
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
order_file_close(OrderFile *open)
{
	SegmentedFile *file = (SegmentedFile *) open;
	int			i;

	for (i = 0; i < file->nsegments; i++)
		FileClose(file->segments[i]);
	file->nsegments = 0;
}

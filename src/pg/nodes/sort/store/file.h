/*
 * file.h
 *		A temporary file of many sequences of bytes, each of which is appended
 *		to, read from its start, and given back at any time.
 *
 * A sequence lies in pieces of any length.  Bytes given back are overwritten by
 * bytes put later, so the file never becomes larger than the most that it held
 * at once.
 *
 * The file is made of fd.c's temporary files, as core's BufFile is, so that
 * temp_file_limit, log_temp_files, temp_tablespaces and removal at the end of the
 * transaction are PostgreSQL's own.  It is cut into segments of 1 GB, as
 * PostgreSQL cuts all files.
 *
 * BufFile also reads a page at a time: 460 MB take 74 ms, read in 64 kB
 * 26 (AMD EPYC, Linux 6.18, ext4, page cache).  Writing in larger pieces is no
 * sure gain: a page at a time takes 205 ms in every run, 256 kB between 83 and
 * 460, because the kernel then looks for larger pieces of memory.  Hence writes
 * of a page each.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_FILE_H
#define HPSORT_PG_NODES_SORT_STORE_FILE_H

#include "postgres.h"

/* A piece of the file, in bytes: both in 64 bits, as files may be larger than 4 GB or 32. */
typedef struct SpillPiece
{
	uint64		start;
	uint64		len;
} SpillPiece;

/* A sequence of bytes, in the order in which they were put; all zero: empty. */
typedef struct SpillSequence
{
	Size		n;				/* pieces ... */
	Size		room;			/* ... of so many for which there is memory */
	SpillPiece *pieces;
} SpillSequence;

typedef struct SpillFile SpillFile;

/* The members that spill_file_put below uses. */
struct SpillFile
{
	char	   *buffer;			/* a page at most, not yet written */
	Size		used;			/* bytes of it that are filled */
	Size		size;			/* bytes of it that have a place in the file */
	uint64		at;				/* place of the buffer's first byte */
	/* Further members are file.c's own. */
};

/* Reads a sequence, from its start to its end. */
typedef struct SpillReader
{
	SpillFile  *file;
	const SpillSequence *sequence;
	Size		next;			/* piece to be read next */
	SpillPiece	rest;			/* of the piece that is being read */
	bool		consume;		/* gives back bytes once they have been read */
	Size		used;			/* next byte in the buffer ... */
	Size		filled;			/* ... which holds so many ... */
	Size		size;			/* ... of so many that it has room for */
	char	   *buffer;
} SpillReader;

/* Makes an empty file, in the current memory context. */
extern SpillFile *spill_file_create(void);

/* Appends to this sequence whatever is put from now on; NULL: nothing will be put. */
extern void spill_file_write_to(SpillFile *file, SpillSequence *sequence);

/* Appends the sequence from to the sequence to; from is empty afterwards, and its memory freed. */
extern void spill_file_append(SpillFile *file, SpillSequence *to, SpillSequence *from);

/* Writes out what is in the buffer. */
extern void spill_file_sync(SpillFile *file);

/* Gives all bytes of a sequence back; it is empty afterwards, and its memory freed. */
extern void spill_file_give_back(SpillFile *file, SpillSequence *sequence);

/* Reads len bytes at this place, which must have been written. */
extern void spill_file_read(SpillFile *file, uint64 offset, void *data, Size len);

/* How large the file is, in bytes; it never shrinks. */
extern uint64 spill_file_bytes(const SpillFile *file);

/* Removes the file from disk; the memory is its context's. */
extern void spill_file_close(SpillFile *file);

/* The slow half of spill_file_put. */
extern void spill_file_put_rest(SpillFile *file, const void *data, Size len);

/* Appends len bytes to the sequence that spill_file_write_to was given last. */
static inline void
spill_file_put(SpillFile *file, const void *data, Size len)
{
	if (likely(len <= file->size - file->used))
	{
		memcpy(file->buffer + file->used, data, len);
		file->used += len;
	}
	else
		spill_file_put_rest(file, data, len);
}

/*
 * spill_reader_init prepares a reader, with a buffer of size bytes in the current
 * memory context; spill_reader_start has it begin with the first byte of a
 * sequence, to which nothing may be appended while it is read.  consume: bytes
 * are given back as they are read; the caller empties the sequence at its end.
 */
extern void spill_reader_init(SpillReader *reader, SpillFile *file, Size size);
extern void spill_reader_start(SpillReader *reader, const SpillSequence *sequence, bool consume);

/* The slow half of spill_reader_get. */
extern void spill_reader_get_rest(SpillReader *reader, void *data, Size len);

/* The next len bytes, which must be there. */
static inline void
spill_reader_get(SpillReader *reader, void *data, Size len)
{
	if (likely(len <= reader->filled - reader->used))
	{
		memcpy(data, reader->buffer + reader->used, len);
		reader->used += len;
	}
	else
		spill_reader_get_rest(reader, data, len);
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_FILE_H */

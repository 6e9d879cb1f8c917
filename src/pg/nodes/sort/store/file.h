/*
 * file.h
 *		A temporary file of many sequences of bytes, each of which is appended
 *		to, read from its start, and given back, whenever its owner likes.
 *
 * A sequence lies in extents: pieces of the file of any length.  What is
 * given back is written over by what comes later, so that the file never
 * becomes larger than the most that there was at once.
 *
 * Core's BufFile also reads a page at a time: 460 MB take 74 ms, read in 64 kB
 * 26 (AMD EPYC, Linux 6.18, ext4, page cache).  Writing does not gain as surely: a
 * page at a time 205 ms, always; in 256 kB between 83 and 460, for the kernel
 * then looks for larger pieces of memory.  So a page is written at a time.
 *
 * As there, the file is fd.c's, so that temp_file_limit, log_temp_files,
 * temp_tablespaces and removal at the end of the transaction are
 * PostgreSQL's own; and it is cut into segments, as PostgreSQL cuts all files.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_FILE_H
#define HPSORT_PG_NODES_SORT_STORE_FILE_H

#include "postgres.h"

/* Bytes of the file: both in 64 bits, as files may be larger than 4 GB or 32. */
typedef struct SpillPiece
{
	uint64		start;
	uint64		len;
} SpillPiece;

/* A sequence of bytes, in the order in which they were put; all zero: empty. */
typedef struct SpillPieces
{
	Size		n;
	Size		room;
	SpillPiece *items;
} SpillPieces;

typedef struct SpillFile SpillFile;

/* The part that is inlined below. */
struct SpillFile
{
	char	   *buffer;
	Size		used;			/* bytes of it that are filled */
	Size		size;			/* bytes of it that have a place in the file */
	uint64		at;				/* place of the buffer's first byte */
	/* Further members are file.c's own. */
};

/* Reads a sequence, from its start to its end. */
typedef struct SpillReader
{
	SpillFile  *file;
	const SpillPieces *extents;
	Size		next;			/* extent to be read next */
	SpillPiece rest;			/* of the extent that is being read */
	bool		consume;		/* gives back what has been read */
	Size		used;			/* next byte in the buffer ... */
	Size		filled;			/* ... which holds so many */
	Size		size;
	char	   *buffer;
} SpillReader;

/* Makes an empty file, in the current memory context. */
extern SpillFile *spill_file_create(void);

/* What is put from here on is appended to this sequence, or to none if it is NULL. */
extern void spill_file_write_to(SpillFile *file, SpillPieces *extents);

/* Appends a sequence to another one; it is empty afterwards, and its memory gone. */
extern void spill_file_append(SpillFile *file, SpillPieces *to, SpillPieces *from);

/* Writes out what has been put so far. */
extern void spill_file_sync(SpillFile *file);

/* Gives a sequence back, all of it.  Its memory goes, too. */
extern void spill_file_forget(SpillFile *file, SpillPieces *extents);

/* Reads len bytes at this place, which must have been written. */
extern void spill_file_read(SpillFile *file, uint64 offset, void *data, Size len);

/* How large the file is; it never shrinks. */
extern uint64 spill_file_bytes(const SpillFile *file);

/* Removes it; the memory is its context's. */
extern void spill_file_close(SpillFile *file);

/* The slow half of spill_file_put. */
extern void spill_file_put_rest(SpillFile *file, const void *data, Size len);

/* Appends. */
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
 * Prepares a reader, with a buffer of size bytes in the current memory context,
 * and starts it at the beginning of a sequence to which nothing is being
 * appended.  consume: the sequence's bytes are given back as they are read;
 * forgetting it is left to the caller.
 */
extern void spill_reader_init(SpillReader *reader, SpillFile *file, Size size);
extern void spill_reader_start(SpillReader *reader, const SpillPieces *extents, bool consume);

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

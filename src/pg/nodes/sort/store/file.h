/*
 * order_file.h
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
#ifndef HPSORT_ORDER_FILE_H
#define HPSORT_ORDER_FILE_H

#include "postgres.h"

/* Bytes of the file: both in 64 bits, as files may be larger than 4 GB or 32. */
typedef struct OrderExtent
{
	uint64		start;
	uint64		len;
} OrderExtent;

/* A sequence of bytes, in the order in which they were put; all zero: empty. */
typedef struct OrderExtents
{
	Size		n;
	Size		room;
	OrderExtent *items;
} OrderExtents;

typedef struct OrderFile OrderFile;

/* The part that is inlined below. */
struct OrderFile
{
	char	   *buffer;
	Size		used;			/* bytes of it that are filled */
	Size		size;			/* bytes of it that have a place in the file */
	uint64		at;				/* place of the buffer's first byte */
	/* Further members are order_file.c's own. */
};

/* Reads a sequence, from its start to its end. */
typedef struct OrderReader
{
	OrderFile  *file;
	const OrderExtents *extents;
	Size		next;			/* extent to be read next */
	OrderExtent rest;			/* of the extent that is being read */
	bool		consume;		/* gives back what has been read */
	Size		used;			/* next byte in the buffer ... */
	Size		filled;			/* ... which holds so many */
	Size		size;
	char	   *buffer;
} OrderReader;

/* Makes an empty file, in the current memory context. */
extern OrderFile *order_file_create(void);

/* What is put from here on is appended to this sequence, or to none if it is NULL. */
extern void order_file_write_to(OrderFile *file, OrderExtents *extents);

/* Appends a sequence to another one; it is empty afterwards, and its memory gone. */
extern void order_file_append(OrderFile *file, OrderExtents *to, OrderExtents *from);

/* Writes out what has been put so far. */
extern void order_file_sync(OrderFile *file);

/* Gives a sequence back, all of it.  Its memory goes, too. */
extern void order_file_forget(OrderFile *file, OrderExtents *extents);

/* Reads len bytes at this place, which must have been written. */
extern void order_file_read(OrderFile *file, uint64 offset, void *data, Size len);

/* How large the file is; it never shrinks. */
extern uint64 order_file_bytes(const OrderFile *file);

/* Removes it; the memory is its context's. */
extern void order_file_close(OrderFile *file);

/* The slow half of order_file_put. */
extern void order_file_put_rest(OrderFile *file, const void *data, Size len);

/* Appends. */
static inline void
order_file_put(OrderFile *file, const void *data, Size len)
{
	if (likely(len <= file->size - file->used))
	{
		memcpy(file->buffer + file->used, data, len);
		file->used += len;
	}
	else
		order_file_put_rest(file, data, len);
}

/*
 * Prepares a reader, with a buffer of size bytes in the current memory context,
 * and starts it at the beginning of a sequence to which nothing is being
 * appended.  consume: the sequence's bytes are given back as they are read;
 * forgetting it is left to the caller.
 */
extern void order_reader_init(OrderReader *reader, OrderFile *file, Size size);
extern void order_reader_start(OrderReader *reader, const OrderExtents *extents, bool consume);

/* The slow half of order_reader_get. */
extern void order_reader_get_rest(OrderReader *reader, void *data, Size len);

/* The next len bytes, which must be there. */
static inline void
order_reader_get(OrderReader *reader, void *data, Size len)
{
	if (likely(len <= reader->filled - reader->used))
	{
		memcpy(data, reader->buffer + reader->used, len);
		reader->used += len;
	}
	else
		order_reader_get_rest(reader, data, len);
}

#endif							/* HPSORT_ORDER_FILE_H */

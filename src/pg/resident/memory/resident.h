/*
 * resident.h
 *		Resident columns: values of a column in shared memory, in extents of 128 blocks.
 *
 * This room is memory only: which columns there are, where their extents lie, what is given up
 * when there is no room.  It knows nothing of pages.  src/pg/column fills extents and reads them.
 * It also says when they are valid, by stamps and masks that mean nothing here.
 *
 * All functions are quick and take one lock.  Where there is no resident memory they do nothing,
 * and return false or zeros.  They raise no error, but for resident_status when the process has no
 * memory.
 *
 * An extent's bytes never change, but they may be given up while a process copies them.
 * resident_holds() says afterwards whether they were.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_RESIDENT_H
#define HPSORT_PG_RESIDENT_MEMORY_RESIDENT_H

#include "access/attnum.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

/* How many blocks an extent has; the last extent of a range of blocks may have fewer. */
#define RESIDENT_EXTENT_BLOCKS 128

/* Of how many values it is asked whether they repeat; fewer take little memory in any case. */
#define RESIDENT_LEAST_NUMBERED 65536

/*
 * The most that an extent's usage may count: how many reads of other columns the extent
 * survives unused.
 */
#define RESIDENT_MAX_USAGE 3

/* A set of an extent's blocks: block i is bit i % 64 of word i / 64. */
typedef struct ResidentBlocks
{
	uint64		words[RESIDENT_EXTENT_BLOCKS / 64];
} ResidentBlocks;

/* What a column's values depend on.  It has no padding, because keys are compared as bytes. */
typedef struct ResidentKey
{
	Oid			database;
	Oid			relid;
	uint16		attnum;
	uint16		missing;		/* 0: rows that lack the column are NULL, 1: have missing_value */
	uint32		type;			/* as the caller likes */
	int32		typmod;
	uint32		file[3];		/* tablespace, database, number */
	int64		missing_value;
} ResidentKey;

/* A copy of what the directory has of an extent. */
typedef struct ResidentExtent
{
	uint64		generation;		/* of these bytes; 0: there is no extent */
	uint64		place;			/* of the bytes: for resident_address */
	uint64		values;			/* generation of the column's values, of which the extent has
								 * numbers (column_values.h); 0: it has values */
	uint64		stamp;			/* the caller's */
	ResidentBlocks blocks;		/* that the extent may still be used for */
	ResidentBlocks numbered;	/* whose rows have line numbers 1, 2, 3 ... */
	uint32		size;			/* bytes */
	uint32		rows;
	uint32		nulls;			/* of these */
	int64		base;			/* bounds of the values: the smallest, ... */
	uint64		top;			/* ... and the largest one's distance from it */
	uint8		usage;			/* for eviction */
	bool		refused;		/* there is no extent, and shall be none (resident_refuse) */
} ResidentExtent;

/* Returns one more than the largest number of a value that an extent of numbers has. */
static inline uint64
resident_numbers(const ResidentExtent *extent)
{
	return extent->values == 0 || extent->nulls == extent->rows ? 0 :
		(uint64) extent->base + extent->top + 1;
}

/* Why a column, or part of it, is not resident. */
typedef enum ResidentReason
{
	RESIDENT_OK,
	RESIDENT_READ_ONCE,			/* values are kept from the second read on */
	RESIDENT_NOT_VISIBLE,		/* blocks are not all-visible */
	RESIDENT_CHANGES,			/* the table is updated between reads */
	RESIDENT_NO_ROOM,			/* hpsort.resident_memory is used up */
	RESIDENT_NO_MEMORY,			/* the system has no shared memory left */
	RESIDENT_NO_WORKER,			/* there is no background worker to allocate it */
	RESIDENT_NO_REPEATS,		/* numbers of values would save nothing */
	RESIDENT_LONG_VALUES		/* some are longer than values that have numbers may be */
} ResidentReason;

/* What a read of a column has done. */
typedef struct ResidentUse
{
	int64		blocks;			/* of the table */
	int64		hits;			/* blocks read from extents */
	int64		gpu_hits;		/* of these by the GPU */
	int64		refreshes;		/* extents */
	bool		complete;		/* this process has read the table's last block */
	ResidentReason reason;
} ResidentUse;

/*
 * Whether this session may use resident columns.  A quick test, to be made before any other
 * call.
 */
extern bool resident_enabled(void);

/* What is resident of a column. */
typedef struct ResidentSummary
{
	int64		reads;			/* complete ones */
	int64		rows;			/* in extents */
	int64		lo;				/* bounds of values that were in extents; of none, lo > hi */
	int64		hi;
	bool		no_repeats;		/* it was found that values hardly repeat: none are kept */
} ResidentSummary;

/*
 * Returns the epoch of the extents' generations; 0 if there is none.  It is a number that the
 * shared memory of resident columns is given when it is made.  No other server has it, nor this
 * server after a restart.
 */
extern uint64 resident_epoch(void);

/*
 * Sets *summary as resident_begin() does, without beginning a read.  Returns false if there is
 * no entry.
 */
extern bool resident_summarize(const ResidentKey *key, ResidentSummary *summary);

/* Ends a read, and notes what it has done, if the column still has its entry. */
extern void resident_end(const ResidentKey *key, const ResidentUse *use);

/*
 * Notes that this process is filling a column's extents, until resident_end(): that it has gone
 * through the first filled of the table's blocks.
 */
extern void resident_note_fill(const ResidentKey *key, int64 filled, int64 blocks);

/*
 * Copies what the directory has of extents first .. first + n - 1.  The result is for
 * resident_holds().
 */
extern uint64 resident_look(const ResidentKey *key, uint32 first, int n, ResidentExtent *extents);

/*
 * Returns where an extent's bytes lie in this process, until it calls any other function of this
 * header; NULL if they cannot be reached, or have been given back.
 */
extern const char *resident_address(const ResidentExtent *extent);

/*
 * Begins and ends a time in which memory is not given back to the system, if resident_address()
 * has returned its address since the begin.  Reading memory that has been given back would
 * allocate it again.  Where there is none left, the process, and the server with it, would end
 * by SIGBUS. No error may be raised in between.
 */
extern void resident_start_copying(void);
extern void resident_stop_copying(void);

/*
 * Whether bytes that have just been copied were the extent's all the time since the call of
 * resident_look() that returned seen.
 */
extern bool resident_holds(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
						   uint64 seen);

/*
 * Notes usage of an extent; and if blocks is not NULL, that the extent is
 * valid for these blocks, and no others, at that stamp.  If the directory has a later stamp, that
 * stays.
 */
extern void resident_mark(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
						  uint64 stamp, const ResidentBlocks *blocks);

/*
 * How far a read has searched the memory for extents to give up: once around at most.  Extents
 * of its own column are not given up.
 */
typedef struct ResidentSweep
{
	uint32		searched;		/* buckets of columns */
	bool		full;			/* the worker has no more memory: columns give up extents ... */
	bool		free_only;		/* ... unless only free memory may be used */
	bool		many;			/* the column's values are expected to repeat hardly */
	bool		saved;			/* what is published was resident before */
	ResidentReason reason;		/* of the last failure */
} ResidentSweep;

/*
 * Begins a read of a column of nextents extents, and sets *summary.  Makes an entry for the column,
 * if there is none.  An entry of the table and attribute under another key is forgotten, with its
 * extents.  Returns false if nothing can be kept.  May wait for the background
 * worker: shortly, or half a minute if only free memory may be used.
 */
extern bool resident_begin(const ResidentKey *key, uint32 nextents, ResidentSweep *sweep,
						   ResidentSummary *summary);

/*
 * Copies bytes into resident memory, as the extent of that number.  Returns false if there is
 * no room for it, or if it has numbers of values that have been given up.  expected is how many
 * bytes of extents the caller will still bring, these included.  place, generation and size
 * of *extent are ignored.  May wait for the worker as resident_begin() does.
 */
extern bool resident_publish(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
							 const void *bytes, Size size, Size expected, ResidentSweep *sweep);

/* Notes that no extent of that number shall be made. */
extern void resident_refuse(const ResidentKey *key, uint32 number);

/* Returns how much resident memory an extent of size bytes takes, with what is noted of it. */
extern Size resident_footprint(Size size);

/* Forgets a column of a table of this database; all its columns unless attnum is valid. */
extern void resident_forget(Oid relid, AttrNumber attnum);

/* Called when the library is loaded: what this process drops is forgotten at commit. */
extern void resident_init(void);

/* Where resident_next_copy() goes on; zeros at the beginning. */
typedef struct ResidentCursor
{
	uint32		bucket;
	uint32		column;			/* in the bucket */
	uint32		number;			/* of the extent */
	uint32		nvalues;		/* that have been copied ... */
	uint64		values;			/* ... of this generation */
} ResidentCursor;

/* An extent outside of resident memory; or values of a column. */
typedef struct ResidentCopy
{
	ResidentKey key;
	uint32		number;			/* of the extent, or of the first value */
	uint32		nextents;		/* of the column: one more than the largest number */
	uint32		nvalues;		/* 0: it is an extent */
	ResidentExtent extent;		/* of values: generation (values) and size */
} ResidentCopy;

/*
 * Copies the next extent of any database, and appends its bytes; before it, some at a time, the
 * values of which it has numbers, unless they have been copied.  Returns false after the last
 * extent.  Extents that come and go meanwhile may be left out, or come twice.
 *
 * The bytes of values are, for each of them, where it ends behind these numbers, of 32 bits; and
 * then the values.
 */
extern bool resident_next_copy(ResidentCursor *cursor, ResidentCopy *copy, StringInfo bytes);

/* What hpsort_resident shows of a column. */
typedef struct ResidentStatus
{
	Oid			relid;
	AttrNumber	attnum;
	ResidentReason reason;		/* why (some of) it is not resident, as of the last read */
	int64		rows;			/* in extents */
	int64		blocks;			/* of the table, when it was last read */
	int64		blocks_valid;	/* in extents, and not known to have changed */
	int			filler;			/* the process that fills, or has died filling; 0: none */
	int64		filled;			/* blocks that it has gone through */
	int64		bytes;
	int64		hits;			/* blocks read from extents */
	int64		gpu_hits;		/* of these by the GPU */
	int64		refreshes;		/* extents */
	int64		evictions;		/* extents */
} ResidentStatus;

/* Returns how hpsort_resident shows a reason, a literal; NULL for RESIDENT_OK. */
extern const char *resident_reason_text(ResidentReason reason);

/*
 * Returns why there is no memory for columns without an entry, as found at the last attempt;
 * RESIDENT_OK if none has failed.
 */
extern ResidentReason resident_failure(void);

/*
 * Returns a palloc'd list of a ResidentStatus for each column of this database that has an
 * entry.
 */
extern List *resident_status(void);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_RESIDENT_H */

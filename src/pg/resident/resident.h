/*
 * resident.h
 *		Resident columns: values of a column kept in shared memory, in extents of so many blocks.
 *
 * This room is memory only: which columns there are, where their extents lie, what is given up
 * when there is no room.  It knows nothing of pages.  src/pg/column fills extents, says by
 * stamps and masks, which mean nothing here, when they are valid, and reads them.
 *
 * All functions are quick, take one lock, raise no error (but resident_status, when the process
 * has no memory), and do nothing but return false or zeros where there is no resident memory.  An
 * extent's bytes never change.  They may be given up at any time while a process copies them:
 * resident_holds tells it afterwards.
 */
#ifndef HPSORT_PG_RESIDENT_RESIDENT_H
#define HPSORT_PG_RESIDENT_RESIDENT_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* Blocks of an extent; the last one of a range of blocks may have fewer. */
#define RESIDENT_EXTENT_BLOCKS 128

/* Which of an extent's blocks; bit i % 64 of word i / 64. */
typedef struct ResidentBlocks
{
	uint64		words[RESIDENT_EXTENT_BLOCKS / 64];
} ResidentBlocks;

/* What a column's values depend on.  Without padding: compared as bytes. */
typedef struct ResidentKey
{
	Oid			database;
	Oid			relid;
	uint32		attnum;
	uint32		type;			/* as the caller likes */
	uint32		file[3];		/* tablespace, database, number */
	uint32		missing;		/* 0: rows that lack the column are NULL, 1: have missing_value */
	int64		missing_value;
} ResidentKey;

/* An extent; a copy of what the directory has. */
typedef struct ResidentExtent
{
	uint64		generation;		/* of these bytes; 0: there is no extent */
	uint64		place;			/* of the bytes: for resident_address */
	uint64		stamp;			/* the caller's */
	uint64		last;			/* stamp that was compared at the last use */
	ResidentBlocks blocks;		/* those that the extent may still be used for */
	ResidentBlocks numbered;	/* those whose rows have line numbers 1, 2, 3 ... */
	uint32		size;			/* bytes */
	uint32		rows;
	uint32		nulls;			/* of these */
	int32		base;			/* bounds of the values: the smallest, ... */
	uint32		top;			/* ... and the largest one's distance from it */
	uint8		usage;			/* for eviction */
	uint8		moves;			/* uses in a row at which the stamp was another */
	uint8		skip;			/* uses that shall not look for the reason */
} ResidentExtent;

/* Why a column, or part of it, is not resident. */
typedef enum ResidentReason
{
	RESIDENT_OK,
	RESIDENT_READ_ONCE,			/* values are kept from the second read on */
	RESIDENT_NOT_VISIBLE,		/* blocks are not all-visible */
	RESIDENT_RANGE,				/* values outside of int4 */
	RESIDENT_CHANGES,			/* the table is updated between reads */
	RESIDENT_NO_ROOM,			/* hpsort.resident_memory is used up */
	RESIDENT_NO_MEMORY,			/* the system has no shared memory left */
	RESIDENT_NO_WORKER			/* there is no background worker to allocate it */
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

/* Whether this session may use resident columns: a quick test, to be made first. */
extern bool resident_enabled(void);

/* What is resident of a column. */
typedef struct ResidentSummary
{
	int64		reads;			/* how many times the column has been read completely */
	int64		rows;			/* in extents */
	int32		lo;				/* bounds of values that were in extents; of none, lo > hi */
	int32		hi;
} ResidentSummary;

/*
 * The epoch in which extents have their generations: a number that the shared memory of resident
 * columns is given when it is made, and that no other server has, nor this one after a restart; 0:
 * there is none.
 */
extern uint64 resident_epoch(void);

/*
 * Begins a read of a column of so many blocks.  Makes an entry for it, forgetting what was kept
 * of another key with the same table and attribute.  False if nothing can be kept.
 */
extern bool resident_begin(const ResidentKey *key, uint32 nextents, ResidentSummary *summary);

/* The same without beginning a read; false if there is no entry. */
extern bool resident_summarize(const ResidentKey *key, ResidentSummary *summary);

/* Notes what the read has done. */
extern void resident_end(const ResidentKey *key, const ResidentUse *use);

/*
 * Copies what the directory has of extents first .. first + n - 1.  The result is for
 * resident_holds.
 */
extern uint64 resident_look(const ResidentKey *key, uint32 first, int n, ResidentExtent *extents);

/* Where bytes lie in this process; NULL if they cannot be reached, or have been given back. */
extern const char *resident_address(const ResidentExtent *extent);

/*
 * Between these two calls the memory of an address that resident_address has returned since the
 * first of them is not given back to the system.  Reading it afterwards would allocate it again,
 * and where there is none left the process, and the server with it, would end by SIGBUS.  No error
 * may be raised in between.
 */
extern void resident_start_copying(void);
extern void resident_stop_copying(void);

/*
 * Whether bytes that have just been copied were those of the extent all the time since
 * resident_look, which returned seen.
 */
extern bool resident_holds(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
						   uint64 seen);

/*
 * The extent is valid for blocks, and no others, at that stamp; if the directory has a later
 * stamp, that stays.
 */
extern void resident_restamp(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
							 uint64 stamp, const ResidentBlocks *blocks);

/* Changes usage, moves, skip and last. */
extern void resident_mark(const ResidentKey *key, uint32 number, const ResidentExtent *extent);

/*
 * How much of the memory a read may search for extents to give up: once around.  Extents of
 * its own column are not given up.
 */
typedef struct ResidentSweep
{
	uint64		searched;		/* bytes */
	bool		full;			/* there is no more memory to be had */
	ResidentReason reason;		/* of the last failure */
} ResidentSweep;

/*
 * Copies bytes into resident memory, as the extent of that number; false if there is no room for
 * it.  expected is how many bytes of extents the caller has still to bring, these included.  Of
 * extent place, generation, size and moves are ignored.  May wait for the background worker,
 * shortly.
 */
extern bool resident_publish(const ResidentKey *key, uint32 number, const ResidentExtent *extent,
							 const void *bytes, Size size, Size expected, ResidentSweep *sweep);

/* Forgets columns: of a table of this database, all of them unless attnum is valid. */
extern void resident_forget(Oid relid, AttrNumber attnum);

/* What hpsort_resident shows of a column. */
typedef struct ResidentStatus
{
	Oid			relid;
	AttrNumber	attnum;
	int64		rows;			/* in extents */
	int64		blocks;			/* of the table, when it was last read */
	int64		blocks_valid;	/* in extents, and not known to have changed */
	int64		bytes;
	int64		hits;			/* blocks read from extents */
	int64		gpu_hits;		/* of these by the GPU */
	int64		refreshes;		/* extents */
	int64		evictions;		/* extents */
	const char *reason;			/* why (some of) it is not resident; NULL: it is */
} ResidentStatus;

/*
 * Why there is no memory for columns that have no entry, after an attempt; NULL if none has
 * failed.
 */
extern const char *resident_failure(void);

/* A ResidentStatus for each column of this database that has an entry; palloc'd. */
extern List *resident_status(void);

#endif							/* HPSORT_PG_RESIDENT_RESIDENT_H */

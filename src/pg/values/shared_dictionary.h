/*
 * shared_dictionary.h
 *		SharedDictionary: the values that the processes of a parallel query number together.
 *
 * A process's Dictionary asks it for the number of each value that it meets for the first time
 * (dictionary_share), so that a number stands for one value in all processes.  Numbers are given
 * from 0 in the order in which any process meets the values.
 *
 * It lies in dynamic shared memory, its values and tables in an area of the query.  From the first
 * value on for which there is no memory, no value gets a number any more.
 */
#ifndef HPSORT_PG_VALUES_SHARED_DICTIONARY_H
#define HPSORT_PG_VALUES_SHARED_DICTIONARY_H

#include "storage/lwlock.h"
#include "utils/dsa.h"

/* Values of the first chunk; each chunk has twice as many as the one before. */
#define SHARED_FIRST_VALUES 64

/* Chunks of numbers of up to 31 bits. */
#define SHARED_CHUNKS 26

typedef struct SharedDictionary
{
	LWLock		lock;			/* of all that follows */
	dsa_pointer table;			/* SharedEntries, by hash */
	uint32		mask;			/* their room, a power of two, less 1 */
	uint32		n;				/* values that have numbers */
	dsa_pointer chunks[SHARED_CHUNKS];	/* pointers to values, by number; they are never moved */
	dsa_pointer blocks;			/* of values: each has a pointer to the one before, then values */
	size_t		block_size;		/* bytes of the last block */
	size_t		block_left;		/* bytes of it that are free, at its end */
	size_t		bytes;			/* of all memory */
	bool		full;			/* no value gets a number any more */
} SharedDictionary;

/* Bytes of a value, as a Dictionary keeps them: behind header bytes, in multiples of alignment. */
typedef struct SharedImage
{
	const char *bytes;			/* behind the header */
	uint32		length;			/* of bytes, without the header */
	uint32		hash;			/* equal values have one */
	uint32		header;
	uint32		alignment;
} SharedImage;

/* Whether the value that is looked for is the one whose bytes, behind its header, are at bytes. */
typedef bool (*SharedIsValue) (void *arg, const char *bytes);

/* Makes a dictionary without values, or one in which values are to be numbered again. */
extern void shared_dictionary_init(SharedDictionary *shared);
extern void shared_dictionary_reset(SharedDictionary *shared, dsa_area *area);

/*
 * Returns the bytes of a value as they are in shared memory, behind their header, and sets *number
 * to its number: those of the first value for which is_value is true, or of a copy of image.
 * Returns NULL if all of the memory together would be more than limit.
 */
extern const char *shared_dictionary_find(SharedDictionary *shared, dsa_area *area, size_t limit,
										  const SharedImage *image, SharedIsValue is_value,
										  void *arg, uint32 *number);

/* Returns the bytes of a value that has a number, behind the header. */
extern const char *shared_dictionary_value(const SharedDictionary *shared, dsa_area *area,
										   uint32 number);

/* Whether a value has been refused; read without the lock, as n is. */
static inline bool
shared_dictionary_is_full(const SharedDictionary *shared)
{
	return *(const volatile bool *) &shared->full;
}

static inline uint32
shared_dictionary_size(const SharedDictionary *shared)
{
	return *(const volatile uint32 *) &shared->n;
}

#endif							/* HPSORT_PG_VALUES_SHARED_DICTIONARY_H */

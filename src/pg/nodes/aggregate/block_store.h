/*
 * block_store.h
 *		BlockStore: blocks of bytes that are put away, and read again by their places.
 *
 * A store of one process's own is a temporary file.  The blocks of a shared store are in dynamic
 * shared memory while they are few, and then in a shared temporary file, from which all processes
 * of a parallel query read them.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_BLOCK_STORE_H
#define HPSORT_PG_NODES_AGGREGATE_BLOCK_STORE_H

#include "postgres.h"

#include "storage/sharedfileset.h"
#include "utils/dsa.h"

/* Where a block is. */
typedef struct BlockPlace
{
	dsa_pointer pointer;		/* InvalidDsaPointer: in the file, at ... */
	off_t		offset;
	int			fileno;
} BlockPlace;

typedef struct BlockStore BlockStore;

/* Makes an empty store of this process's own, in the current memory context. */
extern BlockStore *block_store_make(void);

/*
 * Makes a shared store, or opens one to be read, in the current memory context.  number: of the
 * process that writes it, and closes it before others read.  memory_limit: bytes of shared memory
 * at most.
 */
extern BlockStore *block_store_make_shared(SharedFileSet *files, int number, dsa_area *area,
										   size_t memory_limit);

/* Closes the file: one of this process's own is gone then.  Frees the store. */
extern void block_store_close(BlockStore *store);

/* Puts a block away, and sets *place. */
extern void block_store_put(BlockStore *store, const void *data, size_t size, BlockPlace *place);

/*
 * Returns a block, valid until the next call.  Moves a place in the file to the block that
 * was put next.
 */
extern const void *block_store_get(BlockStore *store, BlockPlace *place);

/* Bytes written to the file. */
extern uint64 block_store_disk(const BlockStore *store);

/* The blocks of a store that are in shared memory, and how to free them when none is read. */
extern dsa_pointer block_store_shared(const BlockStore *store);
extern void block_store_free_shared(dsa_area *area, dsa_pointer blocks);

#endif							/* HPSORT_PG_NODES_AGGREGATE_BLOCK_STORE_H */

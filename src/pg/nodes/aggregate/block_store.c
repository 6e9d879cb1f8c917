/*
 * block_store.c
 *		Blocks of bytes in shared memory and temporary files (see block_store.h).
 *
 * In a file the size of a block is in front of it, in shared memory a pointer to the block that was
 * put before.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/block_store.h"

/*
 * Bytes of shared memory for the blocks of a process.  More than a little is better off in a
 * file, which the kernel keeps in memory as well: it gives each process its pages at once, where
 * dynamic shared memory is made larger under a lock.  Not where files are limited.
 */
#define SHARED_BYTES (1024 * 1024)

struct BlockStore
{
	MemoryContext memory;
	BufFile    *file;			/* NULL: none yet */
	uint64		disk;

	/* of a block that has been read from the file */
	char	   *buffer;
	size_t		buffer_size;

	/* of a shared store; files is NULL otherwise */
	SharedFileSet *files;
	int			number;
	dsa_area   *area;
	size_t		memory_left;
	dsa_pointer shared;			/* the last block in shared memory */
};

typedef struct SharedBlock
{
	dsa_pointer before;
	char		data[FLEXIBLE_ARRAY_MEMBER];
} SharedBlock;

BlockStore *
block_store_make(void)
{
	BlockStore *store = palloc0_object(BlockStore);

	store->memory = CurrentMemoryContext;
	return store;
}

BlockStore *
block_store_make_shared(SharedFileSet *files, int number, dsa_area *area, size_t memory_limit)
{
	BlockStore *store = block_store_make();

	store->files = files;
	store->number = number;
	store->area = area;
	store->memory_left = temp_file_limit < 0 ? Min(memory_limit, SHARED_BYTES) : memory_limit;
	return store;
}

void
block_store_close(BlockStore *store)
{
	if (store->file)
		BufFileClose(store->file);
	if (store->buffer)
		pfree(store->buffer);
	pfree(store);
}

uint64
block_store_disk(const BlockStore *store)
{
	return store->disk;
}

dsa_pointer
block_store_shared(const BlockStore *store)
{
	return store->shared;
}

void
block_store_free_shared(dsa_area *area, dsa_pointer blocks)
{
	while (DsaPointerIsValid(blocks))
	{
		const SharedBlock *block = dsa_get_address(area, blocks);
		dsa_pointer before = block->before;

		dsa_free(area, blocks);
		blocks = before;
	}
}

/* Sees to it that the file is open, which may be there already if it is shared. */
static void
open_file(BlockStore *store, bool exists)
{
	MemoryContext old = MemoryContextSwitchTo(store->memory);
	char		name[MAXPGPATH];

	snprintf(name, sizeof(name), "blocks.%d", store->number);
	if (store->file == NULL && store->files == NULL)
	{
		PrepareTempTablespaces();
		store->file = BufFileCreateTemp(false);
	}
	else if (store->file == NULL)
		store->file = exists ? BufFileOpenFileSet(&store->files->fs, name, O_RDONLY, false) :
			BufFileCreateFileSet(&store->files->fs, name);
	MemoryContextSwitchTo(old);
}

void
block_store_put(BlockStore *store, const void *data, size_t size, BlockPlace *place)
{
	size_t		shared_size = offsetof(SharedBlock, data) + size;
	uint32		size_in_file = (uint32) size;

	CHECK_FOR_INTERRUPTS();
	memset(place, 0, sizeof(*place));
	if (shared_size <= store->memory_left)
		place->pointer = dsa_allocate_extended(store->area, shared_size, DSA_ALLOC_NO_OOM);
	if (DsaPointerIsValid(place->pointer))
	{
		SharedBlock *block = dsa_get_address(store->area, place->pointer);

		block->before = store->shared;
		memcpy(block->data, data, size);
		store->shared = place->pointer;
		store->memory_left -= shared_size;
		return;
	}
	open_file(store, false);
	BufFileTell(store->file, &place->fileno, &place->offset);
	BufFileWrite(store->file, (void *) &size_in_file, sizeof(size_in_file));
	BufFileWrite(store->file, (void *) data, size);
	store->disk += sizeof(size_in_file) + size;
}

const void *
block_store_get(BlockStore *store, BlockPlace *place)
{
	uint32		size;

	CHECK_FOR_INTERRUPTS();
	if (DsaPointerIsValid(place->pointer))
		return ((SharedBlock *) dsa_get_address(store->area, place->pointer))->data;
	open_file(store, true);
	if (BufFileSeek(store->file, place->fileno, place->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of HpSort Aggregate")));
	compat_buffile_read(store->file, &size, sizeof(size));
	if (size > store->buffer_size)
	{
		if (store->buffer)
			pfree(store->buffer);
		store->buffer = MemoryContextAlloc(store->memory, size);
		store->buffer_size = size;
	}
	compat_buffile_read(store->file, store->buffer, size);
	BufFileTell(store->file, &place->fileno, &place->offset);
	return store->buffer;
}

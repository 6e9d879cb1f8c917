/*
 * resident_gpu.c
 *		Resident extents counted by the GPU (see resident_gpu.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/column/list_room.h"
#include "pg/column/resident_gpu.h"
#include "pg/compat.h"
#include "pg/interrupts.h"
#include "pg/sort_context.h"
#include "sort/extent_job.h"
#include "sort/job.h"

struct ResidentGpu
{
	SortContext context;
	uint32	   *numbers;		/* of extents */
	SortExtent *extents;		/* the same for the device */
	size_t		n;
	size_t		room;
	size_t		next;			/* resident_gpu_next */
	int32		lo;				/* bounds of all values */
	int32		hi;

	/* while the GPU is given bytes */
	const ResidentKey *key;
	ExtentCopy	copy;
};

/* Lists with gpu->room, in one piece of memory. */
static void
make_lists(ResidentGpu *gpu)
{
	gpu->extents = list_room_take(gpu->copy.memory, gpu->room * (sizeof(SortExtent) + sizeof(uint32)));
	gpu->numbers = (uint32 *) (gpu->extents + gpu->room);
}

static void
grow_lists(ResidentGpu *gpu)
{
	const SortExtent *extents = gpu->extents;
	const uint32 *numbers = gpu->numbers;

	gpu->room *= 2;
	make_lists(gpu);
	memcpy(gpu->extents, extents, gpu->n * sizeof(SortExtent));
	memcpy(gpu->numbers, numbers, gpu->n * sizeof(uint32));
}

ResidentGpu *
resident_gpu_make(const ResidentSummary *summary, size_t room)
{
	ResidentGpu *gpu;
	SortContext context;

	pg_sort_context(&context, CurrentMemoryContext);
	if (summary->rows <= 0 || summary->lo > summary->hi ||
		!extent_job_pays(&context, (uint64) summary->rows, summary->lo, summary->hi))
	{
		pg_check_interrupts();
		return NULL;
	}
	gpu = palloc0_object(ResidentGpu);
	gpu->copy.memory = CurrentMemoryContext;
	gpu->context = context;
	gpu->room = room;
	make_lists(gpu);
	gpu->lo = PG_INT32_MAX;
	gpu->hi = PG_INT32_MIN;
	return gpu;
}

void
resident_gpu_add(ResidentGpu *gpu, const ExtentReader *reader, uint32 number,
				 const ResidentBlocks *blocks)
{
	const ResidentExtent *extent = &reader->extents[number % VISIBILITY_EXTENTS];
	int64		top = (int64) extent->base + extent->top;

	if (gpu->n == gpu->room)
		grow_lists(gpu);
	gpu->numbers[gpu->n] = number;
	gpu->extents[gpu->n] = (SortExtent) {
		.generation = extent->generation,
		.blocks = {blocks->words[0], blocks->words[1]}
	};
	gpu->n++;
	gpu->lo = Min(gpu->lo, extent->base);
	gpu->hi = (int32) Max((int64) gpu->hi, top);
}

bool
extent_copy(ExtentCopy *copy, const ResidentKey *key, uint32 number, uint64 generation, const void **bytes, size_t *size)
{
	ResidentExtent extent;
	uint64		seen = resident_look(key, number, 1, &extent);
	const char *address;

	if (extent.generation != generation)
		return false;
	if (extent.size > copy->room)
	{
		char	   *room = MemoryContextAllocExtended(copy->memory, extent.size, MCXT_ALLOC_NO_OOM);

		if (room == NULL)
			return false;
		if (copy->bytes)
			pfree(copy->bytes);
		copy->bytes = room;
		copy->room = extent.size;
	}
	resident_start_copying();
	address = resident_address(&extent);
	if (address)
		memcpy(copy->bytes, address, extent.size);
	resident_stop_copying();
	*bytes = copy->bytes;
	*size = extent.size;
	return address && resident_holds(key, number, &extent, seen);
}

/* An ExtentFetch: a copy of an extent, unless it has been given up. */
static bool
fetch_extent(void *arg, size_t i, const void **bytes, size_t *size)
{
	ResidentGpu *gpu = (ResidentGpu *) arg;

	return extent_copy(&gpu->copy, gpu->key, gpu->numbers[i], gpu->extents[i].generation, bytes, size);
}

void
resident_gpu_count(ResidentGpu *gpu, const ResidentKey *key, ResidentGpuCounts *counts)
{
	ExtentJob	job = {
		.extents = gpu->extents,
		.n = gpu->n,
		.lo = gpu->lo,
		.hi = gpu->hi,
		.fetch = fetch_extent,
		.arg = gpu
	};
	SortError	err;
	SortStatus	status;
	size_t		i;

	memset(counts, 0, sizeof(*counts));
	if (gpu->n == 0)
		return;
	gpu->key = key;
	status = extent_job_run(&gpu->context, &job, &counts->runs, &err);
	pg_check_interrupts();
	if (status != SORT_OK)
	{
		sort_job_gpu_failed(&gpu->context, &err);
		counts->runs.len = 0;
		return;
	}
	for (i = 0; i < gpu->n; i++)
		if (gpu->extents[i].added)
		{
			const ResidentBlocks blocks = {{gpu->extents[i].blocks[0], gpu->extents[i].blocks[1]}};

			counts->blocks += resident_blocks_count(&blocks);
			counts->values += gpu->extents[i].rows - gpu->extents[i].nulls;
			counts->nulls += gpu->extents[i].nulls;
		}
}

bool
resident_gpu_next(ResidentGpu *gpu, ExtentReader *reader, uint32 *number, ResidentBlocks *blocks)
{
	const SortExtent *extent;

	while (gpu->next < gpu->n && gpu->extents[gpu->next].added)
		gpu->next++;
	if (gpu->next == gpu->n)
		return false;
	extent = &gpu->extents[gpu->next];
	*number = gpu->numbers[gpu->next];
	memcpy(blocks->words, extent->blocks, sizeof(blocks->words));
	extent_reader_look_again(reader, *number, extent->generation);
	gpu->next++;
	return true;
}

bool
resident_gpu_add_nulls(ResidentGpuCounts *counts, ColumnBatch *batch)
{
	size_t		n = column_batch_repeat(batch, 0, true, (uint64) counts->nulls);

	counts->nulls -= (int64) n;
	return n > 0;
}

/*
 * resident_gpu.h
 *		ResidentGpu: the valid blocks of a scan's extents, whose values the GPU shall count.
 *
 * The GPU has copies of extents, by their generation, and is given those that it lacks.  It returns the
 * runs of their values.  What it does not count, for whatever reason, is left for the scan.
 */
#ifndef HPSORT_PG_COLUMN_RESIDENT_GPU_H
#define HPSORT_PG_COLUMN_RESIDENT_GPU_H

#include "postgres.h"

#include "pg/column/extent_reader.h"
#include "pg/resident/resident.h"
#include "sort/runs.h"

/* Copies of extents, one at a time, for the GPU. */
typedef struct ExtentCopy
{
	MemoryContext memory;
	char	   *bytes;
	Size		room;
} ExtentCopy;

/*
 * A copy of the extent of that number and generation, until the next one; false if it has been given up, or there is no
 * memory.
 */
extern bool extent_copy(ExtentCopy *copy, const ResidentKey *key, uint32 number, uint64 generation, const void **bytes,
						size_t *size);

typedef struct ResidentGpu ResidentGpu;

/*
 * For a column of which that is resident, with room for so many extents at first; NULL if the CPU should count.  In the
 * current memory context.
 */
extern ResidentGpu *resident_gpu_make(const ResidentSummary *summary, size_t room);

/* Notes blocks of an extent that the reader has looked at. */
extern void resident_gpu_add(ResidentGpu *gpu, const ExtentReader *reader, uint32 number,
							 const ResidentBlocks *blocks);

typedef struct ResidentGpuCounts
{
	Runs		runs;			/* of the values; the ResidentGpu's */
	int64		values;			/* in the runs */
	int64		nulls;
	int64		blocks;			/* that were counted */
} ResidentGpuCounts;

/* Has the GPU count what has been noted. */
extern void resident_gpu_count(ResidentGpu *gpu, const ResidentKey *key, ResidentGpuCounts *counts);

/*
 * Moves some of the NULLs to the batch of an aligned scan, where they are rows like others; false if it is
 * full.
 */
extern bool resident_gpu_add_nulls(ResidentGpuCounts *counts, ColumnBatch *batch);

/*
 * The next extent that has not been counted: lets the reader know of it, and returns its number and
 * blocks; false if there is none.
 */
extern bool resident_gpu_next(ResidentGpu *gpu, ExtentReader *reader, uint32 *number,
							  ResidentBlocks *blocks);

#endif							/* HPSORT_PG_COLUMN_RESIDENT_GPU_H */

/*
 * extent_samples.h
 *		What the tests of extents in the GPU service share: extents whose values are known, and jobs
 *		that keep and add them.
 */
#ifndef HPSORT_EXTENT_SAMPLES_H
#define HPSORT_EXTENT_SAMPLES_H

#include "gpu_support.h"
#include "sort/extents/extent.h"

#define MOST_BLOCKS 128
#define EPOCH UINT64_C(0x1234567890ABCDEF)

/* The values of an extent, and the extent. */
typedef struct ExtentSample
{
	uint32_t	nblocks;
	uint32_t	nrows;
	uint32_t	counts[MOST_BLOCKS];
	int64_t    *values;
	uint8_t    *nulls;
	Extent	   *extent;
} ExtentSample;

/* Some blocks of an extent, and what became of them: SortRows of one column. */
typedef struct ExtentBlocks
{
	uint64_t	generation;
	uint64_t	blocks[2];
	bool		added;
	uint32_t	rows;
	uint32_t	nulls;
} ExtentBlocks;

/* SortDevice.add_rows of one column without a layout. */
extern SortStatus extents_add(SortJob *job, ExtentBlocks *extents, size_t n, SortError *err);

/* rows_max: of a block; span: the largest distance; nulls_in: one row of so many, 0: none. */
extern void extent_sample_make(ExtentSample *s, uint32_t nblocks, uint32_t rows_max, uint32_t span, int nulls_in);

extern void extent_sample_free(ExtentSample *s);

extern void extent_sample_all(const ExtentSample *s, ExtentBlocks *extent);

extern void extent_sample_some(const ExtentSample *s, ExtentBlocks *extent);

/* Appends the keys of blocks to keys; returns how many, and *rows. */
extern size_t extent_sample_keys(const ExtentSample *s, const uint64_t *blocks, int32_t *keys, uint32_t *nrows);

extern void extents_connect(GpuUnit *u, const GpuService *s, uint64_t epoch);

extern SortJob *extents_open(GpuUnit *u, SortWant want);

/* Ends a job of n keys, and compares its result; frees nothing. */
extern void extents_check_result(SortJob *job, int32_t *keys, size_t n);

extern void extents_keep(SortJob *job, uint64_t generation, const ExtentSample *s);

extern GpuDeviceStatus extents_status_of(GpuUnit *u);

/* Many samples, for those tests that only ask which of them are kept. */
#define MANY 64

extern ExtentSample many[MANY];

extern void many_make(uint32_t nblocks, uint32_t rows_max);

extern void many_free(void);

/* Asks for samples from .. to - 1, of generations that begin with first; returns how many there are. */
extern int many_add(SortJob *job, uint64_t first, int from, int to, int32_t *keys, size_t *n);

extern size_t many_rows(void);

/* A job of its own that keeps samples, if keeping, then asks for them; returns how many there are. */
extern int many_job(GpuUnit *u, bool keeping, uint64_t first, int from, int to);

#endif							/* HPSORT_EXTENT_SAMPLES_H */

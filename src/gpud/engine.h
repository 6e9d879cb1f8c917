/*
 * engine.h
 *		What sorts inside the service, behind one table of functions: the CUDA
 *		engine (cuda.c), or the CPU (cpu.c) for machines without a GPU and for tests.
 *
 * Called by devices.c and by job.c and its companions.  As in
 * cuda/hpsort_cuda.h, keys are added in chunks without waiting for the device,
 * and results are read in parts.
 */
#ifndef HPSORT_GPUD_ENGINE_H
#define HPSORT_GPUD_ENGINE_H

#include "gpu/protocol.h"
#include "sort/extent.h"
#include "sort/rows_layout.h"

typedef struct EngineError
{
	GpuFailure	failure;		/* GPU_OK: key is out of bounds */
	int32_t		key;			/* that key */
	bool		sticky;			/* the device can be used by a new process only */
	bool		cancelled;		/* by job_cancel: no failure of the device */
	char		text[GPU_TEXT_SIZE];
} EngineError;

typedef struct EngineInfo
{
	int			ordinal;		/* -1: the CPU */
	char		name[128];
	uint64_t	memory_total;	/* bytes */
	uint64_t	memory_free;
} EngineInfo;

typedef struct EngineSpec
{
	uint64_t	n;				/* expected keys, 0: unknown */
	int32_t		lo;				/* promised bounds, inclusive; all of int4: none */
	int32_t		hi;
	SortWant	want;
	bool		descending;		/* direction of the permutation */
	SortAlgorithm algorithm;	/* this one or none; AUTO: the engine's choice */
	bool		floats;			/* keys are images of float4, which may be divided by value */
	void	   *const *others;	/* handles of further devices that the job may use */
	int			nothers;
} EngineSpec;

/* Rows of an extent that the engine holds. */
typedef struct EnginePiece
{
	void	   *held;			/* of job_keep_extent */
	uint32_t	first;			/* row of the extent */
	uint32_t	n;				/* rows, NULLs included */
} EnginePiece;

typedef struct EngineResult
{
	uint64_t	n;
	uint64_t	distinct;		/* 0: not known (or n is 0) */
	SortAlgorithm algorithm;	/* AUTO: nothing was sorted */
	char		reason[GPU_TEXT_SIZE];
} EngineResult;

/*
 * Functions that can fail return false and fill *err.  A device is what open
 * returned, a job what job_open did; both are freed by their close.
 */
typedef struct Engine
{
	/* Devices of this host are numbered (ordinal) from 0 to *count - 1. */
	bool		(*count) (int *count, EngineError *err);
	bool		(*info) (int ordinal, EngineInfo *info, EngineError *err);

	/* memory_limit is bytes for all jobs of the device, 0: no limit. */
	bool		(*open) (int ordinal, uint64_t memory_limit, void **device, EngineError *err);
	void		(*close) (void *device);

	/* Prepares host memory for fast copies by all devices of the process. */
	bool		(*pin) (void *device, void *memory, size_t bytes, EngineError *err);

	/* Bytes of device memory that jobs use now. */
	uint64_t	(*memory_used) (void *device);

	/* Gives back memory that is kept for jobs to come. */
	void		(*trim) (void *device);

	/* One thread uses a job, but any thread may cancel it. */
	bool		(*job_open) (void *device, const EngineSpec *spec, void **job, EngineError *err);

	/*
	 * Adds keys, which must stay unchanged until job_consumed reports *number;
	 * calls of job_add are numbered from 1.  After GPU_NO_MEMORY a second call either adds the
	 * keys, none of which has been added then, or fails: the job may be lost.  So does job_add_pieces.
	 */
	bool		(*job_add) (void *job, const int32_t *keys, uint32_t n, uint64_t *number,
							EngineError *err);

	/* *number is the last call of job_add whose keys are read; wait: of all. */
	bool		(*job_consumed) (void *job, bool wait, uint64_t *number, EngineError *err);

	/*
	 * Copies an extent to the job's device, to be held beyond the job until extent_drop, and used by
	 * any job of that device.  header is the engine's for the call, and sound; bytes is the extent
	 * in a chunk, whose own header may be anything by now.  Numbered as calls of job_add, and
	 * bytes must stay unchanged as keys do.  It has rows.  GPU_NO_MEMORY does no harm to the job.
	 */
	bool		(*job_keep_extent) (void *job, const Extent *header, const void *bytes, void **held,
									uint64_t *number, EngineError *err);

	/* Frees what is held, after the job that brought it and the jobs that have been given it. */
	void		(*extent_drop) (void *device, void *held);

	/* Adds the keys of pieces, without NULLs, *keys of them.  pieces may be changed on return. */
	bool		(*job_add_pieces) (void *job, const EnginePiece *pieces, uint32_t n,
								   uint64_t *keys, EngineError *err);

	/*
	 * Says which keys rows have, once, when all keys have been added that are not those of rows; layout is sound.  Later
	 * calls of job_add and job_add_pieces fail.
	 */
	bool		(*job_set_rows) (void *job, const RowsLayout *layout, const ValueRange *ranges, EngineError *err);

	/*
	 * Adds the keys of rows: pieces has a piece of each column, of the same number of rows, nrows times, one row of
	 * pieces behind the other.  Errors are those of job_add_pieces; what job_finish says of n is how many rows had a key.
	 */
	bool		(*job_add_rows) (void *job, const EnginePiece *pieces, uint32_t nrows, EngineError *err);

	/* No more keys will come: sorts. */
	bool		(*job_finish) (void *job, EngineResult *result, EngineError *err);

	/* Number of runs, which are counted if they have not been. */
	bool		(*job_distinct) (void *job, uint64_t *distinct, EngineError *err);

	/*
	 * Writes items first .. first + count - 1 of a form to chunk, as GpuData
	 * says that they lie there.  Only keys can be read descending; a permutation
	 * has the direction that it was opened with.
	 */
	bool		(*job_read) (void *job, GpuForm form, bool descending, uint64_t first,
							 uint32_t count, void *chunk, EngineError *err);

	/*
	 * After job_finish, of the keys in ascending order: those at positions, which are below the number of keys, and how
	 * many are smaller than each of other keys.
	 */
	bool		(*job_at) (void *job, const uint64_t *positions, uint32_t n, int32_t *keys, EngineError *err);
	bool		(*job_below) (void *job, const int32_t *keys, uint32_t n, uint64_t *positions, EngineError *err);

	/* Makes the call in progress, and all later ones, fail soon. */
	void		(*job_cancel) (void *job);
	void		(*job_close) (void *job);
} Engine;

/* Fills *err, format as printf; returns false, for the caller to return. */
extern bool engine_fail(EngineError *err, GpuFailure failure, const char *format,...)
			__attribute__((format(printf, 3, 4)));

#endif							/* HPSORT_GPUD_ENGINE_H */

/*
 * engine.h
 *		What sorts inside the service: the CUDA engine, or the CPU (for machines
 *		without a GPU and for tests), behind one table of functions.
 *
 * Implemented by cuda.c and cpu.c, used by devices.c and
 * connection.c.  The shape is that of cuda/hpsort_cuda.h: keys are added
 * in chunks without waiting, results are read in parts.
 */
#ifndef HPSORT_GPUD_ENGINE_H
#define HPSORT_GPUD_ENGINE_H

#include "gpu/protocol.h"

typedef struct EngineError
{
	GpuFailure	failure;		/* GPU_OK: key is out of bounds */
	int32_t		key;
	bool		sticky;			/* the device needs a new process */
	bool		cancelled;
	char		text[GPU_TEXT_SIZE];
} EngineError;

typedef struct EngineInfo
{
	int			ordinal;
	char		name[128];
	uint64_t	memory_total;
	uint64_t	memory_free;
} EngineInfo;

typedef struct EngineSpec
{
	uint64_t	n;				/* expected keys, 0: unknown */
	int32_t		lo;				/* promised bounds; all of int4: none */
	int32_t		hi;
	SortWant	want;
	bool		descending;		/* of the permutation */
	SortAlgorithm algorithm;	/* this one or none; AUTO: the engine's choice */
	void	   *const *others;	/* handles of further devices that it may use */
	int			nothers;
} EngineSpec;

typedef struct EngineResult
{
	uint64_t	n;
	uint64_t	distinct;		/* 0: not known (or n is 0) */
	SortAlgorithm algorithm;	/* AUTO: nothing was sorted */
	char		reason[GPU_TEXT_SIZE];
} EngineResult;

/* Functions that can fail return false and fill *err. */
typedef struct Engine
{
	bool		(*count) (int *count, EngineError *err);
	bool		(*info) (int ordinal, EngineInfo *info, EngineError *err);
	bool		(*open) (int ordinal, uint64_t memory_limit, void **device, EngineError *err);
	void		(*close) (void *device);
	bool		(*pin) (void *device, void *memory, size_t bytes, EngineError *err);
	uint64_t	(*memory_used) (void *device);
	void		(*trim) (void *device);

	/* One thread uses a job, but for cancel, which any may call. */
	bool		(*job_open) (void *device, const EngineSpec *spec, void **job, EngineError *err);

	/*
	 * keys stay unchanged until consumed() reports *number, which counts the
	 * calls from 1.
	 */
	bool		(*job_add) (void *job, const int32_t *keys, uint32_t n, uint64_t *number,
							EngineError *err);
	bool		(*job_consumed) (void *job, bool wait, uint64_t *number, EngineError *err);
	bool		(*job_finish) (void *job, EngineResult *result, EngineError *err);

	/* Number of runs, finding them if need be. */
	bool		(*job_distinct) (void *job, uint64_t *distinct, EngineError *err);

	/* Items first .. first + count - 1 of a form, as they lie in a chunk. */
	bool		(*job_read) (void *job, GpuForm form, bool descending, uint64_t first,
							 uint32_t count, void *chunk, EngineError *err);
	void		(*job_cancel) (void *job);
	void		(*job_close) (void *job);
} Engine;

extern const Engine cpu_engine;

/* NULL in a build without CUDA. */
extern const Engine *cuda_engine(void);

/* Fills *err; false, for return. */
extern bool engine_fail(EngineError *err, GpuFailure failure, const char *format,...)
			__attribute__((format(printf, 3, 4)));

#endif							/* HPSORT_GPUD_ENGINE_H */

/*
 * job.h
 *		A job on a device, in one place: asking for a GPU's costs, running a job
 *		from open to close, and telling that the CPU has to take over.
 *
 * For the sorter and rows.c, and for the GPU service and its supervisor, which
 * run jobs of their own.  Knows devices through device.h only.
 */
#ifndef HPSORT_JOB_H
#define HPSORT_JOB_H

#include "sort/device/device.h"
#include "sort/plan.h"

/*
 * What to read of a job, and where to: the one pointer that is not NULL.
 * keys and positions have room for all keys; runs are of the job's allocator.
 * It is the caller's, and its contents are undefined on failure.
 */
typedef struct SortOutput
{
	bool		descending;		/* of keys and positions; runs ascend always */
	bool		as_planned;		/* fail if the device took another algorithm than planned */
	Runs	   *runs;
	int32_t    *keys;
	uint32_t   *positions;		/* the permutation: ... */
	uint32_t	first;			/* ... what the position of the first key added is called */
} SortOutput;

/* What a job must be opened for to give that output. */
static inline SortWant
sort_output_want(const SortOutput *output)
{
	return output->positions ? SORT_WANT_PERMUTATION : output->keys ? SORT_WANT_KEYS
		: SORT_WANT_RUNS;
}

/*
 * Opens a job and adds spec->n keys; with keys NULL the caller adds them, with
 * device->add.  On failure *job is NULL; otherwise the caller must end the job
 * by sort_job_complete or device->close.
 */
extern SortStatus sort_job_start(const SortDevice *device, const SortContext *context,
								 const SortJobSpec *spec, const int32_t *keys, SortJob **job,
								 SortError *err);

/*
 * Finishes a job to which all keys were added, reads the output and closes the
 * job, whatever happens.  plan (NULL allowed) is told what the device did: its
 * algorithm, its words as the note.
 */
extern SortStatus sort_job_complete(SortJob *job, const SortOutput *output, SortPlan *plan,
									SortError *err);

/* sort_job_start and sort_job_complete: a job of keys that lie in one array. */
extern SortStatus sort_job_run(const SortDevice *device, const SortContext *context,
							   const SortJobSpec *spec, const int32_t *keys,
							   const SortOutput *output, SortPlan *plan, SortError *err);

/* The plan's input for n keys from lo to hi, with what context forces, without a GPU. */
extern SortPlanInput sort_job_plan_input(const SortContext *context, SortWant want, uint64_t n,
										 int32_t lo, int32_t hi);

/*
 * Asks context's GPU for its costs if the plan says that a GPU might pay: fills
 * in->gpu, or in->gpu_reason when none can be used now.  required: the job is
 * impossible without a GPU, so that one is worth waiting for.
 */
extern void sort_job_ask_gpu(const SortContext *context, bool required, SortPlanInput *in);

/* Tells the lender of context's GPU that the CPU takes over, and why. */
extern void sort_job_gpu_failed(const SortContext *context, const SortError *failure);

#endif							/* HPSORT_JOB_H */

/*
 * job.c
 *		A job on a device (see job.h).
 */
#include "sort/device/job.h"

#include <stdio.h>

#include "sort/algorithms.h"
#include "sort/error.h"

SortStatus
sort_job_start(const SortDevice *device, const SortContext *context, const SortJobSpec *spec,
			   const int32_t *keys, SortJob **job, SortError *err)
{
	SortStatus	status;

	*job = NULL;
	status = device->open(context, spec, job, err);
	if (status == SORT_OK && keys)
		status = device->add(*job, keys, (size_t) spec->n, err);
	if (status != SORT_OK && *job)
	{
		device->close(*job);
		*job = NULL;
	}
	return status;
}

/* What the device did, which is only known after finish. */
static SortStatus
take_description(SortJob *job, bool as_planned, SortPlan *plan, SortError *err)
{
	SortAlgorithm planned = plan->algorithm;
	const char *words = job->device->describe(job, &plan->algorithm);

	snprintf(plan->note, sizeof(plan->note), "%s", words ? words : "");
	if (as_planned && plan->algorithm != planned)
		return sort_fail(err, SORT_UNSUPPORTED,
						 "the GPU sorts such keys with algorithm \"%s\" only",
						 sort_algorithm_name(plan->algorithm));
	return SORT_OK;
}

SortStatus
sort_job_complete(SortJob *job, const SortOutput *output, SortPlan *plan, SortError *err)
{
	const SortDevice *device = job->device;
	SortStatus	status = device->finish(job, err);

	if (status == SORT_OK && plan && device->describe)
		status = take_description(job, output->as_planned, plan, err);
	if (status == SORT_OK && output->runs)
		status = device->read_runs(job, output->runs, err);
	else if (status == SORT_OK && output->keys)
		status = device->read_keys(job, output->descending, output->keys, err);
	else if (status == SORT_OK && output->positions)
		status = device->read_permutation(job, output->descending, output->first,
										  output->positions, err);
	device->close(job);
	return status;
}

SortStatus
sort_job_run(const SortDevice *device, const SortContext *context, const SortJobSpec *spec,
			 const int32_t *keys, const SortOutput *output, SortPlan *plan, SortError *err)
{
	SortJob    *job;
	SortStatus	status = sort_job_start(device, context, spec, keys, &job, err);

	return status == SORT_OK ? sort_job_complete(job, output, plan, err) : status;
}

SortPlanInput
sort_job_plan_input(const SortContext *context, SortWant want, uint64_t n, int32_t lo, int32_t hi)
{
	return (SortPlanInput)
	{
		.n = n,
			.lo = lo,
			.hi = hi,
			.want = want,
			.device = context->device,
			.algorithm = context->algorithm,
			.algorithm_memory = context->algorithm_memory,
	};
}

void
sort_job_ask_gpu(const SortContext *context, bool required, SortPlanInput *in)
{
	const SortGpu *gpu = context->gpu;

	if (gpu && plan_asks_gpu(in))
		in->gpu = gpu->costs(gpu->arg, in->n, required, &in->gpu_reason);
}

void
sort_job_gpu_failed(const SortContext *context, const SortError *failure)
{
	const SortGpu *gpu = context->gpu;

	if (gpu->failed)
		gpu->failed(gpu->arg, failure);
}

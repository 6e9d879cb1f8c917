/*
 * gpu_types.h
 *		What everybody who deals with the GPU service has in common: why the GPU was
 *		not used, the state of a device, and how the service ends.
 */
#ifndef HPSORT_GPU_TYPES_H
#define HPSORT_GPU_TYPES_H

#include <stdint.h>

/*
 * Why the GPU was not used or gave up; hpsort_stat_gpu counts by these.  Travels
 * in messages (GpuError), as GpuDeviceStatus does.
 */
typedef enum GpuFailure
{
	GPU_OK = 0,
	GPU_DISABLED,				/* switched off by a setting */
	GPU_NOT_RUNNING,			/* no service yet; one may be starting */
	GPU_NO_DEVICE,				/* no driver or no usable GPU on this host */
	GPU_CONNECT,				/* socket missing, refused, or not the service's */
	GPU_PROTOCOL,				/* other protocol version or build, bad message */
	GPU_TIMEOUT,				/* no answer within the wait timeout */
	GPU_LOST,					/* the connection broke: service killed */
	GPU_NO_MEMORY,				/* device memory, its limit, or the job too large */
	GPU_NO_CHUNKS,				/* pinned memory exhausted for too long */
	GPU_RESOURCES,				/* file descriptors, mapping, host memory */
	GPU_DEVICE_ERROR,			/* a CUDA error, sticky or not */
	GPU_UNSUPPORTED,			/* the service's device cannot do this job */
	GPU_FAILURES				/* number of the above */
} GpuFailure;

/* What the service says of one of its devices. */
typedef struct GpuDeviceStatus
{
	int32_t		ordinal;		/* its number, as CUDA counts the devices of the host */
	char		name[128];
	uint64_t	memory_total;	/* bytes */
	uint64_t	memory_free;
	uint64_t	memory_used;	/* by hpsort's jobs and extents */
	uint64_t	extent_bytes;	/* of extents that are kept for jobs to come */
	uint64_t	extents;		/* how many */
	uint32_t	jobs_running;
	uint64_t	jobs_done;		/* that have sorted their keys, since the service has started */
	char		state[24];		/* "ready", "failed" */
	char		last_error[160];	/* empty: none */
} GpuDeviceStatus;

/* Exit codes of hpsort-gpud, by which the supervisor decides whether to start another one. */
enum
{
	EXIT_ORDERLY = 0,			/* stopped by a signal */
	EXIT_INTERNAL = 1,			/* any failure that none of the others names */
	EXIT_USAGE = 2,				/* options that are not valid */
	EXIT_NO_DEVICE = 3,			/* no driver, or no device that can be used */
	EXIT_DEVICE_LOST = 4,		/* a CUDA error that only a new process gets rid of */
	EXIT_OCCUPIED = 5			/* another process listens at the socket's path */
};

#endif							/* HPSORT_GPU_TYPES_H */

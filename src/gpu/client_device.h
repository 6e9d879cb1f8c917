/*
 * client_device.h
 *		The GPU service as a SortDevice: jobs over a client's connection.
 *
 * Keys stay the caller's until results are in hand, so that the caller can always
 * sort them itself.
 */
#ifndef HPSORT_GPU_CLIENT_DEVICE_H
#define HPSORT_GPU_CLIENT_DEVICE_H

#include "gpu/client.h"
#include "sort/device.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Leads from a SortContext to a client; NULL: there is none. */
typedef struct GpuClientRef
{
	GpuClient  *client;
} GpuClientRef;

/*
 * Jobs over a connection.  context->gpu->arg (see SortGpu in sort_types.h) must
 * point to a GpuClientRef, which may be the first member of another struct.  One
 * job at a time uses the connection; a second open() while one is alive is
 * SORT_DEVICE_UNAVAILABLE.  All failures of the service are
 * SORT_DEVICE_UNAVAILABLE with a phrase in err->message, but
 * SORT_KEY_OUT_OF_BOUNDS, SORT_CANCELLED and, for a forced algorithm that only a
 * GPU has, SORT_UNSUPPORTED.
 *
 * add() copies keys into chunks and returns when the last key is copied: the
 * service works on earlier chunks meanwhile.  spec->n is how many keys follow at
 * once, in one add() or several.  All further keys are announced to the service
 * when add() is called with them, which costs a round trip for each such call; in
 * return, a job that may pause between two calls holds none of the memory that all
 * jobs share.  A read must follow finish() at once, because results lie in that
 * memory, too.  read_keys and read_permutation write results as they come: when
 * one fails the contents of out are undefined, so that out must not be the only
 * copy of the keys.
 */
extern const SortDevice gpu_client_device;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_GPU_CLIENT_DEVICE_H */

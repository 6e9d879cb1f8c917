/*
 * client_status.h
 *		Asking the GPU service for the state of its devices.
 */
#ifndef HPSORT_GPU_CLIENT_STATUS_H
#define HPSORT_GPU_CLIENT_STATUS_H

#include "gpu/client.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Fills in the first *count of the service's devices, at most max. */
extern SortStatus gpu_client_devices(GpuClient *client, GpuDeviceStatus *devices, int max,
									 int *count, SortError *err);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_GPU_CLIENT_STATUS_H */

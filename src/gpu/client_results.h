/*
 * client_results.h
 *		The reads of gpu_client_device, as device.h says.
 */
#ifndef HPSORT_GPU_CLIENT_RESULTS_H
#define HPSORT_GPU_CLIENT_RESULTS_H

#include "sort/device.h"

extern SortStatus client_read_keys(SortJob *base, bool descending, int32_t *out, SortError *err);
extern SortStatus client_read_runs(SortJob *base, Runs *runs, SortError *err);
extern SortStatus client_read_permutation(SortJob *base, bool descending, uint32_t first,
										  uint32_t *out, SortError *err);

#endif							/* HPSORT_GPU_CLIENT_RESULTS_H */

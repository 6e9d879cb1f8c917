/*
 * client_extents.h
 *		Extents in a job of the GPU service, brought to be kept, and chunks that bring no keys.
 *
 * For client_device.c alone.
 */
#ifndef HPSORT_GPU_CLIENT_EXTENTS_H
#define HPSORT_GPU_CLIENT_EXTENTS_H

#include "gpu/client_job.h"

/*
 * SortDevice.keep_extent.  Extents gather in memory of the job's own until they fill a chunk: a job
 * that pauses between two of them holds no chunk, and needs no round trip for each.
 */
extern SortStatus client_keep_extent(SortJob *base, uint64_t generation, const void *extent,
									 size_t size, SortError *err);

/* Sends the extents that have gathered. */
extern SortStatus client_send_kept(GpuJob *job, SortError *err);

/*
 * For client_rows.c and client_device.c, too.  client_announce_chunks announces so many chunks
 * that bring no keys, when the chunk of keys that is being filled has been handed over; and
 * `ahead` of those that follow soon, which then need no round trip of their own.
 */
extern SortStatus client_announce_chunks(GpuJob *job, uint32_t chunks, uint32_t ahead,
										 SortError *err);

/*
 * Hands over such a chunk, which client_begin_chunk has begun, with size bytes, as type with count
 * elements; and begins one, fills it with bytes, and hands it over.
 */
extern SortStatus client_submit_chunk(GpuJob *job, GpuMessageType type, size_t size,
									  uint32_t count, SortError *err);
extern SortStatus client_send_chunk(GpuJob *job, GpuMessageType type, const void *bytes,
									size_t size, uint32_t count,
									SortError *err);

#endif							/* HPSORT_GPU_CLIENT_EXTENTS_H */

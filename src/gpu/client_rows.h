/*
 * client_rows.h
 *		Rows of several columns' extents in a job of the GPU service, and questions about its
 *		sorted keys.
 *
 * For client_device.c alone.
 */
#ifndef HPSORT_GPU_CLIENT_ROWS_H
#define HPSORT_GPU_CLIENT_ROWS_H

#include "gpu/client_job.h"

/* SortDevice.set_rows */
extern SortStatus client_set_rows(SortJob *base, const RowsLayout *layout,
								  const ValueRange *ranges, SortError *err);

/* SortDevice.add_rows */
extern SortStatus client_add_rows(SortJob *base, SortRows *rows, const uint64_t *generations,
								  size_t n,
								  SortError *err);

/*
 * SortDevice.look_up.  Asks as many questions at once as a chunk holds, and waits for their
 * answers.
 */
extern SortStatus client_look_up(SortJob *base, SortLook look, const void *questions, size_t n,
								 void *answers,
								 SortError *err);

#endif							/* HPSORT_GPU_CLIENT_ROWS_H */

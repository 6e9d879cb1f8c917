/*
 * divided_keys.h
 *		Keys of which several devices have some each: how many are below others, and which are at
 *		positions among all.
 *
 * For divided_job.c.
 */
#ifndef HPSORT_DIVIDED_KEYS_H
#define HPSORT_DIVIDED_KEYS_H

#include "sort/device/device.h"

typedef struct DividedKeys DividedKeys;

/*
 * Makes keys of those of n jobs, one on each device, which have been finished and outlive them; lo
 * and hi are the bounds of all keys, grain is that of their layout.  NULL if there is no memory;
 * the caller releases them.
 */
extern DividedKeys *divided_keys_make(const SortAllocator *a, SortJob *const *jobs, int n,
									  int32_t lo, int32_t hi, uint32_t grain);

/* SortDevice.look_up, of all keys together. */
extern SortStatus divided_keys_look_up(DividedKeys *divided, SortLook look, const void *questions,
									   size_t n, void *answers, SortError *err);

/* Fails where answers of devices contradict each other. */
extern SortStatus divided_lied(SortError *err);

/* Asks a device n questions, which may be none; ends what divided_begin has begun. */
extern SortStatus divided_ask(SortJob *job, SortLook look, const void *questions, size_t n,
							  void *answers, SortError *err);

/*
 * Begins to ask a device.  *going is set to false if it would have to be waited for: no other one
 * is begun to be asked then, before what this one waits for has been given back.
 */
extern SortStatus divided_begin(SortJob *job, SortLook look, const void *questions, size_t n,
								bool *going, SortError *err);

#endif							/* HPSORT_DIVIDED_KEYS_H */

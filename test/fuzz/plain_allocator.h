/*
 * plain_allocator.h
 *		A SortAllocator of malloc's memory, whose limits the sanitizers watch.
 */
#ifndef HPSORT_FUZZ_PLAIN_ALLOCATOR_H
#define HPSORT_FUZZ_PLAIN_ALLOCATOR_H

#include <stdlib.h>

#include "sort/sort_types.h"

static void *
plain_alloc(void *arena, size_t size)
{
	(void) arena;
	return malloc(size);
}

static void *
plain_grow(void *arena, void *block, size_t old_size, size_t size)
{
	(void) arena;
	(void) old_size;
	return realloc(block, size);
}

static void
plain_release(void *arena, void *block)
{
	(void) arena;
	free(block);
}

#define PLAIN_ALLOCATOR {plain_alloc, plain_grow, plain_release, NULL}

#endif							/* HPSORT_FUZZ_PLAIN_ALLOCATOR_H */

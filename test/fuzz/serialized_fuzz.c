/*
 * serialized_fuzz.c
 *		Fuzzes sorter_deserialize: serialized keys and runs from anywhere.
 *
 * What is accepted must be a sorter like any other: it counts, and reads back
 * in order as many keys as it says.
 */
#include <stdlib.h>
#include <string.h>

#include "sort/sorter/sorter.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More than any input of the fuzzer's size needs, and no host's ruin. */
#define MEMORY ((size_t) 512 << 20)

static size_t used;

static void *
fuzz_grow(void *arena, void *block, size_t old_size, size_t size)
{
	void	   *grown;

	(void) arena;
	if (size > MEMORY || used > MEMORY - size)
		return NULL;
	grown = realloc(block, size);
	if (grown)
		used += size - (block ? old_size : 0);
	return grown;
}

static void *
fuzz_alloc(void *arena, size_t size)
{
	return fuzz_grow(arena, NULL, 0, size);
}

static void
fuzz_release(void *arena, void *block)
{
	(void) arena;
	free(block);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SortContext context = {
		.allocator = {fuzz_alloc, fuzz_grow, fuzz_release, NULL},
		.device = SORT_DEVICE_CPU,
		.threads = 1,
	};
	SortError	err;
	Sorter		s;
	bool		bounded;

	if (size < 1)
		return 0;
	used = 0;
	bounded = data[0] & 1;
	sorter_init(&s, &context, bounded ? -1000 : INT32_MIN, bounded ? 1000 : INT32_MAX);
	if (sorter_deserialize(&s, data + 1, size - 1, &err) == SORT_OK &&
		sorter_count(&s) <= 1000000 && sorter_finish(&s, SORT_WANT_KEYS, &err) == SORT_OK)
	{
		size_t		n = (size_t) sorter_count(&s);
		int32_t    *out = malloc(n * sizeof(int32_t) + 1);

		if (sorter_read_keys(&s, false, out, &err) == SORT_OK)
			for (size_t i = 0; i < n; i++)
				if ((i > 0 && out[i - 1] > out[i]) ||
					(bounded && (out[i] < -1000 || out[i] > 1000)))
					abort();
		free(out);
	}
	sorter_reset(&s);
	return 0;
}

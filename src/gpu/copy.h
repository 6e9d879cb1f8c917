/*
 * copy.h
 *		Copying into memory that another device or process reads next, and rows
 *		out of memory that another process may write to at any time.
 *
 * Stores that go round the cache do not first read what they overwrite, and
 * leave in the cache what the copier still needs.
 */
#ifndef HPSORT_GPU_COPY_H
#define HPSORT_GPU_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Smaller ones gain nothing. */
#define COPY_STREAM_MIN ((size_t) 64 * 1024)

static inline void
copy_to_shared(void *to, const void *from, size_t size)
{
#ifdef __SSE2__
	if (size >= COPY_STREAM_MIN && (uintptr_t) to % sizeof(__m128i) == 0)
	{
		char	   *dst = to;
		const char *src = from;

		for (; size >= 4 * sizeof(__m128i); size -= 4 * sizeof(__m128i))
		{
			__m128i		a = _mm_loadu_si128((const __m128i *) (const void *) src);
			__m128i		b = _mm_loadu_si128((const __m128i *) (const void *) (src + 16));
			__m128i		c = _mm_loadu_si128((const __m128i *) (const void *) (src + 32));
			__m128i		d = _mm_loadu_si128((const __m128i *) (const void *) (src + 48));

			_mm_stream_si128((__m128i *) (void *) dst, a);
			_mm_stream_si128((__m128i *) (void *) (dst + 16), b);
			_mm_stream_si128((__m128i *) (void *) (dst + 32), c);
			_mm_stream_si128((__m128i *) (void *) (dst + 48), d);
			src += 64;
			dst += 64;
		}
		/* visible before whatever tells the other side that they are there */
		_mm_sfence();
		to = dst;
		from = src;
	}
#endif
	memcpy(to, from, size);
}

/* Rows that are copied and checked at once: 16 KiB stay in the nearest cache. */
#define ROWS_AT_ONCE ((uint32_t) 4096)

/*
 * Copies rows, and adds base to each.  False if one is no row of n: it must never
 * reach someone's array index.  What is checked is the copy, because the other
 * process can still write to what it was made from.
 */
static inline bool
copy_rows_from_shared(uint32_t *to, const uint32_t *from, uint32_t count, uint64_t n, uint32_t base)
{
	uint32_t	largest = 0;

	while (count > 0)
	{
		uint32_t	part = count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE;
		uint32_t	i;

		memcpy(to, from, part * sizeof(uint32_t));
		for (i = 0; i < part; i++)
		{
			largest = to[i] > largest ? to[i] : largest;
			to[i] += base;
		}
		to += part;
		from += part;
		count -= part;
	}
	return largest < n;
}

#endif							/* HPSORT_GPU_COPY_H */

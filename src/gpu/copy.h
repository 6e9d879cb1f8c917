/*
 * copy.h
 *		Copies into memory that another process or a device reads next, and of rows
 *		out of memory that another process may write to at any time.
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

/* Bytes from which on streaming stores gain. */
#define COPY_STREAM_MIN ((size_t) 64 * 1024)

/*
 * memcpy for memory that this process does not read again.  Streaming stores do not
 * first read what they overwrite, and leave in the cache what the caller still needs.
 */
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
		/* The bytes must be there before the message that hands them over. */
		_mm_sfence();
		to = dst;
		from = src;
	}
#endif
	memcpy(to, from, size);
}

/* Rows that are copied, and then checked, at a time: 16 KiB stay in the nearest cache. */
#define ROWS_AT_ONCE ((uint32_t) 4096)

/*
 * Copies count row numbers, and adds base to each.  False if one is not below n, so
 * that it can never be used as an index.  The copy is what is checked, because the
 * other process can still write to from.
 */
static inline bool
copy_rows_from_shared(uint32_t *to, const uint32_t *from, uint32_t count, uint64_t n, uint32_t base)
{
	uint32_t	largest = 0;

	while (count > 0)
	{
		uint32_t	part = count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE;

		memcpy(to, from, part * sizeof(uint32_t));
		for (uint32_t i = 0; i < part; i++)
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

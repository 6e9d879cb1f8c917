/*
 * zero_compressed.c
 *		0-compressed H-P (Kozakai, Fujimoto, Wada 2021, Algorithms 4 and 5): H-P whose second
 *		histogram is made of the values that occur only.
 *
 * A01 says which values occur.  Its prefix sums A01_p number these values from 1 to len.  C and
 * iC hold their counts and the values themselves; C[0] = iC[0] = 0.  C_p[j] is the number of keys
 * before the value j + 1; there the keys in order grow by iC[j + 1] - iC[j].
 *
 * C, C_p and iC get their len + 1 elements each once len is known, as in Algorithm 5.  The
 * authors' program allocates n + 1, to call cudaMalloc() once.
 */
#include "sort/published/parts.h"

/* Lines 2 to 4: returns the numbers of the values that occur. */
static uint32_t *
number_values(Published *p, const uint32_t *A)
{
	uint32_t   *A01 = published_alloc(p, p->range, sizeof(uint32_t));
	uint32_t   *A01_p = A01 ? published_alloc(p, p->range, sizeof(uint32_t)) : NULL;
	uint64_t	v = 0;
	uint64_t	end;

	if (A01_p == NULL)
		return NULL;
	while (sort_step(p->context, v, p->range, &end))
		for (; v < end; v++)
			A01[v] = A[v] > 0;
	return v == p->range ? published_prefix_sums(p, A01, A01_p, p->range) ? A01_p : NULL : NULL;
}

/* Lines 8 to 14: writes the counts and the values that occur to C and iC. */
static bool
compress(Published *p, const uint32_t *A, const uint32_t *A01_p, uint32_t *C, uint32_t *iC)
{
	uint64_t	v = 0;
	uint64_t	end;

	C[0] = iC[0] = 0;
	while (sort_step(p->context, v, p->range, &end))
		for (; v < end; v++)
			if (A[v] > 0)
			{
				C[A01_p[v]] = A[v];
				iC[A01_p[v]] = (uint32_t) v;
			}
	return v == p->range;
}

bool
published_zero_compressed(Published *p)
{
	uint32_t   *A = published_histogram_of_keys(p);
	uint32_t   *A01_p;
	uint32_t   *C;
	uint32_t   *iC;
	uint32_t   *C_p;
	uint32_t   *B;
	uint64_t	len;
	uint64_t	j = 0;
	uint64_t	end;

	if (A == NULL)
		return false;
	published_phase(p, "histogram");
	A01_p = number_values(p, A);
	if (A01_p == NULL)
		return false;
	published_phase(p, "prefix sums");

	len = A01_p[p->range - 1];
	p->sort->report.distinct = len;
	C = published_alloc(p, len + 1, sizeof(uint32_t));
	iC = C ? published_alloc(p, len + 1, sizeof(uint32_t)) : NULL;
	C_p = iC ? published_alloc(p, len + 1, sizeof(uint32_t)) : NULL;
	if (C_p == NULL || !compress(p, A, A01_p, C, iC) || !published_prefix_sums(p, C, C_p, len + 1))
		return false;
	published_phase(p, "compression");

	B = published_counters(p, p->sort->n);
	if (B == NULL)
		return false;
	while (sort_step(p->context, j, len, &end))
		for (; j < end; j++)
			B[C_p[j]] = iC[j + 1] - iC[j];
	if (j < len)
		return false;
	return published_prefix_sums_to_keys(p, B);
}

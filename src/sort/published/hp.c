/*
 * hp.c
 *		H-P (Kozakai, Fujimoto, Wada 2021, Algorithm 2): Histogram and Prefix-Sums, twice.
 *
 * A is the histogram of the keys x.  Its prefix sum A_p[v] is the number of keys that are at most
 * v.  The i-th key in order, y[i], is the number of values v with A_p[v] <= i.  These numbers are
 * the prefix sums of B, the histogram of A_p.  B has n + 1 counters.  The last one, for values
 * not below the largest key, is not used.
 *
 * Values are distances from a lower bound, as in Kozakai 2022.
 */
#include "sort/published/parts.h"

bool
published_hp(Published *p)
{
	uint32_t   *A = published_histogram_of_keys(p);
	uint32_t   *A_p = A ? published_alloc(p, p->range, sizeof(uint32_t)) : NULL;
	uint32_t   *B;
	uint64_t	v = 0;

	if (A_p == NULL)
		return false;
	published_phase(p, "histogram");
	if (!published_prefix_sums(p, A, A_p, p->range))
		return false;
	published_phase(p, "prefix sums");
	B = published_counters(p, (uint64_t) p->sort->n + 1);
	if (B == NULL)
		return false;
	while (v < p->range)
	{
		uint64_t	end = published_step(v, p->range);

		for (; v < end; v++)
			B[A_p[v]]++;
		if (published_cancelled(p))
			return false;
	}
	published_phase(p, "second histogram");
	if (!published_prefix_sums_to_keys(p, B))
		return false;
	published_phase(p, "second prefix sums");
	return true;
}

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
	uint32_t   *A_p = published_sums_of_keys(p);
	uint32_t   *B;
	uint64_t	v = 0;
	uint64_t	end;

	if (A_p == NULL)
		return false;
	B = published_counters(p, (uint64_t) p->sort->n + 1);
	if (B == NULL)
		return false;
	while (sort_step(p->context, v, p->range, &end))
		for (; v < end; v++)
			B[A_p[v]]++;
	if (v < p->range)
		return false;
	return published_prefix_sums_to_keys(p, B);
}

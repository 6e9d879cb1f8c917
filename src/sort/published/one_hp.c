/*
 * one_hp.c
 *		1-H-P (Kozakai, Fujimoto, Wada 2021, Algorithm 3), for distinct keys: Histogram and
 *		Prefix-Sums, once.
 *
 * Where A_p, the prefix sums of the histogram A, grows from one value to the next, the next value
 * is a key, and the smaller sum is its place.  A_p grows by more than one where a key occurs more
 * than once.  The authors assume distinct keys; here the error names the first duplicate in
 * order.
 */
#include "sort/published/parts.h"

bool
published_one_hp(Published *p)
{
	uint32_t   *A_p = published_sums_of_keys(p);
	uint32_t	before = 0;
	uint64_t	v = 0;
	uint64_t	end;

	if (A_p == NULL)
		return false;
	while (sort_step(p->context, v, p->range, &end))
		for (; v < end; v++)
		{
			int32_t		key = published_key(p->sort, (uint32_t) v);

			if (A_p[v] == before)
				continue;
			if (A_p[v] - before > 1)
				return published_duplicate(p, key);
			p->sort->keys[before] = key;
			before = A_p[v];
		}
	if (v < p->range)
		return false;
	published_phase(p, "keys");
	return true;
}

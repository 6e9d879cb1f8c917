/*
 * onehot.c
 *		Method 1 of Abdel-hafeez, Gordon-Ross, Abubaker 2018: a matrix TM of zeros and ones
 *		with a row for each value and a column for each key.
 *
 * Eq. 9 sets TM[v][k] to 1 where the k-th key has the value v.
 *
 * Eq. 11 has a thread for each row.  All threads read one column after the other, and share an
 * index of the result, "SO[i++] = IN[i]".  As printed it does not sort: i is the number of the
 * row, and a column has a single 1, so the shared index would count the keys in the order of the
 * input.  Two things are changed here:
 *
 * - The key taken is IN[k], and the index counted is j.
 * - A row is read to its end before the next row's keys are written.  One thread does this by
 *   taking the rows one after the other.  (Threads in step need the number of ones of the rows
 *   before theirs.)
 *
 * Equal keys keep the order of the input, so the columns in this order are the stable
 * permutation.
 *
 * Eq. 10, for distinct keys, multiplies a row by the vector of all keys.  A row without a 1
 * gives 0, which the authors drop (J* of their Eq. 8); therefore the smallest value counts as 1
 * there, not 0.  A row with two ones would give the sum of two keys; this is the error of
 * duplicate keys.
 */
#include "sort/published/parts.h"

/* Eq. 9: returns TM, or NULL if memory is short or the sort is cancelled. */
static uint8_t *
make_matrix(Published *p)
{
	uint64_t	n = p->sort->n;
	uint8_t    *TM = published_alloc(p, p->range * n, 1);
	uint64_t	i = 0;
	uint64_t	end;

	if (TM == NULL || !sort_zero(p->context, TM, p->range * n, 1))
		return NULL;
	while (sort_step(p->context, i, n, &end))
		for (; i < end; i++)
			TM[published_distance(p->sort, p->sort->keys[i]) * n + i] = 1;
	return i == n ? TM : NULL;
}

/* Eq. 11: writes the columns with a 1, row after row. */
static bool
take_columns(Published *p, const uint8_t *TM, uint32_t *out, uint32_t first)
{
	uint64_t	n = p->sort->n;
	uint64_t	cells = p->range * n;
	uint64_t	j = 0;
	uint64_t	k = 0;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(p->context, i, cells, &end))
		for (; i < end; i++)
		{
			if (TM[i] != 0)
				out[j++] = first + (uint32_t) k;
			if (++k == n)
				k = 0;
		}
	return i == cells;
}

/* Eq. 10: multiplies each row by the vector of keys, IN. */
static bool
multiply(Published *p, const uint8_t *TM, const uint64_t *IN)
{
	uint64_t	n = p->sort->n;
	uint64_t	cells = p->range * n;
	uint64_t	product = 0;
	uint64_t	v = 0;
	uint64_t	j = 0;
	uint64_t	k = 0;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(p->context, i, cells, &end))
		for (; i < end; i++)
		{
			product += TM[i] * IN[k];
			if (++k < n)
				continue;
			if (product > v + 1)
				return published_duplicate(p, published_key(p->sort, (uint32_t) v));
			if (product > 0)
				p->sort->keys[j++] = published_key(p->sort, (uint32_t) (product - 1));
			product = k = 0;
			v++;
		}
	return i == cells;
}

/* Sorts keys by Eq. 11: IN in the order of the columns. */
static bool
keys_of_columns(Published *p, const uint8_t *TM)
{
	uint64_t	n = p->sort->n;
	int32_t    *IN = published_alloc(p, n, sizeof(int32_t));
	uint32_t   *columns = (uint32_t *) p->sort->keys;
	uint64_t	i = 0;
	uint64_t	end;

	if (IN == NULL)
		return false;
	memcpy(IN, p->sort->keys, (size_t) n * sizeof(int32_t));
	if (!take_columns(p, TM, columns, 0))
		return false;
	while (sort_step(p->context, i, n, &end))
		for (; i < end; i++)
			p->sort->keys[i] = IN[columns[i]];
	return i == n;
}

bool
published_onehot(Published *p)
{
	uint64_t	n = p->sort->n;
	uint8_t    *TM;
	uint64_t   *IN;
	bool		done;

	if (n > UINT64_MAX / p->range)
	{
		sort_no_memory(p->err);
		return false;
	}
	TM = make_matrix(p);
	if (TM == NULL)
		return false;
	published_phase(p, "initialization");
	if (p->sort->positions)
		done = take_columns(p, TM, p->sort->positions, p->sort->first);
	else if (!p->sort->options.distinct)
		done = keys_of_columns(p, TM);
	else
	{
		IN = published_alloc(p, n, sizeof(uint64_t));
		if (IN == NULL)
			return false;
		for (uint64_t i = 0; i < n; i++)
			IN[i] = (uint64_t) published_distance(p->sort, p->sort->keys[i]) + 1;
		done = multiply(p, TM, IN);
	}
	if (done)
		published_phase(p, "evaluation");
	return done;
}

/*
 * plain_runs.h
 *		Random runs in plain arrays, and the multisets made of them: what the tests of
 *		multisets share.
 */
#ifndef HPSORT_PLAIN_RUNS_H
#define HPSORT_PLAIN_RUNS_H

#include "unit.h"

#include "sort/multiset/multiset.h"

/* Runs, as the reference has them. */
typedef struct Plain
{
	int32_t    *keys;
	uint64_t   *counts;
	size_t		len;
	uint64_t	total;
} Plain;

/* The kinds of random runs: how far keys are apart, and how large counts are. */
typedef enum Spread
{
	SPREAD_DENSE,				/* consecutive */
	SPREAD_NEAR,				/* 1 to 3 apart: a block is within 512 */
	SPREAD_MIDDLE,				/* within 2^16 */
	SPREAD_WIDE,				/* anywhere */
	SPREAD_MIXED				/* another one of these for each block or so */
} Spread;

#define SPREAD_COUNT (SPREAD_MIXED + 1)

typedef enum Size
{
	SIZE_ONE,
	SIZE_8,						/* counts of up to so many bits */
	SIZE_16,
	SIZE_32,
	SIZE_40,
	SIZE_MIXED
} Size;

#define SIZE_COUNT (SIZE_MIXED + 1)

/* Room for so many runs, none of them there yet. */
extern void plain_init(Plain *p, size_t room);
extern void plain_free(Plain *p);
extern void plain_put(Plain *p, int32_t key, uint64_t count);

/* Makes len random runs. */
extern void plain_random(Plain *p, size_t len, Spread spread, Size size);

/* An exact block with the value that a writer makes of the runs, given in pieces of any size. */
extern unsigned char *plain_write(Unit *u, const Plain *p, size_t *size);

/* Opens a value that is all at bytes. */
extern SortStatus plain_open(Multiset *m, const unsigned char *bytes, size_t size, SortError *err);

/* Fails the test unless the blocks of m are the runs. */
extern void plain_check(const Multiset *m, const Plain *p);

#endif							/* HPSORT_PLAIN_RUNS_H */

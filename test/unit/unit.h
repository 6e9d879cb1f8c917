/*
 * unit.h
 *		What the tests of src/sort share: lent memory that is counted and can
 *		fail, an interrupt that comes when told to, random keys, and references
 *		that know nothing of the code under test.
 */
#ifndef HPSORT_UNIT_H
#define HPSORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sort/sort_types.h"
#include "sort/sorter/sorter.h"

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/*
 * One sorting environment.  Everything that context lends is recorded here, so
 * that a test can tell what was taken, and whether it came back.
 */
typedef struct Unit
{
	SortContext context;
	size_t		blocks;			/* allocated and not released */
	size_t		bytes;			/* in them */
	size_t		peak;			/* most bytes at any time */
	uint64_t	allocations;	/* calls of alloc and grow */
	uint64_t	fail_at;		/* the allocation that fails, from 1; 0: none */
	uint64_t	asked;			/* calls of interrupted */
	uint64_t	interrupt_at;	/* the call that says yes, from 1; 0: none */
} Unit;

/* Everything automatic, one thread, memory without end. */
extern void unit_init(Unit *u);

/* Fails the test unless all memory was given back. */
extern void unit_assert_no_leak(const Unit *u);

/* The block for n elements and not a byte more, so that ASan sees its edges. */
extern void *unit_alloc(size_t n, size_t size);

/*
 * Random numbers.  The seed is HPSORT_TEST_SEED if that is set, and printed by
 * unit_seed, which every program calls first.
 */
extern void unit_seed(const char *program);
extern uint64_t unit_random(void);

/* Uniform in 0 .. below - 1; below > 0. */
extern uint64_t unit_below(uint64_t below);

/* Uniform in lo .. hi. */
extern int32_t unit_key(int32_t lo, int32_t hi);

/* The shapes that random keys come in. */
typedef enum UnitShape
{
	SHAPE_CONSTANT,
	SHAPE_NARROW,				/* uniform in a few hundred values */
	SHAPE_MIDDLE,				/* uniform in 100,000 values */
	SHAPE_WIDE,					/* uniform in all of int4 */
	SHAPE_ASCENDING,
	SHAPE_DESCENDING,
	SHAPE_OUTLIERS,				/* narrow, and a few keys anywhere */
	SHAPE_SENTINELS,			/* narrow, INT32_MIN and INT32_MAX */
	SHAPE_FEW_DISTINCT,			/* a few values anywhere */
	SHAPE_SKEWED,				/* small values far more often */
	SHAPE_ORGAN_PIPE			/* up, then down */
} UnitShape;

#define SHAPE_COUNT (SHAPE_ORGAN_PIPE + 1)

extern void unit_fill(UnitShape shape, int32_t *keys, size_t n);

/*
 * The reference sort: stable, by one byte of the keys after the other, which is plain and takes a
 * tenth of qsort's time.
 */
typedef struct UnitPair
{
	uint64_t	key;
	uint64_t	value;
} UnitPair;

extern void unit_sort_pairs(UnitPair *pairs, size_t n);
extern void unit_sort(int32_t *keys, size_t n, bool descending);

/* The stable permutation, by the reference sort. */
extern void unit_permutation(const int32_t *keys, size_t n, bool descending, uint32_t base,
							 uint32_t *out);

/*
 * A bag: what should be in a sorter, as an unordered list of (key, count).
 * bag_normalize makes it the runs it stands for.
 */
typedef struct BagItem
{
	int32_t		key;
	uint64_t	count;
} BagItem;

typedef struct Bag
{
	BagItem    *items;
	size_t		len;
	size_t		capacity;
	uint64_t	n;				/* keys in all */
} Bag;

extern void bag_add(Bag *bag, int32_t key, uint64_t count);
extern void bag_add_keys(Bag *bag, const int32_t *keys, size_t n);
extern void bag_add_bag(Bag *bag, const Bag *other);
extern void bag_normalize(Bag *bag);
extern void bag_clear(Bag *bag);

/* Fails the test, naming the call, unless it returned SORT_OK. */
#define assert_sort_ok(call, err) \
	do { \
		SortStatus	status_ = (call); \
		if (status_ != SORT_OK) \
			fail_msg("%s: status %d: %s", #call, (int) status_, (err).message); \
	} while (0)

/*
 * Compares all that can be read from a finished sorter with the bag, which is
 * normalized on the way: keys and runs, up and down, in batches of any size,
 * the statistics, the memory held.  Keys are expanded only up to a few
 * million.  sorter_read_keys is last, and goes to out if that is not NULL.
 */
extern void unit_check_sorter(Unit *u, Sorter *s, Bag *bag, int32_t *out);

/* Fails the test unless the two arrays are equal; says where they differ. */
extern void unit_assert_keys(const int32_t *got, const int32_t *expected, size_t n,
							 const char *what);

#endif							/* HPSORT_UNIT_H */

/*
 * kernels_test.c
 *		The vectorised inner loops against plain ones, at every small size and
 *		alignment, on every instruction set that this processor has.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sort/kernels/kernels.h"

#define MAX_SIZE 200
#define ALIGNMENTS 5

/*
 * hwy::DisableTargets, of which there is no C version.  It has to be called
 * before the first kernel, hence the processes in main.
 */
extern void disable_targets(int64_t targets) __asm__("_ZN3hwy14DisableTargetsEl");

static const uint64_t ranges[] = {1, 2, 3, 4, 5, 7, 8, 255, 256, 1000, 2048, 2049, 70000};

static void
test_min_max(void **state)
{
	(void) state;
	for (size_t n = 1; n <= MAX_SIZE; n++)
		for (int trial = 0; trial < 20; trial++)
		{
			int32_t    *keys = unit_alloc(n, sizeof(int32_t));
			int32_t		expected_lo;
			int32_t		expected_hi;
			int32_t		lo;
			int32_t		hi;

			unit_fill(trial % SHAPE_COUNT, keys, n);
			expected_lo = expected_hi = keys[0];
			for (size_t i = 1; i < n; i++)
			{
				expected_lo = keys[i] < expected_lo ? keys[i] : expected_lo;
				expected_hi = keys[i] > expected_hi ? keys[i] : expected_hi;
			}
			kernel_min_max(keys, n, &lo, &hi);
			assert_int_equal(lo, expected_lo);
			assert_int_equal(hi, expected_hi);
			free(keys);
		}
}

/* A single extreme key must be seen wherever it is. */
static void
test_min_max_positions(void **state)
{
	(void) state;
	for (size_t n = 1; n <= MAX_SIZE; n++)
	{
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		int32_t		lo;
		int32_t		hi;

		memset(keys, 0, n * sizeof(int32_t));
		for (size_t i = 0; i < n; i++)
		{
			keys[i] = INT32_MIN;
			kernel_min_max(keys, n, &lo, &hi);
			assert_int_equal(lo, INT32_MIN);
			keys[i] = INT32_MAX;
			kernel_min_max(keys, n, &lo, &hi);
			assert_int_equal(hi, INT32_MAX);
			keys[i] = 0;
		}
		free(keys);
	}
}

/*
 * One call of kernel_count, n keys with about one in outside_every beyond the
 * range, outside being another array or keys itself.
 */
static void
check_count(size_t n, size_t shift, int32_t lo, uint64_t range, int tables,
			int outside_every, bool in_place)
{
	size_t		stride = (size_t) range + 3;
	int32_t    *block = unit_alloc(n + shift, sizeof(int32_t));
	int32_t    *keys = block + shift;
	int32_t    *copy = unit_alloc(n, sizeof(int32_t));
	int32_t    *outside = in_place ? keys : unit_alloc(n, sizeof(int32_t));
	int32_t    *expected_outside = unit_alloc(n, sizeof(int32_t));
	uint32_t   *bins = unit_alloc(stride * (size_t) tables, sizeof(uint32_t));
	uint64_t   *expected = calloc((size_t) range, sizeof(uint64_t));
	size_t		nexpected = 0;
	size_t		noutside;
	const KernelBins to = {
		.bins = bins,
		.stride = stride,
		.tables = tables,
		.lo = lo,
		.range = range
	};

	assert_non_null(expected);
	for (size_t i = 0; i < stride * (size_t) tables; i++)
		bins[i] = 5;
	for (size_t i = 0; i < n; i++)
	{
		int64_t		key = lo + (int64_t) unit_below(range);

		if (outside_every > 0 && unit_below((uint64_t) outside_every) == 0)
		{
			/* Just outside, or anywhere else, wrapped or not. */
			if (unit_below(2))
				key = unit_below(2) ? (int64_t) lo - 1 : lo + (int64_t) range;
			else
				key = unit_key(INT32_MIN, INT32_MAX);
			if (key < INT32_MIN || key > INT32_MAX)
				key = lo;
		}
		copy[i] = keys[i] = (int32_t) key;
		if (key < lo || key >= lo + (int64_t) range)
			expected_outside[nexpected++] = (int32_t) key;
		else
			expected[key - lo]++;
	}
	noutside = kernel_count(keys, n, &to, outside);
	assert_int_equal(noutside, nexpected);
	unit_assert_keys(outside, expected_outside, nexpected, "outside");
	if (!in_place)
		unit_assert_keys(keys, copy, n, "keys are only read");
	for (size_t i = 0; i < range; i++)
	{
		uint64_t	sum = 0;

		for (int t = 0; t < tables; t++)
			sum += bins[(size_t) t * stride + i] - 5;
		if (sum != expected[i])
			fail_msg("n %zu, range %llu, tables %d: bin %zu is %llu, not %llu", n,
					 (unsigned long long) range, tables, i, (unsigned long long) sum,
					 (unsigned long long) expected[i]);
	}
	/* What lies between the tables is nobody's. */
	for (int t = 0; t < tables; t++)
		for (size_t i = (size_t) range; i < stride; i++)
			assert_int_equal(bins[(size_t) t * stride + i], 5);
	free(block);
	free(copy);
	if (!in_place)
		free(outside);
	free(expected_outside);
	free(bins);
	free(expected);
}

static void
test_count(void **state)
{
	static const int32_t los[] = {INT32_MIN, -100, 0, 12345};

	(void) state;
	for (size_t r = 0; r < lengthof(ranges); r++)
		for (size_t n = 0; n <= MAX_SIZE; n += r + 1 == lengthof(ranges) ? 23 : 1)
		{
			int			tables = unit_below(2) ? 4 : 1;
			int32_t		lo = los[unit_below(lengthof(los))];
			size_t		shift = (size_t) unit_below(ALIGNMENTS);

			/* The range may also end where int4 does. */
			if (unit_below(5) == 0)
				lo = (int32_t) (INT32_MAX - (int64_t) ranges[r] + 1);
			check_count(n, shift, lo, ranges[r], tables, 0, false);
			check_count(n, shift, lo, ranges[r], tables, 50, false);
			check_count(n, shift, lo, ranges[r], tables, 50, true);
			check_count(n, shift, lo, ranges[r], tables, 2, true);
			check_count(n, shift, lo, ranges[r], tables, 1, true);
		}
	for (size_t r = 0; r < lengthof(ranges); r++)
	{
		check_count(100000 + (size_t) unit_below(64), 1, -7, ranges[r], 4, 0, false);
		check_count(100000 + (size_t) unit_below(64), 1, -7, ranges[r], 1, 1000, true);
	}
}

static void
test_fill(void **state)
{
	size_t		i;

	(void) state;
	for (size_t n = 0; n <= MAX_SIZE; n++)
		for (size_t shift = 0; shift < ALIGNMENTS; shift++)
		{
			int32_t    *out = unit_alloc(shift + n + 1, sizeof(int32_t));

			memset(out, 0x11, (shift + n + 1) * sizeof(int32_t));
			kernel_fill(out + shift, n, -42);
			for (i = 0; i < shift; i++)
				assert_int_equal(out[i], 0x11111111);
			for (; i < shift + n; i++)
				assert_int_equal(out[i], -42);
			assert_int_equal(out[i], 0x11111111);
			free(out);
		}
}

/*
 * Expands bins v0 .. v1 - 1 with room for max keys, and compares with what the
 * contract says: as many whole bins as fit, and *stop where they end.  Keys
 * beyond those returned may be scribbled on, those beyond max may not (ASan
 * watches).
 */
static void
check_expand(const uint32_t *bins, uint64_t v0, uint64_t v1, int32_t lo, size_t max, bool down)
{
	int32_t    *out = unit_alloc(max, sizeof(int32_t));
	int32_t    *expected = unit_alloc(max, sizeof(int32_t));
	uint64_t	v = down ? v1 : v0;
	uint64_t	stop;
	size_t		at = 0;
	size_t		got;

	while (down ? v > v0 : v < v1)
	{
		uint32_t	count = bins[down ? v - 1 : v];

		if (count > max - at)
			break;
		for (uint32_t i = 0; i < count; i++)
			expected[at++] = (int32_t) (lo + (int64_t) (down ? v - 1 : v));
		v = down ? v - 1 : v + 1;
	}
	got = kernel_expand(bins, v0, v1, lo, down, out, max, &stop);
	assert_int_equal(got, at);
	assert_int_equal(stop, v);
	unit_assert_keys(out, expected, at, down ? "expand down" : "expand up");
	free(out);
	free(expected);
}

static void
test_expand(void **state)
{
	static const uint32_t most[] = {1, 2, 3, 15, 16, 17, 18, 40, 300};

	(void) state;
	for (int trial = 0; trial < 6000; trial++)
	{
		size_t		n = (size_t) unit_below(MAX_SIZE) + 1;
		uint32_t   *bins = unit_alloc(n, sizeof(uint32_t));
		uint32_t	biggest = most[unit_below(lengthof(most))];
		uint64_t	empty = unit_below(20);
		uint64_t	v0 = unit_below(n + 1);
		uint64_t	v1 = v0 + unit_below(n + 1 - v0);
		int32_t		lo = unit_below(3) ? unit_key(INT32_MIN, INT32_MAX - MAX_SIZE) : INT32_MIN;
		size_t		sum = 0;

		for (size_t i = 0; i < n; i++)
			bins[i] = unit_below(20) < empty ? 0 : (uint32_t) unit_below(biggest + 1);
		/* Long stretches of nothing are skipped in whole vectors. */
		if (unit_below(3) == 0)
			memset(bins + n / 4, 0, n / 2 * sizeof(uint32_t));
		if (unit_below(4) == 0)
		{
			v0 = 0;
			v1 = n;
		}
		for (size_t i = v0; i < v1; i++)
			sum += bins[i];
		for (int down = 0; down < 2; down++)
		{
			check_expand(bins, v0, v1, lo, sum, down);
			check_expand(bins, v0, v1, lo, sum + 1 + unit_below(40), down);
			if (sum > 0)
			{
				check_expand(bins, v0, v1, lo, sum - 1, down);
				check_expand(bins, v0, v1, lo, (size_t) unit_below(sum), down);
			}
			check_expand(bins, v0, v1, lo, 0, down);
		}
		free(bins);
	}
}

static void
test_bins(void **state)
{
	(void) state;
	for (int trial = 0; trial < 3000; trial++)
	{
		size_t		n = (size_t) unit_below(MAX_SIZE + 1);
		uint32_t   *bins = unit_alloc(n, sizeof(uint32_t));
		uint64_t	expected = 0;
		uint64_t	v1 = unit_below(n + 1);
		uint64_t	often = unit_below(100) + 1;
		size_t		i;

		for (i = 0; i < n; i++)
		{
			/* A counter above INT32_MAX is no less than zero. */
			bins[i] = unit_below(often) ? 0 : unit_below(2) ? 1 : UINT32_MAX - (uint32_t) i;
			expected += bins[i] != 0;
		}
		assert_int_equal(kernel_count_nonzero(bins, n), expected);
		for (uint64_t v0 = 0; v0 <= v1; v0++)
		{
			for (i = v0; i < v1 && bins[i] == 0; i++)
				;
			assert_int_equal(kernel_next_nonzero(bins, v0, v1), i);
		}
		free(bins);
	}
}

static void
test_take_bins(void **state)
{
	(void) state;
	for (size_t n = 0; n <= MAX_SIZE; n++)
	{
		uint32_t   *into = unit_alloc(n, sizeof(uint32_t));
		uint32_t   *from = unit_alloc(n, sizeof(uint32_t));

		for (size_t i = 0; i < n; i++)
		{
			into[i] = (uint32_t) (i * 1000);
			from[i] = (uint32_t) (i * i + 1);
		}
		kernel_take_bins(into, from, n);
		for (size_t i = 0; i < n; i++)
		{
			assert_int_equal(into[i], i * 1000 + i * i + 1);
			assert_int_equal(from[i], 0);
		}
		free(into);
		free(from);
	}
}

static void
test_count_changes(void **state)
{
	(void) state;
	for (int trial = 0; trial < 5000; trial++)
	{
		size_t		n = (size_t) unit_below(MAX_SIZE + 1);
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));
		uint64_t	expected = 0;
		int32_t		most = (int32_t) unit_below(20);

		for (size_t i = 0; i < n; i++)
		{
			keys[i] = unit_key(-most, most);
			expected += i > 0 && keys[i] != keys[i - 1];
		}
		assert_int_equal(kernel_count_changes(keys, n), expected);
		free(keys);
	}
}

/* Both codes that there may be for int4 sort n keys of one shape, in either direction. */
static void
check_vqsort(UnitShape shape, size_t n, bool down)
{
	int32_t    *keys = unit_alloc(n, sizeof(int32_t));
	int32_t    *again = unit_alloc(n, sizeof(int32_t));
	int32_t    *expected = unit_alloc(n, sizeof(int32_t));

	unit_fill(shape, keys, n);
	if (n > 0)
	{
		memcpy(again, keys, n * sizeof(int32_t));
		memcpy(expected, keys, n * sizeof(int32_t));
	}
	unit_sort(expected, n, down);
	vqsort_keys(keys, n, down);
	unit_assert_keys(keys, expected, n, "vqsort");
	vqsort_keys_avx2(again, n, down);
	unit_assert_keys(again, expected, n, "vqsort with AVX2");
	free(keys);
	free(again);
	free(expected);
}

/* A value of width bytes, as the filters' kernels read it. */
static uint64_t
packed_value(const void *values, int width, size_t i)
{
	return width == 1 ? ((const uint8_t *) values)[i] :
		width == 2 ? ((const uint16_t *) values)[i] :
		width == 4 ? ((const uint32_t *) values)[i] : ((const uint64_t *) values)[i];
}

/* Marks of a range, beside marks that are there already, and the keys that they select. */
static void
check_marks(int width, size_t n, uint64_t lo, uint64_t hi)
{
	uint8_t    *values = unit_alloc(n + 1, (size_t) width);
	uint8_t    *before = unit_alloc(n + 1, 1);
	uint8_t    *marks = unit_alloc(n + 1, 1);
	int32_t    *out = unit_alloc(n, sizeof(int32_t));
	int32_t		base = (int32_t) unit_random();
	size_t		count = 0;

	for (size_t i = 0; i < n * (size_t) width; i++)
		values[i] = (uint8_t) unit_random();
	for (size_t i = 0; i < n; i++)
		before[i] = marks[i] = unit_below(4) == 0;
	kernel_mark_range(values, width, n, lo, hi, marks);
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	value = packed_value(values, width, i);

		assert_int_equal(marks[i], before[i] || (value >= lo && value <= hi));
		count += marks[i];
	}
	assert_int_equal(kernel_count_marks(marks, n), count);
	if (width < 8)
		assert_int_equal(kernel_select(values, width, n, base, marks, out), count);
	for (size_t i = count = 0; i < n && width < 8; i++)
		if (marks[i])
			assert_int_equal(out[count++], (int32_t) ((uint32_t) base + (uint32_t) packed_value(values, width, i)));
	free(values);
	free(before);
	free(marks);
	free(out);
}

/* Where bytes are first found, of so few different ones that they often nearly are. */
static void
test_find_bytes(void **state)
{
	(void) state;
	for (int t = 0; t < 4000; t++)
	{
		size_t		length = 1 + unit_below(t % 2 ? 4 : 40);
		size_t		n = length + unit_below(t % 3 ? 40 : 300);
		int			different = 1 + (int) unit_below(4);
		char	   *bytes = unit_alloc(n, 1);
		char	   *wanted = unit_alloc(length, 1);
		size_t		first = 0;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (char) (250 + unit_below((uint64_t) different));
		for (size_t i = 0; i < length; i++)
			wanted[i] = (char) (250 + unit_below((uint64_t) different));
		if (unit_below(2))
			memcpy(bytes + unit_below(n - length + 1), wanted, length);
		while (first + length <= n && memcmp(bytes + first, wanted, length) != 0)
			first++;
		assert_int_equal(kernel_find_bytes(bytes, n, wanted, length), first + length <= n ? first : n);
		free(bytes);
		free(wanted);
	}
}

static void
test_marks(void **state)
{
	static const int widths[] = {1, 2, 4, 8};

	(void) state;
	for (size_t w = 0; w < lengthof(widths); w++)
		for (size_t n = 0; n <= MAX_SIZE; n++)
		{
			uint64_t	most = UINT64_MAX >> (64 - 8 * widths[w]);
			uint64_t	lo = unit_random() & most >> 1;

			check_marks(widths[w], n, lo, lo + unit_below(most - lo + 1));
			check_marks(widths[w], n, 0, most);
			check_marks(widths[w], n, most, most);
		}
}

static void
test_vqsort(void **state)
{
	/* Where vqsort_keys changes from a sorting network, and from one code to another. */
	static const size_t around[] = {128, 256, 512};

	(void) state;
	for (int trial = 0; trial < 2000; trial++)
		check_vqsort((UnitShape) unit_below(SHAPE_COUNT),
					 (size_t) unit_below(trial % 20 ? 500 : 20000), trial & 1);
	for (size_t a = 0; a < lengthof(around); a++)
		for (size_t n = around[a] - 2; n <= around[a] + 2; n++)
			for (int trial = 0; trial < 2 * SHAPE_COUNT; trial++)
				check_vqsort((UnitShape) (trial / 2), n, trial & 1);
	for (int trial = 0; trial < 2 * SHAPE_COUNT; trial++)
		check_vqsort((UnitShape) (trial / 2), 100000 + (size_t) unit_below(100000), trial & 1);
}

/* One key out of place, at every position; and none. */
static void
test_order(void **state)
{
	(void) state;
	for (size_t n = 1; n <= MAX_SIZE; n++)
	{
		int32_t    *keys = unit_alloc(n, sizeof(int32_t));

		for (size_t i = 0; i < n; i++)
			keys[i] = INT32_MIN + (int32_t) (i / 3) * 1000;
		assert_int_equal(kernel_ordered_prefix(keys, n), n);
		for (size_t i = 1; i < n; i++)
		{
			int32_t		before = keys[i - 1];

			keys[i - 1] = INT32_MAX;
			assert_int_equal(kernel_ordered_prefix(keys, n), i);
			keys[i - 1] = before;
		}
		for (size_t i = 0; i < n; i++)
			keys[i] = -1;
		assert_int_equal(kernel_ordered_prefix(keys, n), n);
		free(keys);
	}
}

static bool
interrupted_never(void *arg)
{
	(*(int *) arg)++;
	return false;
}

static bool
interrupted_at_once(void *arg)
{
	(*(int *) arg)++;
	return true;
}

static int
compare_pairs(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/*
 * The partition of n elements: which side each is on, where the border is,
 * that none is lost, and that nothing is lost either when interrupted.
 */
static void
check_partition(size_t n, bool pairs, bool descending, bool interrupt)
{
	size_t		size = pairs ? sizeof(uint64_t) : sizeof(int32_t);
	int32_t    *keys = unit_alloc(n, size);
	uint64_t   *wide = (uint64_t *) keys;
	uint64_t   *before = unit_alloc(n + 1, sizeof(uint64_t));
	uint64_t   *after = unit_alloc(n + 1, sizeof(uint64_t));
	int32_t		most = (int32_t) (unit_below(3) ? unit_below(100) : INT32_MAX);
	int32_t		pivot = unit_below(8) ? unit_key(-most, most) : unit_below(2) ? INT32_MIN : INT32_MAX;
	/* Above what a signed comparison would take for small. */
	uint64_t	base = unit_below(2) ? 0 : UINT64_C(0xFFFFFFFF00000000);
	uint64_t	wide_pivot = base + (uint32_t) pivot;
	size_t		expected = 0;
	size_t		nleft = n + 1;
	int			asked = 0;
	bool		done;

	for (size_t i = 0; i < n; i++)
	{
		int32_t		key = unit_key(-most, most);

		if (pairs)
		{
			before[i] = wide[i] = unit_below(10) ? base + (uint32_t) key : unit_random();
			expected += wide[i] <= wide_pivot;
		}
		else
		{
			keys[i] = key;
			before[i] = (uint64_t) (int64_t) key;
			expected += (key > pivot) == descending;
		}
	}
	if (pairs)
		done = kernel_partition_pairs(wide, n, wide_pivot, &nleft,
									  interrupt ? interrupted_at_once : interrupted_never, &asked);
	else
		done = kernel_partition_keys(keys, n, pivot, descending, &nleft,
									 interrupt ? interrupted_at_once : interrupted_never, &asked);
	assert_true(done == !(interrupt && asked > 0));
	if (done)
	{
		assert_int_equal(nleft, expected);
		for (size_t i = 0; i < n; i++)
			assert_true(((pairs ? wide[i] > wide_pivot : keys[i] > pivot) == (descending && !pairs)) ==
						(i < nleft));
	}
	for (size_t i = 0; i < n; i++)
		after[i] = pairs ? wide[i] : (uint64_t) (int64_t) keys[i];
	qsort(before, n, sizeof(uint64_t), compare_pairs);
	qsort(after, n, sizeof(uint64_t), compare_pairs);
	assert_memory_equal(before, after, n * sizeof(uint64_t));
	free(keys);
	free(before);
	free(after);
}

static void
test_partition(void **state)
{
	(void) state;
	for (size_t n = 0; n < 700; n++)
	{
		for (int i = 0; i < 8; i++)
			check_partition(n, i & 1, i & 2, i & 4);
	}
	check_partition(100003, false, false, true);
	check_partition(100003, true, false, true);
}

static int
run_kernel_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_min_max),
		cmocka_unit_test(test_min_max_positions),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_take_bins),
		cmocka_unit_test(test_count_changes),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_find_bytes),
		cmocka_unit_test(test_vqsort),
		cmocka_unit_test(test_partition),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests_name(kernel_target(), tests, NULL, NULL);
}

/*
 * Lower bits stand for better instruction sets: disabled one after the other,
 * in a process each, until only what every processor has is left.
 */
int
main(void)
{
	char		before[64] = "";
	int			failed = 0;

	unit_seed("kernels_test");
	for (int bit = 0; bit < 62; bit++)
	{
		char		name[64] = "";
		int			fds[2];
		int			status;
		ssize_t		len;
		pid_t		child;

		if (pipe(fds) != 0 || (child = fork()) < 0)
		{
			perror("kernels_test");
			return 1;
		}
		if (child == 0)
		{
			disable_targets((INT64_C(1) << bit) - 1);
			close(fds[0]);
			len = (ssize_t) strlen(kernel_target());
			if (write(fds[1], kernel_target(), (size_t) len) != len)
				_exit(1);
			close(fds[1]);
			if (strcmp(before, kernel_target()) == 0)
				_exit(0);
			status = run_kernel_tests();
			fflush(NULL);
			_exit(status == 0 ? 0 : 1);
		}
		close(fds[1]);
		len = read(fds[0], name, sizeof(name) - 1);
		close(fds[0]);
		while (waitpid(child, &status, 0) < 0)
			;
		if (len <= 0 || status != 0)
		{
			fprintf(stderr, "kernels_test: %s: failed\n", name);
			failed = 1;
		}
		memcpy(before, name, sizeof(before));
	}
	return failed;
}

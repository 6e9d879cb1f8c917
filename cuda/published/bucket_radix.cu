/*-------------------------------------------------------------------------
 *
 * bucket_radix.cu
 *	  Radix sort with bucket partition preprocess.
 *
 * K. Zhang, B. Wu, "A Novel Parallel Approach of Radix Sort with Bucket Partition Preprocess",
 * 2012 (their Figs. 1 to 5); the preprocess is that of E. Sintorn, U. Assarsson 2008.  Radix r
 * = 2^16 and rows s = 2^10, as they chose, unless others are given.  With s = 2^16 they found the
 * counting over ten times as fast, and the preprocess slowed down by more.  On an H100 the
 * counting is 27 times as fast and the preprocess nearly unchanged: 2.4 ms for 2^24 keys of 16
 * bits instead of 18.
 *
 * A pass over one digit first sorts the keys into s rows, whose digits lie in disjoint intervals.
 * Then one thread a row counts, and later places, its keys one after the other.  The threads work
 * on one column of the rows at a time, and no two of them ever touch the same bin.  Atomics are
 * needed in the preprocess only.
 *
 * One pass does for ranges up to r.  Two passes do not sort completely: the preprocess keeps no
 * order, so keys with equal upper digits leave the second pass nearly, but not quite, in order of
 * their lower ones.  The authors finish with an insertion sort.
 *
 * What is ours, for data other than the paper's uniform data:
 *
 * - Pivots are chosen again from the rows' counts while a row is too long.
 * - A long row of a single digit is in place after the preprocess, and is copied instead of
 *   counted by one thread.
 * - A group of equal upper digits that insertion does not bring in order within a few moves a key
 *   is sorted by one more pass, on its lower digit.
 *
 * Bytes moved per key: 36 a pass, of which 24 by the preprocess, and 8 for the insertion.  On an
 * H100, 1,024 threads of 270,000 count, each waiting for memory at every key: 16.4 of 18.2 ms for
 * 2^24 keys of 16 bits.  The engine takes 0.16 in all, with the atomics that this algorithm
 * avoids.
 *
 *-------------------------------------------------------------------------
 */
#include "common/device.cuh"
#include "published/published.cuh"

namespace hpsort
{
namespace published
{

namespace
{

constexpr uint32_t shared_rows = 8192;	/* most pivots in shared memory: 32 kB */
constexpr unsigned threads = 256;
constexpr unsigned column_threads = 32;	/* of one block, so that as many SMs as possible have one */

/* A row is too long from this many times its share on.  Pivots are chosen at most most_rounds
 * times. */
constexpr uint32_t crowded = 2;
constexpr uint32_t most_rounds = 4;

/* Insertion is given up after this many moves, and not begun on larger groups. */
constexpr uint32_t moves_a_key = 32;
constexpr uint32_t large_group = 16384;

/* The parameters: the authors' choice, or the caller's. */
struct Shape
{
	explicit Shape(const HpsortPublishedOptions &options)
		: rows(option_or(options.rows, 1024)),
		  radix_bits(option_or(options.radix_bits, 16)), radix(1u << radix_bits) {}

	uint32_t	rows;			/* s */
	uint32_t	radix_bits;
	uint32_t	radix;			/* r */
};

/* A group of equal upper digits, in the output. */
struct Group
{
	uint32_t	start;
	uint32_t	count;
};

/* What a pass sorts by: as many bits of a key's bin as the radix has. */
struct Digit
{
	KeyMap		map;
	uint32_t	shift;
	uint32_t	radix;

	/* keys outside the bounds count as the first; rows_kernel() reports them */
	__device__ __forceinline__ uint32_t
	operator()(uint32_t key) const
	{
		const uint32_t bin = to_bin(map, static_cast<int32_t>(key));

		return (bin <= map.last ? bin : 0) >> shift & (radix - 1);
	}
};

/* Workspace, allocated once for all passes. */
struct Workspace
{
	explicit Workspace(const Shape &given) : shape(given) {}

	Shape		shape;
	DeviceBuffer memory;
	uint32_t   *p_input;		/* the keys by rows */
	uint16_t   *sublists;		/* row of each key */
	uint32_t   *indices;		/* place of each key in its row */
	uint32_t   *pivots;			/* the first digit that is too large for each row */
	uint32_t   *counts;			/* keys of each row */
	uint32_t   *counts_offset;	/* where each row starts in p_input */
	uint8_t	   *alone;			/* whether the row is a long row of one digit */
	uint32_t   *histbins;
	uint32_t   *places;			/* prefix sums of histbins */
	Group	   *groups;			/* groups left over by insertion */
	uint32_t   *n_groups;
};

/* Returns the bytes of a Workspace. */
uint64_t
workspace_bytes(const Shape &shape, uint64_t n)
{
	const uint64_t rows = shape.rows;
	const uint64_t radix = shape.radix;

	return 2 * array_bytes(n, 4) + array_bytes(n, 2) + 3 * array_bytes(rows, 4) +
		array_bytes(rows, 1) + array_bytes(radix, 4) + array_bytes(radix + 1, 4) +
		array_bytes(radix, sizeof(Group)) + array_bytes(1, 4);
}

} /* namespace */

/*
 * Preprocess, first half: finds the row of each key by a search among the pivots, and its place
 * there by an atomic that returns.  With in_shared, the pivots are copied to shared memory first.
 */
__global__ void __launch_bounds__(threads)
rows_kernel(Digit digit, const uint32_t *keys, uint64_t first, uint64_t n,
			const uint32_t *pivots, uint32_t rows, bool in_shared,
			uint16_t *sublists, uint32_t *indices, uint32_t *counts,
			HpsortPublishedVerdict *verdict)
{
	extern __shared__ uint32_t shared_pivots[];
	const uint32_t *pivot = in_shared ? shared_pivots : pivots;
	const uint64_t i = first + static_cast<uint64_t>(blockIdx.x) * threads +
		threadIdx.x;

	for (uint32_t k = threadIdx.x; in_shared && k < rows; k += threads)
		shared_pivots[k] = pivots[k];
	__syncthreads();
	if (i >= n)
		return;

	const uint32_t key = keys[i];
	const uint32_t d = digit(key);
	uint32_t	low = 0;
	uint32_t	high = rows - 1;

	if (to_bin(digit.map, static_cast<int32_t>(key)) > digit.map.last)
		report_outside(&verdict->keys, static_cast<int32_t>(key));
	while (low < high)
	{
		const uint32_t middle = (low + high) / 2;

		if (d < pivot[middle])
			high = middle;
		else
			low = middle + 1;
	}
	sublists[i] = static_cast<uint16_t>(low);
	indices[i] = atomicAdd(&counts[low], 1);
}

/* Preprocess, second half: moves the keys to their rows. */
__global__ void __launch_bounds__(threads)
move_kernel(const uint32_t *keys, uint64_t n, const uint16_t *sublists,
			const uint32_t *indices, const uint32_t *counts_offset,
			uint32_t *p_input)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;

	if (i < n)
		p_input[counts_offset[sublists[i]] + indices[i]] = keys[i];
}

/* Histogram-keys (their Fig. 4): a thread is a row.  It waits for memory at every key, a
 * microsecond or so, and therefore reads the stop word now and then. */
__global__ void __launch_bounds__(column_threads)
histogram_keys_kernel(Digit digit, const uint32_t *p_input, const uint32_t *counts,
					  const uint32_t *counts_offset, const uint8_t *alone,
					  uint32_t *histbins, StopWord stop)
{
	const uint32_t row = blockIdx.x * column_threads + threadIdx.x;
	const uint32_t *keys = p_input + counts_offset[row];
	const uint32_t count = counts[row];

	if (alone[row])
	{
		histbins[digit(keys[0])] = count;
		return;
	}
	for (uint32_t j = 0; j < count; j++)
	{
		histbins[digit(keys[j])]++;
		if (j % stop_every == stop_every - 1 && is_stopped(stop))
			return;
	}
}

/* Rank-and-permute (their Fig. 5).  At the end, places are the ends of the digits. */
__global__ void __launch_bounds__(column_threads)
permute_kernel(Digit digit, const uint32_t *p_input, const uint32_t *counts,
			   const uint32_t *counts_offset, const uint8_t *alone,
			   uint32_t *places, uint32_t *sorted, StopWord stop)
{
	const uint32_t row = blockIdx.x * column_threads + threadIdx.x;
	const uint32_t *keys = p_input + counts_offset[row];
	const uint32_t count = counts[row];

	if (alone[row])
	{
		places[digit(keys[0])] += count;
		return;
	}
	for (uint32_t j = 0; j < count; j++)
	{
		const uint32_t key = keys[j];

		sorted[places[digit(key)]++] = key;
		if (j % stop_every == stop_every - 1 && is_stopped(stop))
			return;
	}
}

/* The insertion sort: a thread for each upper digit.  What a thread cannot finish, it leaves as a
 * permutation of what it found, on the list of groups. */
__global__ void __launch_bounds__(threads)
insertion_kernel(KeyMap map, const uint32_t *histbins, const uint32_t *ends,
				 uint32_t radix, uint32_t most, uint32_t *sorted, Group *groups,
				 uint32_t *n_groups)
{
	const uint32_t d = blockIdx.x * threads + threadIdx.x;
	const uint32_t count = d < radix ? histbins[d] : 0;
	const uint32_t start = d < radix ? ends[d] - count : 0;
	uint32_t   *keys = sorted + start;
	int64_t		moves = static_cast<int64_t>(count) * moves_a_key;
	uint32_t	largest;

	if (count < 2)
		return;
	if (count > most)
		moves = -1;
	largest = to_bin(map, static_cast<int32_t>(keys[0]));
	for (uint32_t i = 1; i < count && moves >= 0; i++)
	{
		const uint32_t key = keys[i];
		const uint32_t bin = to_bin(map, static_cast<int32_t>(key));
		uint32_t	j = i;

		if (bin >= largest)
		{
			largest = bin;
			continue;
		}
		for (; j > 0 && to_bin(map, static_cast<int32_t>(keys[j - 1])) > bin; j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
		moves -= i - j;
	}
	if (moves < 0)
		groups[atomicAdd(n_groups, 1)] = {start, count};
}

namespace
{

/* Sets pivots that share the digits below bins evenly, which suits uniform keys.  pivots[k] is
 * the first digit above row k. */
void
even_pivots(uint64_t bins, std::vector<uint32_t> *pivots)
{
	const uint64_t rows = pivots->size();

	for (uint64_t k = 0; k < rows; k++)
		(*pivots)[k] = static_cast<uint32_t>(bins * (k + 1) / rows);
}

/*
 * Chooses pivots by histogram.  Takes the rows' counts as spread evenly over their digits, and
 * cuts them into equal shares.  A row that is much too long gets many pivots, so that a frequent
 * digit is soon alone in its row.
 */
void
better_pivots(const std::vector<uint32_t> &counts, uint64_t n,
			  std::vector<uint32_t> *pivots)
{
	const std::vector<uint32_t> old = *pivots;
	const uint32_t rows = static_cast<uint32_t>(old.size());
	uint64_t	before = 0;		/* keys in the rows before row */
	uint32_t	row = 0;

	for (uint32_t k = 0; k + 1 < rows; k++)
	{
		const uint64_t wanted = n * (k + 1) / rows;
		uint32_t	first;

		while (row + 1 < rows && before + counts[row] <= wanted)
			before += counts[row++];
		first = row > 0 ? old[row - 1] : 0;
		(*pivots)[k] = first;
		if (counts[row] > 0)
			(*pivots)[k] += static_cast<uint32_t>(
				(wanted - before) * (old[row] - first) / counts[row]);
	}
	(*pivots)[rows - 1] = old[rows - 1];
}

/* Returns whether no long row is left that more pivots could cut. */
bool
is_balanced(const std::vector<uint32_t> &counts, const std::vector<uint32_t> &pivots,
			uint64_t n)
{
	const uint32_t rows = static_cast<uint32_t>(pivots.size());

	for (uint32_t k = 0; k < rows; k++)
	{
		const uint32_t first = k > 0 ? pivots[k - 1] : 0;

		if (pivots[k] - first > 1 && counts[k] > crowded * (n / rows + 32))
			return false;
	}
	return true;
}

/* Returns the workspace of a task. */
Workspace
allocate(const Task &task)
{
	Workspace	w(Shape(task.spec->options));
	const uint64_t n = task.n;
	const uint32_t rows = w.shape.rows;
	const uint32_t radix = w.shape.radix;

	w.memory = DeviceBuffer(task.context, task.stream, workspace_bytes(w.shape, n),
							"bucket_radix");

	Carver		carver(w.memory);

	w.p_input = carver.take<uint32_t>(n);
	w.indices = carver.take<uint32_t>(n);
	w.sublists = carver.take<uint16_t>(n);
	w.pivots = carver.take<uint32_t>(rows);
	w.counts = carver.take<uint32_t>(rows);
	w.counts_offset = carver.take<uint32_t>(rows);
	w.alone = carver.take<uint8_t>(rows);
	w.histbins = carver.take<uint32_t>(radix);
	/* the digits start at places[d], so one place of zero is in front of the sums */
	w.places = carver.take<uint32_t>(radix + 1);
	w.groups = carver.take<Group>(radix);
	w.n_groups = carver.take<uint32_t>(1);
	return w;
}

/* One pass of "preprocess counting sort" from keys to sorted, which may be the same; digits are
 * below bins.  Waits for the rows' counts, because the host chooses the pivots. */
void
pass(const Task &task, const Workspace &w, uint32_t shift, uint64_t bins,
	 const uint32_t *keys, uint64_t n, uint32_t *sorted)
{
	const cudaStream_t stream = task.stream;
	const uint32_t rows = w.shape.rows;
	const uint32_t radix = w.shape.radix;
	const Digit digit = {task.map, shift, radix};
	const bool	in_shared = rows <= shared_rows;
	const size_t shared_bytes = in_shared ? rows * sizeof(uint32_t) : 0;
	const unsigned blocks = blocks_for_each(n, threads);
	std::vector<uint32_t> pivots(rows);
	std::vector<uint32_t> counts(rows);
	std::vector<uint32_t> offsets(rows);
	std::vector<uint8_t> alone(rows);
	HpsortPublishedReport *report = task.clock->report();

	task.clock->phase("bucket partition");
	even_pivots(bins, &pivots);
	for (uint32_t round = 1;; round++)
	{
		copy_in(stream, w.pivots, pivots, "set the pivots");
		zero(stream, w.counts, rows * sizeof(uint32_t));
		in_steps(task, n, [&](uint64_t first, uint64_t count) {
			rows_kernel<<<blocks_for_each(count, threads), threads, shared_bytes,
				stream>>>(digit, keys, first, first + count, w.pivots, rows, in_shared,
						  w.sublists, w.indices, w.counts, task.verdict);
			check_launch("find the rows");
		});
		copy_out(stream, &counts, w.counts, "find the rows");
		if (report)
			report->rounds++;
		if (round == most_rounds || is_balanced(counts, pivots, n))
			break;
		better_pivots(counts, n, &pivots);
	}

	uint32_t	sum = 0;

	for (uint32_t k = 0; k < rows; k++)
	{
		const uint32_t first = k > 0 ? pivots[k - 1] : 0;

		offsets[k] = sum;
		sum += counts[k];
		alone[k] = pivots[k] - first == 1 && counts[k] > crowded * (n / rows + 32);
	}
	copy_in(stream, w.counts_offset, offsets, "set the rows");
	copy_in(stream, w.alone, alone, "set the rows");
	move_kernel<<<blocks, threads, 0, stream>>>(keys, n, w.sublists, w.indices,
											   w.counts_offset, w.p_input);
	check_launch("move keys to their rows");

	task.clock->phase("counting sort");
	zero(stream, w.histbins, radix * sizeof(uint32_t));
	histogram_keys_kernel<<<rows / column_threads, column_threads, 0, stream>>>
		(digit, w.p_input, w.counts, w.counts_offset, w.alone, w.histbins, task.stop);
	check_launch("count the digits");
	zero(stream, w.places, sizeof(uint32_t));
	step(task);
	prefix_sums(task.context, stream, w.histbins, w.places + 1, radix);
	permute_kernel<<<rows / column_threads, column_threads, 0, stream>>>
		(digit, w.p_input, w.counts, w.counts_offset, w.alone, w.places, sorted,
		 task.stop);
	check_launch("place the keys");
	step(task);
	for (uint32_t k = 0; k < rows; k++)
		if (alone[k])
			check(cudaMemcpyAsync(sorted + offsets[k], w.p_input + offsets[k],
								  counts[k] * sizeof(uint32_t),
								  cudaMemcpyDeviceToDevice, stream),
				  "copy a row of one digit");
}

} /* namespace */

uint64_t
bucket_radix_need(const HpsortPublishedOptions &options, uint64_t n)
{
	const Shape shape(options);

	return workspace_bytes(shape, n) + prefix_sums_need(shape.radix);
}

void
bucket_radix_sort(const Task &task)
{
	const uint64_t n = task.n;
	const Workspace w = allocate(task);
	const uint32_t radix = w.shape.radix;
	const uint64_t fair = 4 * n / radix;
	const uint32_t most = static_cast<uint32_t>(fair > large_group ? fair :
												large_group);
	uint32_t	n_groups;
	std::vector<Group> groups;

	if (task.range <= radix)
	{
		pass(task, w, 0, task.range, task.keys, n, task.out);
		return;
	}
	pass(task, w, 0, radix, task.keys, n, task.out);
	pass(task, w, w.shape.radix_bits, (task.range - 1) / radix + 1, task.out, n,
		 task.out);

	task.clock->phase("insertion sort");
	zero(task.stream, w.n_groups, sizeof(uint32_t));
	insertion_kernel<<<blocks_for_each(radix, threads), threads, 0, task.stream>>>
		(task.map, w.histbins, w.places, radix, most, task.out, w.groups, w.n_groups);
	check_launch("sort by insertion");
	check(cudaMemcpyAsync(&n_groups, w.n_groups, sizeof(n_groups),
						  cudaMemcpyDeviceToHost, task.stream), "read the groups");
	check(cudaStreamSynchronize(task.stream), "sort by insertion");
	if (n_groups == 0)
		return;
	groups.resize(n_groups);
	copy_out(task.stream, &groups, w.groups, "read the groups");
	if (task.clock->report())
		task.clock->report()->repaired += n_groups;
	for (const Group &group : groups)
		pass(task, w, 0, radix, task.out + group.start, group.count,
			 task.out + group.start);
}

} /* namespace published */
} /* namespace hpsort */

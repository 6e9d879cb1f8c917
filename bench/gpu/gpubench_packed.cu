/*-------------------------------------------------------------------------
 *
 * gpubench_packed.cu
 *	  Packed values that stay on the device (gpubench --packed): what counting and
 *	  unpacking them takes, beside the same keys as int32, and beside CUB.
 *
 * Values lie in pieces of a column's size: 128 blocks of 145 rows, each with memory of its
 * own.  Kernels are timed as all of gpubench is; jobs by the clock on the wall, from
 * opening to the end of finish, since the host's part in them counts as well.  CUB is
 * given the same values in one array.  Each job's runs are compared with those of the job
 * of int32 keys.
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "gpubench.cuh"
#include "histogram/packed_rows.cuh"
#include "histogram/shared_histogram.cuh"

using namespace hpsort;

static constexpr uint32_t piece_values = 128 * 145;

/* One column: as pieces, in one array, and as keys. */
struct Column
{
	uint64_t	n = 0;
	int			width = 0;
	uint64_t	stride = 0;		/* bytes from piece to piece */
	uint32_t	npieces = 0;
	char	   *pieces = nullptr;
	char	   *together = nullptr;
	int32_t    *keys = nullptr;

	uint32_t values_of(uint32_t piece) const
	{
		return static_cast<uint32_t>(std::min<uint64_t>(
			piece_values, n - static_cast<uint64_t>(piece) * piece_values));
	}
};

static __global__ void
fill_kernel(Recipe recipe, Column column)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < recipe.n;
		 i += step)
	{
		const int32_t key = make_key(recipe, i);
		char	   *at = column.pieces + i / piece_values * column.stride +
			i % piece_values * column.width;

		column.keys[i] = key;
		for (int b = 0; b < column.width; b++)
		{
			at[b] = (char) ((uint32_t) key >> 8 * b);
			column.together[i * column.width + b] = at[b];
		}
	}
}

static Column
make_column(const Recipe &recipe, int width)
{
	Column		column;

	column.n = recipe.n;
	column.width = width;
	column.stride = (piece_values * width + 255) / 256 * 256;
	column.npieces = (uint32_t) ((recipe.n + piece_values - 1) / piece_values);
	CUDA(cudaMalloc(&column.pieces, column.npieces * column.stride));
	CUDA(cudaMemset(column.pieces, 0, column.npieces * column.stride));
	CUDA(cudaMalloc(&column.together, recipe.n * width));
	CUDA(cudaMalloc(&column.keys, recipe.n * 4));
	fill_kernel<<<4096, 256>>>(recipe, column);
	CUDA(cudaDeviceSynchronize());
	return column;
}

static void
free_column(Column *column)
{
	CUDA(cudaFree(column->pieces));
	CUDA(cudaFree(column->together));
	CUDA(cudaFree(column->keys));
}

/* The tables that a job of all pieces would make, in device memory. */
static std::vector<PackedTable>
make_tables(const Column &column, bool counting, PackedPart **memory)
{
	std::vector<PackedPart> parts;
	std::vector<PackedTable> tables;
	std::vector<uint32_t> begins;
	uint32_t	tiles = 0;

	for (uint32_t i = 0; i < column.npieces; i++)
	{
		const uint32_t m = column.values_of(i);
		PackedPart	part = {};

		if (i % REGIME_PACKED_PARTS == 0)
		{
			if (i > 0)
				parts.push_back({nullptr, 0, tiles, 0, 0, 0});
			tiles = 0;
			begins.push_back((uint32_t) parts.size());
			tables.push_back({nullptr, 0, 0, 0});
		}
		part.values = column.pieces + i * column.stride;
		part.place = (int64_t) i * piece_values * 8 + column.width / 2;
		part.start = tiles;
		part.n = m;
		parts.push_back(part);
		tiles += counting ? (m * column.width + packed_tile_vectors * 16 - 1) /
			(packed_tile_vectors * 16) : (m + packed_tile_values - 1) / packed_tile_values;
		tables.back().count++;
		tables.back().tiles = tiles;
		tables.back().n += m;
	}
	parts.push_back({nullptr, 0, tiles, 0, 0, 0});
	CUDA(cudaMalloc(memory, parts.size() * sizeof(PackedPart)));
	CUDA(cudaMemcpy(*memory, parts.data(), parts.size() * sizeof(PackedPart),
					cudaMemcpyHostToDevice));
	for (size_t i = 0; i < tables.size(); i++)
		tables[i].parts = *memory + begins[i];
	return tables;
}

/* CUB's histogram of the values as they are, bins of 32 bits. */
template <typename Value>
static double
cub_histogram(const Column &column, uint64_t range)
{
	void	   *space = nullptr;
	size_t		bytes = 0;
	int		   *bins;
	double		ms;
	const auto	call = [&] {
		CUDA(cub::DeviceHistogram::HistogramEven(space, bytes, (const Value *) column.together,
												 bins, (int) range + 1, 0, (int) range,
												 (int) column.n, stream));
	};

	CUDA(cudaMalloc(&bins, range * sizeof(int)));
	call();
	CUDA(cudaMalloc(&space, bytes));
	ms = measure(call);
	CUDA(cudaFree(space));
	CUDA(cudaFree(bins));
	return ms;
}

/* And its sort of them, by the bits that the range has. */
template <typename Value>
static double
cub_sort(const Column &column, uint64_t range)
{
	void	   *space = nullptr;
	size_t		bytes = 0;
	Value	   *sorted;
	double		ms;
	const auto	call = [&] {
		CUDA(cub::DeviceRadixSort::SortKeys(space, bytes, (const Value *) column.together,
											sorted, (uint32_t) column.n, 0, bits_of(range),
											stream));
	};

	CUDA(cudaMalloc(&sorted, column.n * sizeof(Value)));
	call();
	CUDA(cudaMalloc(&space, bytes));
	ms = measure(call);
	CUDA(cudaFree(space));
	CUDA(cudaFree(sorted));
	return ms;
}

static double
now_ms(void)
{
	return std::chrono::duration<double, std::milli>(
		std::chrono::steady_clock::now().time_since_epoch()).count();
}

static double
median(std::vector<double> times)
{
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

/* What a job takes, and what it finds. */
struct JobTimes
{
	double		add = 0;		/* the call alone */
	double		all = 0;		/* from opening to the end of finish */
	std::vector<int32_t> run_keys;
	std::vector<uint64_t> counts;
};

template <typename Add>
static JobTimes
time_job(uint64_t n, uint64_t range, Add add)
{
	JobTimes	times;
	std::vector<double> adds;
	std::vector<double> alls;
	HpsortCudaSpec spec = {};

	spec.n_hint = n;
	spec.bounds_known = 1;
	spec.hi = (int32_t) (range - 1);
	spec.wanted = HPSORT_CUDA_RUNS;
	for (int i = 0; i < 9; i++)
	{
		HpsortCudaJob *job;
		HpsortCudaResult result;
		double		before;
		double		start = now_ms();

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		before = now_ms();
		add(job);
		adds.push_back(now_ms() - before);
		ENGINE(hpsort_cuda_job_finish(job, &result, &err));
		alls.push_back(now_ms() - start);
		times.run_keys.resize(result.distinct);
		times.counts.resize(result.distinct);
		ENGINE(hpsort_cuda_job_read_runs(job, 0, result.distinct, times.run_keys.data(),
										 times.counts.data(), &err));
		hpsort_cuda_job_close(job);
	}
	times.add = median(adds);
	times.all = median(alls);
	return times;
}

/* Kept values of a column, and how long keeping and freeing one takes, in microseconds. */
struct Kept
{
	std::vector<HpsortCudaPacked *> packed;
	std::vector<HpsortCudaPiece> pieces;
	double		keep_us = 0;
	double		free_us = 0;

	explicit Kept(const Column &column)
	{
		HpsortCudaSpec spec = {};
		HpsortCudaJob *job;
		double		start;

		spec.wanted = HPSORT_CUDA_RUNS;
		packed.resize(column.npieces);
		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		start = now_ms();
		for (uint32_t i = 0; i < column.npieces; i++)
			ENGINE(hpsort_cuda_job_keep(job, column.pieces + i * column.stride, nullptr,
										column.values_of(i), column.width, 0, &packed[i],
										nullptr, &err));
		ENGINE(hpsort_cuda_job_consumed(job, 1, nullptr, &err));
		keep_us = (now_ms() - start) * 1000 / column.npieces;
		hpsort_cuda_job_close(job);
		for (uint32_t i = 0; i < column.npieces; i++)
			pieces.push_back({packed[i], 0, column.values_of(i)});
	}
	void release(void)
	{
		const double start = now_ms();

		for (HpsortCudaPacked *each : packed)
			hpsort_cuda_packed_free(each);
		free_us = (now_ms() - start) * 1000 / packed.size();
	}
};

/* What the kernels alone take, in milliseconds. */
struct KernelTimes
{
	double		count = 0;
	double		count_keys = 0;	/* of int32 */
	double		unpack = 0;
};

static KernelTimes
time_kernels(const Column &column, uint64_t range, const char *name)
{
	KernelTimes times;
	PackedPart *memory;
	int32_t    *unpacked;
	Bounds	   *bounds;
	Bins		bins;

	bins.allocate(context, stream, make_key_map(0, (int32_t) (range - 1), false));
	clear_verdict(verdict);

	std::vector<PackedTable> tables = make_tables(column, true, &memory);

	times.count = measure([&] {
		for (const PackedTable &table : tables)
			bins.add_packed(context, stream, table, verdict);
	});
	CUDA(cudaFree(memory));
	times.count_keys = measure([&] {
		bins.add(context, stream, column.keys, column.n, verdict);
	});
	bins.memory.release();

	tables = make_tables(column, false, &memory);
	CUDA(cudaMalloc(&unpacked, column.n * 4));
	CUDA(cudaMalloc(&bounds, sizeof(Bounds)));
	times.unpack = measure([&] {
		for (const PackedTable &table : tables)
			unpack_add(context, stream, table, unpacked, bounds);
	});
	CUDA(cudaFree(unpacked));
	CUDA(cudaFree(bounds));
	CUDA(cudaFree(memory));
	if (verdict->n_outside != 0)
	{
		fprintf(stderr, "%s: a key is out of bounds\n", name);
		exit(1);
	}
	return times;
}

/* One line of the table, and of the CSV. */
static void
row(uint64_t n, int width, uint64_t range, Distribution distribution)
{
	char		name[128];

	snprintf(name, sizeof(name), "packed n %.0e width %d range %llu %s", (double) n, width,
			 (unsigned long long) range, distribution_names[distribution]);
	if (skip(name))
		return;

	Column		column = make_column({distribution, n, range, 0, false, 7}, width);
	const KernelTimes kernels = time_kernels(column, range, name);
	const double histogram_ms = width == 1 ? cub_histogram<uint8_t>(column, range) :
		width == 2 ? cub_histogram<uint16_t>(column, range) :
		cub_histogram<int32_t>(column, range);
	const double sort_ms = width == 1 ? cub_sort<uint8_t>(column, range) :
		width == 2 ? cub_sort<uint16_t>(column, range) : cub_sort<uint32_t>(column, range);
	Kept		kept(column);
	const JobTimes packed_job = time_job(n, range, [&](HpsortCudaJob *job) {
		ENGINE(hpsort_cuda_job_add_rows(job, kept.pieces.data(), column.npieces, nullptr,
										&err));
	});
	const JobTimes keys_job = time_job(n, range, [&](HpsortCudaJob *job) {
		ENGINE(hpsort_cuda_job_add(job, column.keys, n, nullptr, &err));
	});
	const double gb_s = n * width / kernels.count / 1e6;

	kept.release();
	free_column(&column);
	if (packed_job.run_keys != keys_job.run_keys || packed_job.counts != keys_job.counts)
	{
		fprintf(stderr, "%s: wrong result\n", name);
		exit(1);
	}
	printf("%-48s %8.4f %7.0f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %6.2f %6.2f\n", name,
		   kernels.count, gb_s, kernels.count_keys, kernels.unpack, packed_job.add,
		   packed_job.all, keys_job.all, histogram_ms, sort_ms, kept.keep_us, kept.free_us);
	fflush(stdout);
	if (csv)
		fprintf(csv, "\"%s\",%.5f,%.1f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f,%.3f,%.3f\n", name,
				kernels.count, gb_s, kernels.count_keys, kernels.unpack, packed_job.add,
				packed_job.all, keys_job.all, histogram_ms, sort_ms, kept.keep_us,
				kept.free_us);
}

void
packed_rows(void)
{
	for (uint64_t n : {10000000ull, 100000000ull, 1000000000ull})
	{
		repetitions = n > 100000000 ? 5 : 11;
		for (Distribution distribution : {UNIFORM, ZIPF, CONSTANT, MOST, SORTED})
		{
			row(n, 1, 200, distribution);
			row(n, 2, 1000, distribution);
			row(n, 2, 50000, distribution);
			if (distribution == UNIFORM)
			{
				row(n, 1, 10, distribution);
				row(n, 2, 10000, distribution);
				row(n, 4, 50000, distribution);
			}
		}
	}
}

/* ------------------------------------------------------------------------
 * Rows of two columns
 * ------------------------------------------------------------------------
 */

/* What a job of rows takes: making keys, all from opening to the end of finish, and a question for each group. */
struct RowTimes
{
	double		make = 0;
	double		all = 0;
	double		look = 0;
	uint64_t	n = 0;
	std::vector<uint64_t> below;
	std::vector<int32_t> medians;
};

/* x of some groups above y of some values, as percentiles of y by x want them; of rows whose y is at most `most`. */
static RowTimes
time_rows(const std::vector<HpsortCudaPiece> &pieces, uint32_t nparts, uint32_t groups, uint32_t values, int32_t most)
{
	const int	shift = bits_of(values);
	const HpsortCudaRange range = {0, most};
	HpsortCudaSpec spec = {};
	HpsortCudaRows layout = {};
	RowTimes	times;
	std::vector<double> makes;
	std::vector<double> alls;
	std::vector<double> looks;
	std::vector<int32_t> starts(groups);
	std::vector<uint64_t> positions;

	spec.bounds_known = 1;
	spec.hi = (int32_t) (groups << shift) - 1;
	spec.wanted = HPSORT_CUDA_RUNS;
	layout.ncolumns = 2;
	layout.nranges = 1;
	layout.columns[0] = {0, groups - 1, 1u << shift, 0, HPSORT_CUDA_ROWS_IN_KEY, 0, 0, 0};
	layout.columns[1] = {0, values - 1, 1, 0, HPSORT_CUDA_ROWS_IN_KEY, 0, 1, 0};
	if (most < (int32_t) values - 1)
	{
		layout.filtered = 1;
		layout.columns[1].flags |= HPSORT_CUDA_ROWS_FILTERED;
	}
	for (uint32_t g = 0; g < groups; g++)
		starts[g] = (int32_t) (g << shift);
	for (int i = 0; i < 9; i++)
	{
		HpsortCudaJob *job;
		HpsortCudaResult result;
		double		start = now_ms();
		double		before;

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		ENGINE(hpsort_cuda_job_rows(job, &layout, &range, &err));
		before = now_ms();
		ENGINE(hpsort_cuda_job_add_rows(job, pieces.data(), nparts, nullptr, &err));
		CUDA(cudaDeviceSynchronize());
		makes.push_back(now_ms() - before);
		ENGINE(hpsort_cuda_job_finish(job, &result, &err));
		alls.push_back(now_ms() - start);
		times.n = result.n;
		times.below.resize(groups);
		before = now_ms();
		ENGINE(hpsort_cuda_job_read_below(job, starts.data(), groups, times.below.data(), &err));
		positions.clear();
		for (uint32_t g = 0; g < groups; g++)
		{
			const uint64_t end = g + 1 < groups ? times.below[g + 1] : times.n;

			if (end > times.below[g])
				positions.push_back((times.below[g] + end) / 2);
		}
		times.medians.resize(positions.size());
		ENGINE(hpsort_cuda_job_read_at(job, positions.data(), positions.size(), times.medians.data(), &err));
		looks.push_back(now_ms() - before);
		hpsort_cuda_job_close(job);
	}
	times.make = median(makes);
	times.all = median(alls);
	times.look = median(looks);
	return times;
}

/* What the host expects of that, by a key at a time; groups' sizes alone. */
static bool
rows_are_right(const Column &x, const Column &y, const RowTimes &times, int32_t most)
{
	std::vector<int32_t> xs(x.n);
	std::vector<int32_t> ys(y.n);
	std::vector<uint64_t> counts(times.below.size() + 1);

	CUDA(cudaMemcpy(xs.data(), x.keys, x.n * 4, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(ys.data(), y.keys, y.n * 4, cudaMemcpyDeviceToHost));
	for (uint64_t i = 0; i < x.n; i++)
		if (ys[i] <= most)
			counts[xs[i] + 1]++;
	for (size_t g = 0; g < times.below.size(); g++)
	{
		if (counts[g] != times.below[g])
			return false;
		counts[g + 1] += counts[g];
	}
	return counts.back() == times.n;
}

static void
row_of_rows(uint64_t n, const Column &x, const Column &y, const std::vector<HpsortCudaPiece> &pieces, double share)
{
	const int32_t most = (int32_t) (1000000 * share) - 1;
	char		name[128];

	snprintf(name, sizeof(name), "rows n %.0e of 1000 groups, 1000000 values, %g passing", (double) n, share);
	if (skip(name))
		return;

	const RowTimes times = time_rows(pieces, x.npieces, 1000, 1000000, most);
	if (!rows_are_right(x, y, times, most))
	{
		fprintf(stderr, "%s: wrong result\n", name);
		exit(1);
	}
	printf("%-60s %8.4f %8.4f %8.4f\n", name, times.make, times.all, times.look);
	fflush(stdout);
}

/* Percentiles of y by x: keys made, all of the job, and what is asked of it, in milliseconds. */
void
packed_row_keys(void)
{
	printf("%-60s %8s %8s %8s\n", "", "make", "job", "look");
	for (uint64_t n : {10000000ull, 100000000ull})
	{
		Column		x = make_column({UNIFORM, n, 1000, 0, false, 7}, 2);
		Column		y = make_column({UNIFORM, n, 1000000, 0, false, 8}, 4);
		Kept		kept_x(x);
		Kept		kept_y(y);
		std::vector<HpsortCudaPiece> pieces;

		for (uint32_t i = 0; i < x.npieces; i++)
		{
			pieces.push_back(kept_x.pieces[i]);
			pieces.push_back(kept_y.pieces[i]);
		}
		for (double share : {1.0, 0.99, 0.5, 0.01})
			row_of_rows(n, x, y, pieces, share);
		kept_x.release();
		kept_y.release();
		free_column(&x);
		free_column(&y);
	}
}

/*-------------------------------------------------------------------------
 *
 * gpubench.cu
 *	  The engine beside CUB, device to device, in one run.
 *
 * usage: gpubench [csv file] [--only text] ... [--rows | --grid | --families | --packed]
 *
 * --rows: the rows with targets alone; --grid: the grid of gpubench_grid.cu alone, which
 * fails if a row is slower than CUB; --families: what each kernel family is worth on the
 * rows of the grid, without CUB; --packed: packed values that stay on the device
 * (gpubench_packed.cu; 1e9 of them take 25 GB of device memory).  --only: rows whose names hold the text, with its
 * blanks; given several times, all of the texts: --only "n 10000000 " --only zipf.
 *
 * Times are between two events on one stream, with the work before the first
 * one long enough for the host to be ahead: kernels, their launches as the GPU
 * sees them, and every wait for the host that the engine needs.  Before each
 * repetition 512 MB of other memory are read, so that L2 holds neither keys nor
 * lines that must be written back.  Medians of 11
 * after 2 repetitions for warming up (of 5 after 1 in the grid from 2e7 keys on).  Every
 * result is checked.
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

#include "gpubench.cuh"

HpsortCuda *context;
HpsortCudaError err;
HpsortCudaVerdict *verdict;
cudaStream_t stream;
int32_t    *keys;
int32_t    *out;
uint32_t   *rows_in;
uint32_t   *rows_out;
FILE	   *csv;
int			repetitions = 11;
static void *flush;
static const size_t flush_bytes = (size_t) 512 << 20;
static void *workspace;
static size_t workspace_bytes;
static std::vector<std::string> only;

static __global__ void
read_kernel(const int4 *from, uint64_t n, int *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;
	int			sum = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
		 i += 4 * step)
	{
		int4		r[4];

#pragma unroll
		for (int j = 0; j < 4; j++)
			r[j] = i + j * step < n ? __ldcs(from + i + j * step) :
				make_int4(0, 0, 0, 0);
#pragma unroll
		for (int j = 0; j < 4; j++)
			sum += r[j].x ^ r[j].y ^ r[j].z ^ r[j].w;
	}
	if (sum == 0x12345678)
		*to = sum;
}

double
measure(const std::function<void()> &work)
{
	std::vector<float> times;
	cudaEvent_t start;
	cudaEvent_t stop;

	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));
	for (int i = repetitions < 11 ? -1 : -2; i < repetitions; i++)
	{
		float		ms;

		read_kernel<<<1024, 512, 0, stream>>>((const int4 *) flush, flush_bytes / 16,
											  (int *) flush);
		CUDA(cudaEventRecord(start, stream));
		work();
		CUDA(cudaEventRecord(stop, stream));
		CUDA(cudaEventSynchronize(stop));
		CUDA(cudaEventElapsedTime(&ms, start, stop));
		if (i >= 0)
			times.push_back(ms);
	}
	CUDA(cudaEventDestroy(start));
	CUDA(cudaEventDestroy(stop));
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

static Audit
audit(const int32_t *what, uint64_t n)
{
	Audit	   *device;
	Audit		result;

	CUDA(cudaMalloc(&device, sizeof(Audit)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(Audit), stream));
	audit_kernel<<<1024, 256, 0, stream>>>(what, n, false, device);
	CUDA(cudaMemcpyAsync(&result, device, sizeof(Audit), cudaMemcpyDeviceToHost,
						 stream));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaFree(device));
	return result;
}

void
check_sorted(uint64_t n, const char *what)
{
	Audit		before = audit(keys, n);
	Audit		after = audit(out, n);

	if (after.disorder != 0 || after.sum != before.sum)
	{
		fprintf(stderr, "%s: wrong result\n", what);
		exit(1);
	}
}

static void
need_workspace(size_t bytes)
{
	if (bytes <= workspace_bytes)
		return;
	CUDA(cudaFree(workspace));
	CUDA(cudaMalloc(&workspace, bytes));
	workspace_bytes = bytes;
}

/* The peer at its best: 32-bit sizes, workspace at hand, bits cut by hand. */
double
cub_keys(uint64_t n, int bits)
{
	size_t		bytes = 0;
	auto		call = [&](void *at) {
		CUDA(cub::DeviceRadixSort::SortKeys(at, bytes, keys, out, (uint32_t) n, 0, bits,
											stream));
	};

	call(nullptr);
	need_workspace(bytes);
	return measure([&] { call(workspace); });
}

/* Its row numbers are there already, which the engine has to make up. */
double
cub_pairs(uint64_t n, int bits)
{
	size_t		bytes = 0;

	CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, out, rows_in,
										 rows_out, (uint32_t) n, 0, bits, stream));
	need_workspace(bytes);
	return measure([&] {
		CUDA(cub::DeviceRadixSort::SortPairs(workspace, bytes, keys, out, rows_in,
											 rows_out, (uint32_t) n, 0, bits,
											 stream));
	});
}

/* The floor for anything that reads and writes every key once. */
static double
copy_time(uint64_t n)
{
	return measure([&] {
		CUDA(cudaMemcpyAsync(out, keys, n * 4, cudaMemcpyDeviceToDevice, stream));
	});
}

/* The bounds of the recipe's keys, which a job has found when it sorts. */
static HpsortCudaSpec
spec_of(const Recipe &recipe)
{
	HpsortCudaSpec spec = {};

	spec.bounds_known = !recipe.anywhere;
	spec.lo = (int32_t) recipe.lo;
	spec.hi = (int32_t) (recipe.lo + (int64_t) recipe.distinct - 1);
	return spec;
}

static double
engine_keys(const Recipe &recipe, RegimeChoice *choice, const char *what)
{
	const HpsortCudaSpec spec = spec_of(recipe);

	CUDA(cudaMemsetAsync(out, 0xa5, recipe.n * 4, stream));

	double		ms = measure([&] {
		ENGINE(sort_now(context, spec, keys, recipe.n, out, nullptr, stream, verdict, choice,
						&err));
	});

	check_sorted(recipe.n, what);
	return ms;
}

/* One line of the table, and of the CSV. */
static void
emit(const std::string &row, const std::string &target, double ms, double cub,
	 double restricted, double copy, const char *regime, const char *pass)
{
	double		best = restricted > 0 && (cub == 0 || restricted < cub) ?
		restricted : cub;

	printf("%-44s %9.4f %9.4f %9.4f %9.4f %7.2f %7.2f  %-16s %-18s %s\n",
		   row.c_str(), ms, cub, restricted, copy, best > 0 ? best / ms : 0.0,
		   copy > 0 ? ms / copy : 0.0, regime, target.c_str(), pass);
	fflush(stdout);
	if (csv)
		fprintf(csv, "\"%s\",%.5f,%.5f,%.5f,%.5f,%.3f,%.3f,%s,\"%s\",%s\n",
				row.c_str(), ms, cub, restricted, copy,
				best > 0 ? best / ms : 0.0, copy > 0 ? ms / copy : 0.0, regime,
				target.c_str(), pass);
}

int
bits_of(uint64_t range)
{
	int			bits = 0;

	while (bits < 32 && ((uint64_t) 1 << bits) < range)
		bits++;
	return bits > 0 ? bits : 1;
}

bool
skip(const std::string &row)
{
	return std::any_of(only.begin(), only.end(), [&](const std::string &text) {
		return row.find(text) == std::string::npos;
	});
}

/*
 * One row: keys uniform over `distinct` values, starting at 0 or anywhere.
 * ratio: against CUB with restricted bits where the bounds are known, else
 * against CUB with 32 bits.
 */
static void
row_keys(uint64_t n, uint64_t distinct, bool anywhere, double ratio)
{
	Recipe		recipe = {UNIFORM, n, distinct, 0, anywhere, 12345};
	RegimeChoice choice;
	char		row[128];
	char		target[64] = "";

	snprintf(row, sizeof(row), "keys n %.0e %s %llu", (double) n,
			 anywhere ? "range 2^32 distinct" : "range", (unsigned long long) distinct);
	if (skip(row))
		return;
	generate(recipe, keys, stream);

	double		copy = copy_time(n);
	double		restricted = anywhere ? 0 : cub_keys(n, bits_of(distinct));
	double		full = cub_keys(n, 32);
	double		ms = engine_keys(recipe, &choice, row);
	double		peer = anywhere ? full : restricted;

	if (ratio > 0)
		snprintf(target, sizeof(target), ">=%.1fx", ratio);
	emit(row, target, ms, full, restricted, copy, regime_names[choice.regime],
		 ratio == 0 ? "-" : peer / ms >= ratio ? "met" : "MISSED");
}

static __global__ void
disorder_kernel(const int32_t *sorted_by, const uint32_t *rows, uint64_t n,
				unsigned long long *wrong)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i + 1 < n;
		 i += step)
	{
		int32_t		a = sorted_by[rows[i]];
		int32_t		b = sorted_by[rows[i + 1]];

		if (a > b || (a == b && rows[i] >= rows[i + 1]))
			atomicAdd(wrong, 1ull);
	}
}

void
check_rows(uint64_t n, const char *what)
{
	unsigned long long *wrong;
	unsigned long long wrong_host;

	CUDA(cudaMalloc(&wrong, sizeof(*wrong)));
	CUDA(cudaMemset(wrong, 0, sizeof(*wrong)));
	disorder_kernel<<<2048, 256>>>(keys, rows_out, n, wrong);
	CUDA(cudaMemcpy(&wrong_host, wrong, sizeof(wrong_host),
					cudaMemcpyDeviceToHost));
	CUDA(cudaFree(wrong));
	if (wrong_host != 0)
	{
		fprintf(stderr, "%s: %llu rows out of order\n", what, wrong_host);
		exit(1);
	}
}

/* The stable permutation beside CUB's pair sort of 32 bits. */
static void
row_permutation(uint64_t n, uint64_t distinct, bool anywhere, double ratio)
{
	Recipe		recipe = {UNIFORM, n, distinct, 0, anywhere, 999};
	RegimeChoice choice;
	char		row[128];
	char		target[64] = "";

	snprintf(row, sizeof(row), "permutation n %.0e %s %llu", (double) n,
			 anywhere ? "range 2^32 distinct" : "range",
			 (unsigned long long) distinct);
	if (skip(row))
		return;
	generate(recipe, keys, stream);

	double		full = cub_pairs(n, 32);
	double		restricted = anywhere ? 0 : cub_pairs(n, bits_of(distinct));

	CUDA(cudaMemsetAsync(rows_out, 0xa5, n * 4, stream));
	double		ms = measure([&] {
		ENGINE(sort_now(context, spec_of(recipe), keys, n, nullptr, rows_out, stream, verdict,
						&choice, &err));
	});

	check_rows(n, row);
	if (ratio > 0)
		snprintf(target, sizeof(target), ">=%.1fx pairs 32", ratio);
	emit(row, target, ms, full, restricted, 0,
		 regime_names[choice.regime],
		 ratio == 0 ? "-" : full / ms >= ratio ? "met" : "MISSED");
}

/* Equal n and range, different distributions. */
static void
row_spread(uint64_t n, uint64_t range, double most)
{
	double		slowest = 0;
	double		fastest = 1e9;
	double		uniform = 0;
	char		row[128];

	snprintf(row, sizeof(row), "spread n %.0e range %llu", (double) n,
			 (unsigned long long) range);
	if (skip(row))
		return;
	for (int d = 0; d < DISTRIBUTIONS; d++)	/* those that the targets are about */
	{
		Recipe		recipe = {(Distribution) d, n, range, 0, false, 12345};
		RegimeChoice choice;

		generate(recipe, keys, stream);

		double		full = cub_keys(n, 32);
		double		restricted = cub_keys(n, bits_of(range));
		double		ms = engine_keys(recipe, &choice, row);
		std::string name = std::string(row) + " " + distribution_names[d];

		emit(name, "", ms, full, restricted, 0,
			 regime_names[choice.regime], "-");
		slowest = std::max(slowest, ms);
		fastest = std::min(fastest, ms);
		if (d == UNIFORM)
			uniform = ms;
	}

	/* being faster than uniform is no fault: the spread is what is lost */
	double		lost = (slowest / uniform - 1) * 100;
	char		target[96];

	snprintf(target, sizeof(target), "<=%.0f%% slower, is %.1f%%", most, lost);
	emit(std::string(row) + " slowest", target, slowest, 0, 0, 0, "-",
		 lost <= most ? "met" : "MISSED");
	emit(std::string(row) + " fastest", "", fastest, 0, 0, 0, "-", "-");
}

/*
 * A job from host to host, by the clock on the wall: pinned 4 MiB chunks in,
 * runs or keys out.  The bus is the floor, 53 GB/s each way on this host.
 */
static void
row_job(uint64_t n, uint64_t distinct, bool anywhere, uint32_t wanted)
{
	const uint64_t chunk = 1 << 20;
	Recipe		recipe = {UNIFORM, n, distinct, 0, anywhere, 4};
	HpsortCudaSpec spec = {};
	HpsortCudaResult result;
	std::vector<double> adding;
	std::vector<double> reading;
	int32_t    *host;
	char		row[128];
	char		target[64];

	snprintf(row, sizeof(row), "job n %.0e %s %llu %s", (double) n,
			 anywhere ? "range 2^32 distinct" : "range",
			 (unsigned long long) distinct,
			 wanted == HPSORT_CUDA_RUNS ? "runs" : "keys");
	if (skip(row))
		return;
	CUDA(cudaMallocHost((void **) &host, n * 4));
	spec.n_hint = n;
	spec.bounds_known = !anywhere;
	spec.hi = (int32_t) (distinct - 1);
	spec.wanted = wanted;
	for (int i = 0; i < 5; i++)
	{
		HpsortCudaJob *job;

		generate(recipe, keys, stream);
		CUDA(cudaMemcpyAsync(host, keys, n * 4, cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));

		auto		start = std::chrono::steady_clock::now();

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		for (uint64_t at = 0; at < n; at += chunk)
			ENGINE(hpsort_cuda_job_add(job, host + at, std::min(chunk, n - at),
									   nullptr, &err));
		ENGINE(hpsort_cuda_job_finish(job, &result, &err));

		auto		finished = std::chrono::steady_clock::now();

		if (wanted == HPSORT_CUDA_RUNS)
			ENGINE(hpsort_cuda_job_read_runs(job, 0, result.distinct, host,
											 nullptr, &err));
		else
			ENGINE(hpsort_cuda_job_read_keys(job, 0, n, 0, host, &err));

		auto		end = std::chrono::steady_clock::now();

		hpsort_cuda_job_close(job);
		adding.push_back(std::chrono::duration<double, std::milli>(finished -
																   start).count());
		reading.push_back(std::chrono::duration<double, std::milli>(end -
																	finished).count());
		if (wanted == HPSORT_CUDA_KEYS && !std::is_sorted(host, host + n))
		{
			fprintf(stderr, "%s: wrong result\n", row);
			exit(1);
		}
	}
	CUDA(cudaFreeHost(host));
	std::sort(adding.begin(), adding.end());
	std::sort(reading.begin(), reading.end());
	snprintf(target, sizeof(target), "in %.1f GB/s, read %.2f ms",
			 n * 4 / adding[2] / 1e6, reading[2]);
	emit(row, target, adding[2], 0, 0, 0, regime_names[result.regime],
		 "-");
}

/* What the issue of this engine asked for, and what the documentation quotes. */
static void
rows_with_targets(void)
{
	row_keys(100000000, 1, false, 2.0);
	row_keys(100000000, 100, false, 2.5);
	row_keys(100000000, 1000, false, 4.3);
	row_keys(100000000, 10000, false, 4.5);
	row_keys(100000000, 50000, false, 4.2);
	row_keys(100000000, 200000, false, 2.2);
	row_keys(100000000, 2000000, false, 2.2);
	row_keys(100000000, 16000000, false, 2.2);
	row_keys(100000000, 30000000, false, 0);
	row_keys(100000000, 60000000, false, 0);
	row_keys(100000000, 100000000, false, 0);
	row_keys(100000000, 100, true, 4.0);
	row_keys(100000000, 8192, true, 4.0);
	row_keys(100000000, (uint64_t) 1 << 32, true, 1.0);
	row_keys(10000000, (uint64_t) 1 << 32, true, 0);
	row_keys(1000000, (uint64_t) 1 << 32, true, 0);
	row_keys(100000, (uint64_t) 1 << 32, true, 0);
	row_keys(100000000, (uint64_t) 1 << 30, false, 0);
	row_keys(10000000, 1000, false, 4.5);
	row_keys(10000000, 50000, false, 4.0);
	row_keys(10000000, 1000000, false, 0);
	row_keys(10000000, 10000000, false, 0);
	row_keys(10000000, 40000000, false, 0);
	row_keys(10000000, 8192, true, 0);
	row_keys(1000000, 100, false, 3.0);
	row_keys(1000000, 10000, false, 3.0);
	row_keys(1000000, 1000000, false, 0);
	row_keys(1000000, 4000000, false, 0);
	row_keys(600000, 100000, false, 0);
	row_keys(100000, 1000, false, 0);
	for (uint64_t n : {30000, 100000, 300000})
		for (uint64_t range : {70000, 1000000, 100000000})
		{
			row_keys(n, range, false, 0);
			row_permutation(n, range, false, 0);
		}
	row_permutation(100000000, 256, false, 3.5);
	row_permutation(100000000, 256, true, 3.5);
	row_permutation(100000000, 8192, true, 2.0);
	row_permutation(100000000, 50000, false, 2.0);
	row_permutation(100000000, 65536, true, 2.0);
	row_permutation(10000000, 256, true, 0);
	row_permutation(10000000, (uint64_t) 1 << 32, true, 0);
	row_permutation(100000000, (uint64_t) 1 << 32, true, 0);
	row_permutation(1000000, (uint64_t) 1 << 32, true, 0);
	row_permutation(100000, (uint64_t) 1 << 32, true, 0);
	row_permutation(100000000, 1000000, false, 0);
	row_spread(100000000, 1000, 10);
	row_spread(100000000, 50000, 10);
	row_spread(100000000, 200000, 25);
	row_spread(100000000, 16000000, 25);

	row_job(100000000, 1000, false, HPSORT_CUDA_RUNS);
	row_job(100000000, 1000, false, HPSORT_CUDA_KEYS);
	row_job(100000000, 10000000, false, HPSORT_CUDA_KEYS);
	row_job(100000000, (uint64_t) 1 << 32, true, HPSORT_CUDA_KEYS);
}

/* What is measured: the rows with targets and the grid, or what families are worth. */
struct Mode
{
	bool		rows = true;
	bool		grid = true;
	bool		families = false;
	bool		packed = false;
};

/* 1e8 keys: room for what any row needs. */
static const uint64_t most = 100000000;

static void
open_device(int device, HpsortCudaDeviceInfo *info)
{
	CUDA(cudaSetDevice(device));
	ENGINE(hpsort_cuda_open(device, 0, &context, &err));
	ENGINE(hpsort_cuda_device_info(device, info, &err));
	CUDA(cudaMallocHost((void **) &verdict, sizeof(*verdict)));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc(&flush, flush_bytes));
	CUDA(cudaMemset(flush, 1, flush_bytes));
	CUDA(cudaMalloc(&keys, most * 4 + 64));
	CUDA(cudaMalloc(&out, most * 4 + 64));
	CUDA(cudaMalloc(&rows_in, most * 4));
	CUDA(cudaMalloc(&rows_out, most * 4));
	need_workspace((size_t) 64 << 20);
	CUDA(cudaMemset(rows_in, 0, most * 4));
}

static void
print_head(const HpsortCudaDeviceInfo &info, const Mode &mode)
{
	char		head[1024];
	std::string command = "gpubench <csv>";

	for (const std::string &text : only)
		command += " --only \"" + text + "\"";
	command += mode.families ? " --families" : mode.packed ? " --packed" : mode.rows && mode.grid ? "" :
		mode.rows ? " --rows" : " --grid";

	snprintf(head, sizeof(head),
			 "# gpu: %s, %u SMs, driver %d.%d, cuda runtime %d.%d, cub %d.%d.%d\n"
			 "# command: %s\n"
			 "# ms, median of %d (grid from 2e7 keys on: 5), cold L2%s\n",
			 info.name, context->limits.sms, driver_version() / 1000,
			 driver_version() % 1000 / 10, CUDART_VERSION / 1000,
			 CUDART_VERSION % 1000 / 10, CUB_VERSION / 100000,
			 CUB_VERSION / 100 % 1000, CUB_VERSION % 100, command.c_str(), repetitions,
			 mode.families ? ", the better of two medians" : mode.packed ?
			 "; jobs: median of 9, by the clock on the wall; keep and free: us for one" :
			 "; ratio is the better CUB / hpsort; of_copy is hpsort / D2D copy");
	fputs(head, stdout);
	if (csv)
	{
		fputs(head, csv);
		fputs(mode.families ?
			  "case,family,with_ms,without_ms,times_as_long,regime_without\n" : mode.packed ?
			  "case,count_ms,count_gb_s,count_int32_ms,unpack_ms,job_add_ms,job_ms,"
			  "job_int32_ms,cub_histogram_ms,cub_sort_ms,keep_us,free_us\n" :
			  "case,hpsort_ms,cub32_ms,cub_restricted_ms,copy_ms,ratio,of_copy,"
			  "regime,target,verdict\n", csv);
	}
	if (mode.packed)
		printf("%-48s %8s %7s %8s %8s %8s %8s %8s %8s %8s %6s %6s\n", "case", "count", "GB/s",
			   "of int32", "unpack", "job: add", "job", "of int32", "cub hist", "cub sort",
			   "keep", "free");
	else if (!mode.families)
		printf("%-44s %9s %9s %9s %9s %7s %7s  %-16s %-18s\n", "case", "hpsort",
			   "cub 32", "cub bits", "copy", "ratio", "of copy", "regime",
			   "target");
}

/* Whether no row of the grid is too slow. */
static bool
beside_cub(const Mode &mode, uint32_t sms)
{
	double		read_ms = measure([&] {
		read_kernel<<<sms * 8, 512, 0, stream>>>
			((const int4 *) keys, most / 4, (int *) workspace);
	});
	double		empty_ms = measure([&] {
		read_kernel<<<1, 32, 0, stream>>>((const int4 *) keys, 0,
										  (int *) workspace);
	});

	emit("read n 1e+08", "", read_ms, 0, 0, 0, "-", "-");
	emit("empty kernel", "", empty_ms, 0, 0, 0, "-", "-");
	if (mode.rows)
		rows_with_targets();
	return !mode.grid || grid_never_slower();
}

int
main(int argc, char **argv)
{
	HpsortCudaDeviceInfo info;
	int			device = 0;
	Mode		mode;
	bool		good = true;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			only.push_back(argv[++i]);
		else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
			device = atoi(argv[++i]);
		else if (strcmp(argv[i], "--rows") == 0)
			mode.grid = false;
		else if (strcmp(argv[i], "--grid") == 0)
			mode.rows = false;
		else if (strcmp(argv[i], "--families") == 0)
			mode.families = true;
		else if (strcmp(argv[i], "--packed") == 0)
			mode.packed = true;
		else if ((csv = fopen(argv[i], "w")) == nullptr)
		{
			perror(argv[i]);
			return 1;
		}
	}
	open_device(device, &info);
	print_head(info, mode);
	if (mode.families)
		grid_without_families();
	else if (mode.packed)
	{
		packed_rows();
		packed_row_keys();
	}
	else
		good = beside_cub(mode, context->limits.sms);

	if (csv)
		fclose(csv);
	CUDA(cudaFreeHost(verdict));
	hpsort_cuda_close(context);
	return good ? 0 : 1;
}

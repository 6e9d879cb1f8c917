/*-------------------------------------------------------------------------
 *
 * papersbench.cu
 *	  The papers' tables and figures measured again, beside today's CUB.
 *
 * usage: papersbench csv-file [hp] [zhang] [free] [chen] [gpus]
 *
 * gpus: Chen's Fig. 5, one GPU, the same twice and, with a second device in the
 * machine, two.
 *
 * GPU times are between two events on one stream, device to device, with 512 MB
 * of other memory read before each repetition.  Workspace comes from a pool and
 * costs no cudaMalloc, which the H-P papers' times include.  Medians of 9, 5
 * or 3 after one for warming up, or one of 1 from 0.2 s on.  Every result is
 * checked.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>

#include <cub/device/device_radix_sort.cuh>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include "generate.cuh"
#include "papers.cuh"
#include "common/keys.cuh"
#include "sort/kernels/kernels.h"
#include "sort_now.cuh"

HpsortCuda *context;
HpsortCudaError err;
cudaStream_t stream;
uint32_t   *keys;
uint32_t   *out;
uint32_t   *rows;
uint32_t   *rows_out;
uint32_t   *host_in;
uint32_t   *host_out;

static void *flush;
static const size_t flush_bytes = (size_t) 512 << 20;
static void *workspace;
static size_t workspace_bytes;
static HpsortCudaVerdict *verdict;
static HpsortPublishedVerdict *published_verdict;
static FILE *csv;

/* Wrong results: the next point that would be written is not, and the program fails. */
static bool spoiled;
static int	n_wrong;

static __global__ void
make_kernel(Data data, uint32_t *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < data.n;
		 i += step)
		to[i] = datum(data, i);
}

void
make(const Data &data)
{
	if (data.n > most_keys)
	{
		fprintf(stderr, "too many keys\n");
		exit(1);
	}
	make_kernel<<<4096, 256, 0, stream>>>(data, keys);
	CUDA(cudaStreamSynchronize(stream));
}

static __global__ void
read_kernel(const int4 *from, uint64_t n, int *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;
	int			sum = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
		 i += step)
	{
		const int4	r = __ldcs(from + i);

		sum += r.x ^ r.y ^ r.z ^ r.w;
	}
	if (sum == 0x12345678)
		*to = sum;
}

/* Repeats once, which warms up, and then as often as it is worth. */
static double
median(const std::function<double()> &once)
{
	double		first = once();
	std::vector<double> times;
	const int	repetitions = first < 2 ? 9 : first < 20 ? 5 : first < 200 ? 3 : 0;

	if (repetitions == 0)
		return first;
	for (int i = 0; i < repetitions; i++)
		times.push_back(once());
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

double
time_gpu(const std::function<void()> &work, const std::function<void()> &before)
{
	cudaEvent_t start;
	cudaEvent_t stop;

	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));

	double		ms = median([&] {
		float		elapsed;

		if (before)
			before();
		read_kernel<<<1024, 512, 0, stream>>>((const int4 *) flush, flush_bytes / 16,
											  (int *) flush);
		CUDA(cudaEventRecord(start, stream));
		work();
		CUDA(cudaEventRecord(stop, stream));
		CUDA(cudaEventSynchronize(stop));
		CUDA(cudaEventElapsedTime(&elapsed, start, stop));
		return (double) elapsed;
	});

	CUDA(cudaEventDestroy(start));
	CUDA(cudaEventDestroy(stop));
	return ms;
}

double
time_host(const std::function<void()> &work, const std::function<void()> &before)
{
	return median([&] {
		if (before)
			before();

		auto		start = std::chrono::steady_clock::now();

		work();
		return std::chrono::duration<double, std::milli>(
			std::chrono::steady_clock::now() - start).count();
	});
}

/* Finite floats as integers of the same order. */
static __device__ int32_t
comparable(uint32_t bits, bool floats)
{
	if (!floats || !(bits & 0x80000000u))
		return (int32_t) bits;
	return -(int32_t) (bits & 0x7fffffffu);
}

static __global__ void
check_kernel(const uint32_t *what, uint64_t n, bool floats, Audit *audit)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;
	unsigned long long disorder = 0;
	unsigned long long sum = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
		 i += step)
	{
		sum += mix64(what[i]);
		if (i > 0)
			disorder += comparable(what[i - 1], floats) > comparable(what[i], floats);
	}
	atomicAdd(&audit->disorder, disorder);
	atomicAdd(&audit->sum, sum);
}

static Audit
audit(const uint32_t *what, uint64_t n, bool floats)
{
	Audit	   *device;
	Audit		result;

	CUDA(cudaMalloc(&device, sizeof(Audit)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(Audit), stream));
	check_kernel<<<512, 256, 0, stream>>>(what, n, floats, device);
	CUDA(cudaMemcpyAsync(&result, device, sizeof(Audit), cudaMemcpyDeviceToHost,
						 stream));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaFree(device));
	return result;
}

void
spoil(void)
{
	spoiled = true;
	n_wrong++;
}

/* The output is spoiled afterwards, so that the next one has to write it. */
void
check_result(uint64_t n, bool floats, const char *what)
{
	const Audit before = audit(keys, n, floats);
	const Audit after = audit(out, n, floats);

	if (after.disorder != 0 || after.sum != before.sum)
	{
		fprintf(stderr, "%s, n %llu: wrong result\n", what, (unsigned long long) n);
		spoil();
	}
	CUDA(cudaMemsetAsync(out, 0xa5, n * 4, stream));
}

void
check_host(const uint32_t *sorted, uint64_t n, bool floats, const char *what)
{
	CUDA(cudaMemcpyAsync(out, sorted, n * 4, cudaMemcpyHostToDevice, stream));
	check_result(n, floats, what);
}

void
emit(const char *paper, const std::string &figure, const std::string &data,
	 uint64_t n, const std::string &series, double ms)
{
	if (spoiled)
	{
		printf("the next is wrong, and not written\n");
		ms = NAN;
	}
	printf("%-8s %-10s %-28s %10llu  %-28s %10.4f\n", paper, figure.c_str(),
		   data.c_str(), (unsigned long long) n, series.c_str(), ms);
	if (spoiled)
	{
		spoiled = false;
		return;
	}
	fprintf(csv, "%s,%s,%s,%llu,%s,%.5f\n", paper, figure.c_str(), data.c_str(),
			(unsigned long long) n, series.c_str(), ms);
}

int
bits_of(const Bounds &bounds)
{
	const uint32_t differ = (uint32_t) bounds.lo ^
		(uint32_t) (bounds.lo + (int64_t) bounds.range - 1);
	int			bits = 1;

	while (bits < 32 && differ >> bits != 0)
		bits++;
	return bits;
}

HpsortPublishedSpec
published_spec(HpsortPublished algorithm, const Bounds &bounds)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = algorithm;
	spec.bounds_known = bounds.range > 0;
	spec.lo = bounds.lo;
	spec.hi = (int32_t) (bounds.lo + (int64_t) bounds.range - 1);
	return spec;
}

/* Payloads are row numbers. */
static void
sort_once(const HpsortPublishedSpec &spec, uint64_t n, HpsortPublishedVerdict *verdict_,
		  HpsortPublishedReport *report)
{
	ENGINE(published_now(context, spec, keys, rows, n, out, rows_out, stream, verdict_, report,
						 &err));
}

static void
check_verdict(void)
{
	if (published_verdict->keys.n_outside || published_verdict->n_duplicate)
	{
		fprintf(stderr, "a key outside, or twice\n");
		spoil();
	}
}

double
published(const HpsortPublishedSpec &spec, uint64_t n, HpsortPublishedReport *report,
		  uint64_t *peak)
{
	hpsort_cuda_memory(context, nullptr, nullptr, 1);

	double		ms = time_gpu([&] { sort_once(spec, n, published_verdict, nullptr); });

	hpsort_cuda_memory(context, nullptr, peak, 1);
	check_verdict();
	check_result(n, false, algorithms[spec.algorithm].name);
	if (report)
		sort_once(spec, n, nullptr, report);
	return ms;
}

double
published_from_host(const HpsortPublishedSpec &spec, uint64_t n)
{
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));

	double		ms = time_host([&] {
		CUDA(cudaMemcpyAsync(keys, host_in, n * 4, cudaMemcpyHostToDevice, stream));
		sort_once(spec, n, published_verdict, nullptr);
		CUDA(cudaMemcpyAsync(host_out, out, n * 4, cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));
	});

	check_verdict();
	check_host(host_out, n, false, "with transfers");
	return ms;
}

static HpsortCudaSpec
engine_spec(const Bounds &bounds, uint32_t wanted)
{
	HpsortCudaSpec spec = {};

	spec.bounds_known = bounds.range > 0;
	spec.lo = bounds.lo;
	spec.hi = (int32_t) (bounds.lo + (int64_t) bounds.range - 1);
	spec.wanted = wanted;
	return spec;
}

/* What a job of these keys does at its end.  Bounds that are not known are looked for first,
 * which a job does while keys arrive. */
static void
engine_once(HpsortCudaSpec spec, uint64_t n)
{
	const bool	permute = spec.wanted == HPSORT_CUDA_PERMUTATION;
	const int32_t *from = (const int32_t *) keys;
	RegimeChoice choice;

	if (!spec.bounds_known)
	{
		const hpsort::Bounds found = hpsort::find_bounds(context, stream, from, n);

		spec.bounds_known = 1;
		spec.lo = found.lo;
		spec.hi = found.hi;
	}
	ENGINE(sort_now(context, spec, from, n, permute ? nullptr : (int32_t *) out,
					permute ? rows_out : nullptr, stream, verdict, &choice, &err));
}

double
engine(uint64_t n, const Bounds &bounds)
{
	const HpsortCudaSpec spec = engine_spec(bounds, HPSORT_CUDA_KEYS);
	double		ms = time_gpu([&] { engine_once(spec, n); });

	check_result(n, false, "hpsort");
	return ms;
}

/* Every row once, keys in order, equal ones by their row. */
static __global__ void
check_rows_kernel(const uint32_t *what, const uint32_t *order, uint64_t n, Audit *audit)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;
	unsigned long long disorder = 0;
	unsigned long long sum = 0;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
		 i += step)
	{
		sum += mix64(order[i]) - mix64(i);
		if (order[i] >= n)
			disorder++;
		else if (i > 0 && order[i - 1] < n)
		{
			const int32_t a = (int32_t) what[order[i - 1]];
			const int32_t b = (int32_t) what[order[i]];

			disorder += a > b || (a == b && order[i - 1] > order[i]);
		}
	}
	atomicAdd(&audit->disorder, disorder);
	atomicAdd(&audit->sum, sum);
}

static void
check_rows(uint64_t n, const char *what)
{
	Audit	   *device;
	Audit		result;

	CUDA(cudaMalloc(&device, sizeof(Audit)));
	CUDA(cudaMemsetAsync(device, 0, sizeof(Audit), stream));
	check_rows_kernel<<<512, 256, 0, stream>>>(keys, rows_out, n, device);
	CUDA(cudaMemcpyAsync(&result, device, sizeof(Audit), cudaMemcpyDeviceToHost,
						 stream));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaFree(device));
	if (result.disorder != 0 || result.sum != 0)
	{
		fprintf(stderr, "%s, n %llu: wrong rows\n", what, (unsigned long long) n);
		spoil();
	}
	CUDA(cudaMemsetAsync(rows_out, 0xa5, n * 4, stream));
}

double
engine_permutation(uint64_t n, const Bounds &bounds)
{
	const HpsortCudaSpec spec = engine_spec(bounds, HPSORT_CUDA_PERMUTATION);
	double		ms = time_gpu([&] { engine_once(spec, n); });

	check_rows(n, "hpsort's permutation");
	return ms;
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

template <typename Key>
static void
cub_once(uint64_t n, int bits)
{
	size_t		bytes = 0;

	CUDA(cub::DeviceRadixSort::SortKeys(nullptr, bytes, (const Key *) keys,
										(Key *) out, (uint32_t) n, 0, bits, stream));
	need_workspace(bytes);
	CUDA(cub::DeviceRadixSort::SortKeys(workspace, bytes, (const Key *) keys,
										(Key *) out, (uint32_t) n, 0, bits, stream));
}

void
cub_sort_once(uint64_t n, bool floats)
{
	if (floats)
		cub_once<float>(n, 32);
	else
		cub_once<int32_t>(n, 32);
}

double
cub_keys(uint64_t n, int bits)
{
	double		ms = time_gpu([&] { cub_once<int32_t>(n, bits); });

	check_result(n, false, "cub");
	return ms;
}

double
cub_floats(uint64_t n)
{
	double		ms = time_gpu([&] { cub_once<float>(n, 32); });

	check_result(n, true, "cub");
	return ms;
}

template <typename Key>
static double
pairs(uint64_t n, int bits, bool floats)
{
	size_t		bytes = 0;
	auto		once = [&](void *memory) {
		CUDA(cub::DeviceRadixSort::SortPairs(memory, bytes, (const Key *) keys, (Key *) out,
											 rows, rows_out, (uint32_t) n, 0, bits,
											 stream));
	};

	once(nullptr);
	need_workspace(bytes);

	double		ms = time_gpu([&] { once(workspace); });

	check_result(n, floats, "cub pairs");
	if (!floats)
		check_rows(n, "cub pairs");
	return ms;
}

double
cub_pairs(uint64_t n, int bits, bool floats)
{
	return floats ? pairs<float>(n, bits, true) : pairs<int32_t>(n, bits, false);
}

double
cub_from_host(uint64_t n, bool floats)
{
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));

	double		ms = time_host([&] {
		CUDA(cudaMemcpyAsync(keys, host_in, n * 4, cudaMemcpyHostToDevice, stream));
		cub_sort_once(n, floats);
		CUDA(cudaMemcpyAsync(host_out, out, n * 4, cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));
	});

	check_host(host_out, n, floats, "cub with transfers");
	return ms;
}

/* It sorts in place; the copy there is not timed, its cudaMalloc is. */
double
thrust_keys(uint64_t n)
{
	double		ms = time_gpu([&] {
		thrust::sort(thrust::cuda::par.on(stream), (int32_t *) out,
					 (int32_t *) out + n);
	}, [&] {
		CUDA(cudaMemcpyAsync(out, keys, n * 4, cudaMemcpyDeviceToDevice, stream));
	});

	check_result(n, false, "thrust");
	return ms;
}

void
emit_phases(const char *paper, const std::string &figure, const std::string &data,
			uint64_t n, const HpsortPublishedReport &report)
{
	for (uint32_t p = 0; p < report.phases; p++)
		emit(paper, figure, data, n, std::string("phase ") + report.phase[p],
			 report.phase_ms[p]);
}

double
on_host(uint64_t n, bool floats, const char *what,
		const std::function<void(uint32_t *, uint64_t)> &sort)
{
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));

	double		ms = time_host([&] { sort(host_out, n); },
							   [&] { memcpy(host_out, host_in, n * 4); });

	check_host(host_out, n, floats, what);
	return ms;
}

double
std_sort(uint64_t n, bool floats)
{
	return on_host(n, floats, "std::sort", [&](uint32_t *k, uint64_t m) {
		if (floats)
			std::sort((float *) k, (float *) k + m);
		else
			std::sort((int32_t *) k, (int32_t *) k + m);
	});
}

double
vqsort_one(uint64_t n)
{
	return on_host(n, false, "vqsort", [](uint32_t *k, uint64_t m) {
		vqsort_keys((int32_t *) k, m, 0);
	});
}

static __global__ void
number_kernel(uint32_t *to, uint64_t n)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		to[i] = (uint32_t) i;
}

/* Payloads are row numbers. */
void
number_rows(void)
{
	number_kernel<<<4096, 256, 0, stream>>>(rows, most_host);
	CUDA(cudaStreamSynchronize(stream));
}

static const struct
{
	const char *name;
	void		(*measure) (void);
}			groups[] = {
	{"hp", hp_figures},
	{"zhang", zhang_wu_figures},
	{"free", comparison_free_figures},
	{"chen", chen_figures},
	{"gpus", gpus_figures},
};

static int
usage(FILE *to, const char *program)
{
	fprintf(to, "usage: %s csv-file", program);
	for (const auto &group : groups)
		fprintf(to, " [%s]", group.name);
	fprintf(to, "\n");
	return to == stdout ? 0 : 2;
}

/* Whether a group was asked for, by name or by no name at all. */
static bool
wanted(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 2;
}

/* Whether all names after the file's are those of groups; the first that is not, is told. */
static bool
are_groups(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (std::none_of(std::begin(groups), std::end(groups),
						 [&](const auto &group) { return strcmp(argv[i], group.name) == 0; }))
		{
			fprintf(stderr, "%s: there are no figures \"%s\"\n", argv[0], argv[i]);
			return false;
		}
	return true;
}

/* Group after group; what each takes is told, and stands in the file behind it. */
static void
measure_groups(int argc, char **argv)
{
	for (const auto &group : groups)
	{
		const auto	start = std::chrono::steady_clock::now();

		if (!wanted(argc, argv, group.name))
			continue;
		group.measure();

		const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

		printf("%s: %.0f s\n", group.name, took.count());
		fprintf(csv, "# %s: %.0f s\n", group.name, took.count());
	}
}

int
main(int argc, char **argv)
{
	HpsortCudaDeviceInfo info;

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return usage(stdout, argv[0]);
	if (argc < 2 || argv[1][0] == '-' || !are_groups(argc, argv))
		return usage(stderr, argv[0]);
	if ((csv = fopen(argv[1], "w")) == nullptr)
	{
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	ENGINE(hpsort_cuda_open(0, 0, &context, &err));
	ENGINE(hpsort_cuda_device_info(0, &info, &err));
	printf("%s, driver %d, runtime %d, cub %d\n", info.name, driver_version(),
		   CUDART_VERSION, CUB_VERSION);
	/* a run that is cut short leaves what it has measured */
	setvbuf(csv, nullptr, _IOLBF, 1 << 12);
	fprintf(csv, "# %s, driver %d, runtime %d, cub %d\n", info.name, driver_version(),
			CUDART_VERSION, CUB_VERSION);
	fprintf(csv, "# papersbench");
	for (int i = 2; i < argc; i++)
		fprintf(csv, " %s", argv[i]);
	fprintf(csv, "\npaper,figure,data,n,series,ms\n");
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaMalloc(&keys, most_keys * 4));
	CUDA(cudaMalloc(&out, most_keys * 4));
	CUDA(cudaMalloc(&rows, most_host * 4));
	CUDA(cudaMalloc(&rows_out, most_host * 4));
	CUDA(cudaMalloc(&flush, flush_bytes));
	CUDA(cudaMemset(flush, 1, flush_bytes));
	number_rows();
	CUDA(cudaMallocHost(&host_in, most_host * 4));
	CUDA(cudaMallocHost(&host_out, most_host * 4));
	CUDA(cudaMallocHost((void **) &verdict, sizeof(*verdict)));
	CUDA(cudaMallocHost((void **) &published_verdict, sizeof(*published_verdict)));
	measure_groups(argc, argv);
	fclose(csv);
	CUDA(cudaFreeHost(verdict));
	CUDA(cudaFreeHost(published_verdict));
	hpsort_cuda_close(context);
	return n_wrong > 0;
}

/*-------------------------------------------------------------------------
 *
 * papersbench.cu
 *	  The papers' tables and figures measured again, beside today's CUB.
 *
 * usage: papersbench csv-file [hp] [zhang] [free] [chen] [gpus]
 *
 * gpus: Chen's Fig. 5, one GPU and two; with a second device in the machine
 * the two are different ones.
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
#include <chrono>
#include <cstring>

#include <cub/device/device_radix_sort.cuh>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include "generate.cuh"
#include "papers.cuh"

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

/* A bijection on the low bits of x. */
static __device__ uint32_t
scramble(uint32_t x, uint32_t mask, uint32_t half)
{
	x = (x * 0x7feb352du) & mask;
	x ^= x >> half;
	x = (x * 0x846ca68bu) & mask;
	x ^= x >> half;
	x = (x * 0x9e3779b1u) & mask;
	x ^= x >> half;
	return x;
}

/* The i-th of a permutation of 0 .. range - 1: scrambled until it is in range. */
static __device__ uint32_t
permuted(uint64_t i, uint64_t range)
{
	const int	bits = range > 1 ? 64 - __clzll(range - 1) : 1;
	const uint32_t mask = (uint32_t) (((uint64_t) 1 << bits) - 1);
	const uint32_t half = bits > 1 ? bits / 2 + bits % 2 : 1;
	uint32_t	x = (uint32_t) i;

	do
		x = scramble(x, mask, half);
	while (x >= range);
	return x;
}

static __device__ double
gaussian(uint64_t h)
{
	const double u = ((h >> 32) + 1) * 0x1p-32;
	const double v = (h & 0xffffffffu) * 0x1p-32;

	return sqrt(-2 * log(u)) * cospi(2 * v);
}

static __device__ uint32_t
datum(const Data &d, uint64_t i)
{
	const uint64_t h = mix64(0x1234567 + i * 2);
	const int64_t top = (int64_t) d.range - 1;
	int64_t		v;

	switch (d.shape)
	{
		case PERMUTATION:
			return permuted(i, d.range);
		case UNIFORM_RANGE:
			return (uint32_t) (h % d.range);
		case INTERVAL:
			return (uint32_t) (d.range - d.len + h % d.len);
		case ARBITRARY:
			return permuted(h % d.len, d.range);
		case REVERSED_ORDER:
			return (uint32_t) ((d.n - 1 - i) * d.range / d.n);
		case NEARLY_SORTED:
			v = ((int64_t) i + (int64_t) (h % 33) - 16) * (int64_t) d.range /
				(int64_t) d.n;
			break;
		case GAUSSIAN:
			v = (int64_t) (d.range / 2.0 + gaussian(h) * d.range / 8.0);
			break;
		case FLAT:
			return (uint32_t) (d.range / 2);
		case FULL_RANGE:
			return (uint32_t) h;
		case FLOAT_UNIFORM:
			return __float_as_uint((float) ((h >> 40) * 0x1p-24));
		case FLOAT_GAUSSIAN:
			return __float_as_uint((float) gaussian(h));
		case FLOAT_NEARLY:
			return __float_as_uint((float) ((double) i + (h % 33)) / 7);
		default:
			return 0;
	}
	return (uint32_t) (v < 0 ? 0 : v > top ? top : v);
}

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

/* The output is spoiled afterwards, so that the next one has to write it. */
void
check_result(uint64_t n, bool floats, const char *what)
{
	const Audit before = audit(keys, n, floats);
	const Audit after = audit(out, n, floats);

	if (after.disorder != 0 || after.sum != before.sum)
	{
		fprintf(stderr, "%s, n %llu: wrong result\n", what, (unsigned long long) n);
		exit(1);
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
	printf("%-8s %-10s %-28s %10llu  %-28s %10.4f\n", paper, figure.c_str(),
		   data.c_str(), (unsigned long long) n, series.c_str(), ms);
	fprintf(csv, "%s,%s,%s,%llu,%s,%.5f\n", paper, figure.c_str(), data.c_str(),
			(unsigned long long) n, series.c_str(), ms);
}

int
bits_of(uint64_t range)
{
	int			bits = 0;

	while (bits < 32 && ((uint64_t) 1 << bits) < range)
		bits++;
	return bits > 0 ? bits : 1;
}

double
published(HpsortPublished algorithm, uint64_t n, uint64_t range,
		  HpsortPublishedReport *report)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = algorithm;
	spec.bounds_known = range > 0;
	spec.hi = (int32_t) (range - 1);

	double		ms = time_gpu([&] {
		ENGINE(hpsort_published_sort(context, &spec, keys, nullptr, n, out, nullptr,
									 stream, published_verdict, nullptr, &err));
	});

	if (published_verdict->keys.n_outside || published_verdict->n_duplicate)
	{
		fprintf(stderr, "a key outside, or twice\n");
		exit(1);
	}
	check_result(n, false, hpsort_published_algorithms(nullptr)[algorithm].name);
	if (report)
		ENGINE(hpsort_published_sort(context, &spec, keys, nullptr, n, out, nullptr,
									 stream, nullptr, report, &err));
	return ms;
}

double
engine(uint64_t n, uint64_t range)
{
	HpsortCudaSpec spec = {};
	HpsortCudaChoice choice;

	spec.bounds_known = range > 0;
	spec.hi = (int32_t) (range - 1);
	spec.wanted = HPSORT_CUDA_KEYS;

	double		ms = time_gpu([&] {
		ENGINE(hpsort_cuda_sort(context, &spec, (const int32_t *) keys, n,
								(int32_t *) out, stream, verdict, &choice, &err));
	});

	check_result(n, false, "hpsort");
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

double
cub_pairs(uint64_t n)
{
	size_t		bytes = 0;

	CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, (const int32_t *) keys,
										 (int32_t *) out, rows, rows_out,
										 (uint32_t) n, 0, 32, stream));
	need_workspace(bytes);

	double		ms = time_gpu([&] {
		CUDA(cub::DeviceRadixSort::SortPairs(workspace, bytes,
											 (const int32_t *) keys, (int32_t *) out,
											 rows, rows_out, (uint32_t) n, 0, 32,
											 stream));
	});

	check_result(n, false, "cub pairs");
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

static bool
wanted(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 2;
}

int
main(int argc, char **argv)
{
	HpsortCudaDeviceInfo info;

	if (argc < 2 || (csv = fopen(argv[1], "w")) == nullptr)
	{
		fprintf(stderr, "usage: %s csv-file [hp] [zhang] [free] [chen] [gpus]\n", argv[0]);
		return 2;
	}
	ENGINE(hpsort_cuda_open(0, 0, &context, &err));
	ENGINE(hpsort_cuda_device_info(0, &info, &err));
	printf("%s, driver %d, runtime %d, cub %d\n", info.name, info.driver_version,
		   info.runtime_version, info.cub_version);
	fprintf(csv, "paper,figure,data,n,series,ms\n");
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaMalloc(&keys, most_keys * 4));
	CUDA(cudaMalloc(&out, most_keys * 4));
	CUDA(cudaMalloc(&rows, most_host * 4));
	CUDA(cudaMalloc(&rows_out, most_host * 4));
	CUDA(cudaMalloc(&flush, flush_bytes));
	CUDA(cudaMemset(flush, 1, flush_bytes));
	CUDA(cudaMemset(rows, 0, most_host * 4));
	CUDA(cudaMallocHost(&host_in, most_host * 4));
	CUDA(cudaMallocHost(&host_out, most_host * 4));
	ENGINE(hpsort_cuda_pinned_alloc(context, sizeof(*verdict), (void **) &verdict,
									&err));
	ENGINE(hpsort_cuda_pinned_alloc(context, sizeof(*published_verdict),
									(void **) &published_verdict, &err));
	if (wanted(argc, argv, "hp"))
		hp_figures();
	if (wanted(argc, argv, "zhang"))
		zhang_wu_figures();
	if (wanted(argc, argv, "free"))
		comparison_free_figures();
	if (wanted(argc, argv, "chen"))
		chen_figures();
	if (wanted(argc, argv, "gpus"))
		gpus_figures();
	fclose(csv);
	hpsort_cuda_pinned_free(context, verdict);
	hpsort_cuda_pinned_free(context, published_verdict);
	hpsort_cuda_close(context);
	return 0;
}

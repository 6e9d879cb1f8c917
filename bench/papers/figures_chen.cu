/*-------------------------------------------------------------------------
 *
 * figures_chen.cu
 *	  The figures of Chen, Qin, Xie, Zhao, Heng 2009.
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstring>

#include "papers.cuh"

static HpsortPublishedSpec
bitonic_spec(bool floats, bool payload)
{
	HpsortPublishedSpec spec = {};

	spec.algorithm = HPSORT_PUBLISHED_BUCKET_BITONIC;
	spec.float_images = floats;
	spec.payload = payload;
	return spec;
}

/* Makes the floats in keys their images, in the same order (spec.h). */
static __global__ void
images_kernel(uint32_t *what, uint64_t n)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		what[i] = (what[i] >> 31 ? what[i] ^ 0x7fffffffu : what[i]) - 0x7fffffu;
}

static void
make_images(uint64_t n)
{
	images_kernel<<<2048, 256, 0, stream>>>(keys, n);
	CUDA(cudaStreamSynchronize(stream));
}

/* Contexts of the devices of these numbers: the bench's own for the first, which is 0. */
static std::vector<HpsortCuda *>
open_devices(const std::vector<int> &devices)
{
	std::vector<HpsortCuda *> contexts(devices.size(), context);

	for (size_t d = 1; d < devices.size(); d++)
		ENGINE(hpsort_cuda_open(devices[d], 0, &contexts[d], &err));
	CUDA(cudaSetDevice(0));
	return contexts;
}

static void
close_devices(const std::vector<HpsortCuda *> &contexts)
{
	for (size_t d = 1; d < contexts.size(); d++)
		hpsort_cuda_close(contexts[d]);
	CUDA(cudaSetDevice(0));
}

/*
 * Their Fig. 5: a job that all devices have a part of, as the GPU service runs it.  Keys come in
 * calls of `chunk`, and the result is read.  told: how many will come is known.  permute: row
 * numbers travel with the keys, and are read, too.
 */
static double
by_job(uint64_t n, const std::vector<int> &devices, uint64_t chunk, bool told, bool floats = false,
	   bool permute = false)
{
	const std::vector<HpsortCuda *> contexts = open_devices(devices);
	HpsortCudaSpec spec = {};
	uint32_t   *host_rows = nullptr;

	spec.algorithm = HPSORT_PUBLISHED_JOB(HPSORT_PUBLISHED_BUCKET_BITONIC);
	spec.wanted = HPSORT_CUDA_KEYS | (permute ? HPSORT_CUDA_PERMUTATION : 0);
	spec.n_hint = told ? n : 0;
	spec.float_images = floats;
	CUDA(cudaMemcpy(host_in, keys, n * 4, cudaMemcpyDeviceToHost));
	if (permute)
		CUDA(cudaMallocHost((void **) &host_rows, n * 4));

	double		ms = time_host([&] {
		HpsortCudaJob *job;

		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		ENGINE(hpsort_published_job_share(job, contexts.data() + 1, (int) contexts.size() - 1, &err));
		for (uint64_t at = 0; at < n; at += chunk)
			ENGINE(hpsort_cuda_job_add(job, (const int32_t *) host_in + at,
									   std::min(chunk, n - at), nullptr, &err));
		ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
		ENGINE(hpsort_cuda_job_read_keys(job, 0, n, 0, (int32_t *) host_out, &err));
		if (permute)
			ENGINE(hpsort_cuda_job_read_permutation(job, 0, n, host_rows, &err));
		hpsort_cuda_job_close(job);
	});

	check_host(host_out, n, false, "a job on several gpus");
	close_devices(contexts);
	if (permute)
		CUDA(cudaFreeHost(host_rows));
	return ms;
}

/* ---- structures of four floats ---- */

struct Structure
{
	float		key;
	uint32_t	rest[3];
};

static __global__ void
structures_kernel(const uint32_t *from, uint64_t n, uint4 *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		to[i] = make_uint4(from[i], (uint32_t) i, (uint32_t) i * 3u, from[i] ^ (uint32_t) i);
}

/* Takes the image of each structure's key out, and numbers the structures. */
static __global__ void
take_keys_kernel(const uint4 *structures, uint64_t n, uint32_t *to, uint32_t *numbers)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
	{
		const uint32_t bits = structures[i].x;

		to[i] = (bits >> 31 ? bits ^ 0x7fffffffu : bits) - 0x7fffffu;
		numbers[i] = (uint32_t) i;
	}
}

static __global__ void
move_structures_kernel(const uint4 *structures, uint64_t n, const uint32_t *numbers, uint4 *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		to[i] = structures[numbers[i]];
}

/*
 * Sorts the structures of rows into rows_out.  The authors move a structure in each step, to its
 * slice, to shared memory and back.  Here its key and its number move so, and every structure
 * moves once.  Bytes moved per structure: 16 + 8 to take the keys out, 92 for the sort of pairs,
 * 4 + 32 + 16 to move it.
 */
static void
sort_structures(uint64_t n)
{
	const uint4 *from = (const uint4 *) rows;
	hpsort::DeviceBuffer memory(context, stream, n * 16, "keys of structures");
	uint32_t   *part = memory.as<uint32_t>();

	take_keys_kernel<<<2048, 256, 0, stream>>>(from, n, part, part + n);
	ENGINE(published_now(context, bitonic_spec(true, true), part, part + n, n, part + 2 * n,
						 part + 3 * n, stream, nullptr, nullptr, &err));
	move_structures_kernel<<<2048, 256, 0, stream>>>(from, n, part + 3 * n, (uint4 *) rows_out);
}

/* The keys, for the usual check; a structure that was torn spoils its key. */
static __global__ void
keys_kernel(const uint4 *from, uint64_t n, uint32_t *to)
{
	const uint64_t step = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
	{
		const uint4 s = from[i];

		to[i] = s.z == s.y * 3u && s.w == (s.x ^ s.y) ? s.x : 0x7fc00000u;
	}
}

static void
check_structures(uint64_t n, const char *what)
{
	keys_kernel<<<2048, 256, 0, stream>>>((const uint4 *) rows_out, n, out);
	check_result(n, true, what);
}

/* Fig. 3b, of the floats in keys; rows and rows_out have room for 2^26. */
static void
structures_point(const std::string &data, uint64_t n)
{
	const size_t bytes = n * sizeof(Structure);

	structures_kernel<<<2048, 256, 0, stream>>>(keys, n, (uint4 *) rows);
	CUDA(cudaStreamSynchronize(stream));
	emit("chen", "3b", data, n, "bucket_bitonic", time_gpu([&] { sort_structures(n); }));
	check_structures(n, "structures");
	CUDA(cudaMemcpy(host_in, rows, bytes, cudaMemcpyDeviceToHost));
	emit("chen", "3b", data, n, "bucket_bitonic with transfers", time_host([&] {
		CUDA(cudaMemcpyAsync(rows, host_in, bytes, cudaMemcpyHostToDevice, stream));
		sort_structures(n);
		CUDA(cudaMemcpyAsync(host_out, rows_out, bytes, cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));
	}));
	if (n % 8000000 == 0)
	{
		emit("chen", "3b", data, n, "std_sort", time_host([&] {
			Structure  *all = (Structure *) host_out;

			std::sort(all, all + n, [](const Structure &a, const Structure &b) {
				return a.key < b.key;
			});
		}, [&] { memcpy(host_out, host_in, bytes); }));
		CUDA(cudaMemcpy(rows_out, host_out, bytes, cudaMemcpyHostToDevice));
		check_structures(n, "std::sort of structures");
	}
	number_rows();
}

/* Their lists. */
static const struct
{
	const char *name;
	Shape		shape;
	bool		floats;
}			lists[] = {
	{"int uniform", FULL_RANGE, false}, {"int gaussian", GAUSSIAN, false},
	{"int nearly sorted", NEARLY_SORTED, false},
	{"float uniform", FLOAT_UNIFORM, true},
	{"float gaussian", FLOAT_GAUSSIAN, true},
	{"float nearly sorted", FLOAT_NEARLY, true},
};

/* What the authors' criterion says of a list, and which way it went. */
static void
disorder_point(const std::string &name, uint64_t n, bool nearly,
			   const HpsortPublishedReport &report)
{
	if ((report.nearly_sorted != 0) != nearly)
	{
		fprintf(stderr, "%s, n %llu: disorder %g\n", name.c_str(), (unsigned long long) n,
				report.disorder);
		spoil();
	}
	emit("chen", "eq. 2", name, n, "disorder", report.disorder);
	emit("chen", "eq. 2", name, n, "levels", report.rounds);
}

static void
list_point(const std::string &name, uint64_t n, bool floats)
{
	const std::string figure = floats ? "3" : "2";
	const bool	nearly = name.find("nearly") != std::string::npos;
	HpsortPublishedSpec spec = bitonic_spec(floats, false);
	HpsortPublishedReport report;

	/* the peers sort floats, bucket_bitonic their images */
	emit("chen", figure, name, n, "cub", floats ? cub_floats(n) : cub_keys(n, 32));
	emit("chen", figure, name, n, "cub with transfers", cub_from_host(n, floats));
	if (n % 12000000 == 0)
		emit("chen", figure, name, n, "std_sort", std_sort(n, floats));
	emit("chen", "payload", name, n, "cub", cub_pairs(n, 32, floats));
	if (floats && n % 8000000 == 0)
		structures_point(name, n);
	if (floats)
		make_images(n);
	emit("chen", figure, name, n, "bucket_bitonic", published(spec, n, &report));
	emit_phases("chen", "4", name, n, report);
	disorder_point(name, n, nearly, report);
	for (int told : {-1, 1})
	{
		spec.nearly_sorted = told;
		if (nearly)
			emit("chen", figure, name, n, told > 0 ? "strided" : "not strided",
				 published(spec, n));
	}
	spec.nearly_sorted = 0;
	emit("chen", figure, name, n, "bucket_bitonic with transfers", published_from_host(spec, n));
	emit("chen", "payload", name, n, "bucket_bitonic", published(bitonic_spec(floats, true), n));
}

/* E, M and C that they did not choose, on the list of 24 million that they name. */
static void
option_points(void)
{
	const uint64_t n = 24000000;
	HpsortPublishedSpec spec = bitonic_spec(false, false);

	make({FULL_RANGE, n, (uint64_t) 1 << 31, n, 0});
	for (uint32_t most : {256, 512, 1024, 2048})
		for (uint32_t expected : {most / 16, most * 80 / 512, most / 4})
		{
			spec.options.bucket_most = most;
			spec.options.slice_expected = expected;
			emit("chen", "E and M", "int uniform", n, "M " + std::to_string(most) + " E " +
				 std::to_string(expected), published(spec, n));
		}
}

/* Floats as SQL sends them, cut into slices as integers and by value. */
static void
image_points(void)
{
	for (const auto &list : lists)
	{
		const uint64_t n = 24000000;
		HpsortPublishedSpec spec = bitonic_spec(false, false);
		HpsortPublishedReport report;

		if (!list.floats)
			continue;
		make({list.shape, n, (uint64_t) 1 << 31, n, 0});
		make_images(n);
		emit("chen", "images", list.name, n, "as integers", published(spec, n, &report));
		emit("chen", "images", list.name, n, "levels as integers", report.rounds);
		spec.float_images = true;
		emit("chen", "images", list.name, n, "by value", published(spec, n, &report));
		emit("chen", "images", list.name, n, "levels by value", report.rounds);
	}
}

/*
 * Fig. 2 (integers), 3 (floats and structures beside the STL), 4 (phases), Eq. 2, 5
 * (one and several GPUs: gpus_figures), and the merge.
 */
void
chen_figures(void)
{
	HpsortPublishedSpec spec = bitonic_spec(false, false);

	for (uint64_t n = 4000000; n <= 24000000; n += 4000000)
		for (const auto &list : lists)
		{
			make({list.shape, n, (uint64_t) 1 << 31, n, 0});
			list_point(list.name, n, list.floats);
		}
	for (uint64_t n : {32000000, 64000000})
	{
		make({FULL_RANGE, n, (uint64_t) 1 << 31, n, 0});
		spec.pass_keys = 0;
		emit("chen", "merge", "int uniform", n, "one pass", published(spec, n));
		spec.pass_keys = 16000000;
		emit("chen", "merge", "int uniform", n, "passes of 16M", published(spec, n));
		emit("chen", "merge", "int uniform", n, "cub", cub_keys(n, 32));
	}
	option_points();
	image_points();
}

/* Fig. 5, whose list is there from the beginning, and what it leaves out: other lists than
 * uniform integers, and keys that come in chunks. */
void
gpus_figures(void)
{
	const uint64_t chunk = 1u << 20;
	std::vector<std::pair<std::string, std::vector<int>>> ways = {
		{"one gpu", {0}}, {"the same gpu twice", {0, 0}},
	};
	int			present = 1;

	ENGINE(hpsort_cuda_device_count(&present, &err));
	if (present > 1)
		ways.push_back({"two gpus", {0, 1}});
	for (uint64_t n : {4000000, 8000000, 16000000, 24000000, 32000000, 64000000})
	{
		make({FULL_RANGE, n, (uint64_t) 1 << 31, n, 0});
		emit("chen", "5", "int uniform", n, "cub with transfers", cub_from_host(n, false));
		for (const auto &[name, devices] : ways)
		{
			emit("chen", "5", "int uniform", n, name, by_job(n, devices, n, true));
			emit("chen", "5 jobs", "int uniform", n, name, by_job(n, devices, chunk, true));
			emit("chen", "5 jobs", "int uniform streamed", n, name,
				 by_job(n, devices, chunk, false));
		}
	}
	for (uint64_t n : {24000000, 64000000})
		for (const auto &list : lists)
		{
			make({list.shape, n, (uint64_t) 1 << 31, n, 0});
			if (list.shape != FULL_RANGE)
				emit("chen", "5", list.name, n, "cub with transfers",
					 cub_from_host(n, list.floats));
			if (list.floats)
				make_images(n);
			for (const auto &[name, devices] : ways)
			{
				if (list.shape != FULL_RANGE)
					emit("chen", "5", list.name, n, name,
						 by_job(n, devices, n, true, list.floats));
				if (!list.floats)
					emit("chen", "5 structures", list.name, n, name,
						 by_job(n, devices, n, true, false, true));
			}
		}
}

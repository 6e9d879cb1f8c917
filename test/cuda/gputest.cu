/*-------------------------------------------------------------------------
 *
 * gputest.cu
 *	  Tests of the engine on a real GPU, through its public header, and of
 *	  single regimes through their own headers at sizes where they would not be chosen.
 *
 * usage: gputest [--quick | --tiny] [--shapes n] [--seed n] [--huge] [--device n]
 *		[--only name]
 *	--quick		a reduced set, for compute-sanitizer's memcheck and initcheck
 *	--tiny		a still smaller one, for its racecheck: regimes, packed values and their rows only
 *	--shapes	random shapes to try (10,000 by default)
 *	--huge		3e9 and 4.5e9 keys and nearly 2^32, in 75 GB of device memory
 *	--device	one other than 0 also shows that 0 is left alone
 *	--only		of the tests named in the output, this one
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <ctime>
#include <functional>

#include "check.cuh"

HpsortCuda *context;
HpsortCudaError err;
uint64_t	checks;
uint64_t	failures;
std::string current;
static std::string only;

static void
timed(const char *name, const std::function<void()> &test)
{
	if (!only.empty() && only != name)
		return;

	const uint64_t before = checks;
	auto		start = std::chrono::steady_clock::now();

	test();
	printf("%-10s %9llu checks, %6.1f s\n", name,
		   (unsigned long long) (checks - before),
		   std::chrono::duration<double>(std::chrono::steady_clock::now() -
										 start).count());
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	bool		quick = false;
	bool		tiny = false;
	bool		huge = false;
	uint64_t	shapes = 10000;
	uint64_t	seed = (uint64_t) time(nullptr);
	int			device = 0;
	HpsortCudaDeviceInfo info;
	uint64_t	used;

	for (int i = 1; i < argc; i++)
	{
		std::string arg = argv[i];

		if (arg == "--quick")
			quick = true;
		else if (arg == "--tiny")
			tiny = true;
		else if (arg == "--huge")
			huge = true;
		else if (arg == "--shapes" && i + 1 < argc)
			shapes = strtoull(argv[++i], nullptr, 10);
		else if (arg == "--seed" && i + 1 < argc)
			seed = strtoull(argv[++i], nullptr, 10);
		else if (arg == "--device" && i + 1 < argc)
			device = atoi(argv[++i]);
		else if (arg == "--only" && i + 1 < argc)
			only = argv[++i];
		else
		{
			fprintf(stderr, "usage: %s [--quick | --tiny] [--shapes n] [--seed n] [--huge] "
					"[--device n] [--only name]\n", argv[0]);
			return 2;
		}
	}
	/* sanitizers would take what it does for an error */
	if (!quick && !tiny)
		timed("lost", [&] { test_lost(device); });
	current = "open";
	CUDA(cudaSetDevice(device));
	if (!CHECK(hpsort_cuda_open(device, 0, &context, &err) == HPSORT_CUDA_OK))
		return 1;
	ENGINE(hpsort_cuda_device_info(device, &info, &err));
	printf("%s, %u SMs, %u B shared, driver %d, runtime %d\n", info.name, context->limits.sms,
		   context->limits.shared_bytes, driver_version(), CUDART_VERSION);

	timed("regimes", [&] { test_regimes(quick, tiny); });
	timed("packed", [&] { test_packed(quick, tiny); });
	timed("rows", [&] { test_rows(quick, tiny); });
	if (!tiny)
	{
		timed("edges", [&] { test_edges(quick); });
		timed("jobs", [&] { test_jobs(quick); });
		timed("devices", [&] { test_devices(device); });
	}
	printf("random: --shapes %llu --seed %llu\n", (unsigned long long) shapes,
		   (unsigned long long) seed);
	timed("random", [&] { test_random(shapes, seed); });
	if (huge)
	{
		timed("huge", [&] { test_huge(); });
		timed("limits", [&] { test_limits(); });
	}

	current = "close";
	hpsort_cuda_memory(context, &used, nullptr, 0);
	CHECK(used == 0);
	hpsort_cuda_close(context);
	printf("%llu checks, %llu failures\n", (unsigned long long) checks,
		   (unsigned long long) failures);
	return failures == 0 ? 0 : 1;
}

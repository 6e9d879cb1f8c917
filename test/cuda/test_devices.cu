/*-------------------------------------------------------------------------
 *
 * test_devices.cu
 *	  The device that a context belongs to beside others: no context is created on
 *	  those that were not asked for.  And the loss of a device.
 *
 *-------------------------------------------------------------------------
 */
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include <cudaTypedefs.h>

#include "check.cuh"

/* What only the driver can tell. */
template <typename Function>
static Function
driver_function(const char *name)
{
	void	   *found = nullptr;

#if CUDART_VERSION >= 12050
	CUDA(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault));
#else
	CUDA(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault));
#endif
	return reinterpret_cast<Function>(found);
}

/* There is no context on device 0. */
static void
check_untouched(const char *after)
{
	static const auto get_state =
		driver_function<PFN_cuDevicePrimaryCtxGetState_v7000>(
			"cuDevicePrimaryCtxGetState");
	unsigned int flags;
	int			active = -1;

	current = std::string("device 0 after ") + after;
	CHECK(get_state(0, &flags, &active) == CUDA_SUCCESS);
	CHECK(active == 0);
	CHECK(cudaGetLastError() == cudaSuccess);
}

/*
 * The whole life of a context, in a thread that has chosen no device: every
 * call has to find its device by itself, and to leave no trace on another.
 */
static void
test_stranger(int device)
{
	const std::vector<int32_t> keys =
		make_keys({UNIFORM, 1500000, 1000000, -5, false, 1});
	const Reference reference = refer(keys, false);
	std::vector<int32_t> few(keys);
	Guarded<int32_t> input(keys.size(), 1);
	Guarded<int32_t> few_input(keys.size(), 0);
	std::vector<std::unique_ptr<Guarded<int32_t>>> outputs;

	for (int32_t &key : few)
		key = key % 1000 * 100003;
	input.put(keys);
	few_input.put(few);
	for (int i = 0; i < 4; i++)
		outputs.emplace_back(new Guarded<int32_t>(keys.size(), i % 4));
	CUDA(cudaDeviceSynchronize());

	std::thread stranger([&] {
		HpsortCuda *own;
		HpsortCudaDeviceInfo info;
		HpsortCudaJob *job;
		HpsortCudaSpec spec = {};
		std::vector<int32_t> got(keys.size());

		check_untouched("nothing");
		ENGINE(hpsort_cuda_device_info(device, &info, &err));
		check_untouched("asking about a device");
		ENGINE(hpsort_cuda_open(device, 0, &own, &err));
		check_untouched("opening a device");
		ENGINE(hpsort_cuda_pin(own, got.data(), got.size() * 4, &err));
		check_untouched("pinning");

		/* bounds not known, known, wrong; few values */
		ENGINE(sort_by_job(own, spec, input.get(), keys.size(), outputs[0]->get(), nullptr,
						   nullptr));
		spec.bounds_known = 1;
		spec.lo = -5;
		spec.hi = 999994;
		ENGINE(sort_by_job(own, spec, input.get(), keys.size(), outputs[1]->get(), nullptr,
						   nullptr));
		spec.hi = 1000;
		CHECK(sort_by_job(own, spec, input.get(), keys.size(), outputs[2]->get(), nullptr,
						  nullptr) == HPSORT_CUDA_OUT_OF_BOUNDS);
		spec.bounds_known = 0;
		ENGINE(sort_by_job(own, spec, few_input.get(), keys.size(), outputs[3]->get(), nullptr,
						   nullptr));
		check_untouched("sorting");

		spec = {};
		spec.wanted = HPSORT_CUDA_KEYS;
		ENGINE(hpsort_cuda_job_open(own, &spec, &job, &err));
		ENGINE(hpsort_cuda_job_add(job, keys.data(), keys.size(), nullptr, &err));
		ENGINE(hpsort_cuda_job_finish(job, nullptr, &err));
		ENGINE(hpsort_cuda_job_read_keys(job, 0, keys.size(), 0, got.data(), &err));
		CHECK(got == reference.keys);
		hpsort_cuda_job_close(job);
		check_untouched("a job");
		ENGINE(hpsort_cuda_trim(own, &err));
		hpsort_cuda_close(own);
		check_untouched("closing");
		CUDA(cudaHostUnregister(got.data()));
	});

	stranger.join();
	current = "results of a thread that has chosen no device";
	CHECK(outputs[0]->take(keys.size()) == reference.keys);
	CHECK(outputs[1]->take(keys.size()) == reference.keys);
	CHECK(outputs[3]->take(keys.size()) == refer(few, false).keys);
	for (auto &output : outputs)
		CHECK(output->intact());
}

void
test_devices(int device)
{
	if (device == 0)
	{
		printf("devices: that others are left alone is seen with --device 1\n");
		return;
	}
	test_stranger(device);
}

static __global__ void
trap_kernel(void)
{
	__trap();
}

/*
 * A device that is lost in the middle: the first error says so, and all that
 * belongs to the context can still be closed.  In a process of its own, which
 * must be started before this one touches CUDA.
 */
void
test_lost(int device)
{
	const pid_t child = fork();
	int			status = 0;

	current = "lost device";
	if (child == 0)
	{
		HpsortCudaSpec spec = {};
		HpsortCudaJob *job;
		int32_t		keys[] = {3, 1, 2};

		alarm(120);
		CUDA(cudaSetDevice(device));
		ENGINE(hpsort_cuda_open(device, 0, &context, &err));
		spec.wanted = HPSORT_CUDA_KEYS;
		ENGINE(hpsort_cuda_job_open(context, &spec, &job, &err));
		ENGINE(hpsort_cuda_job_add(job, keys, 3, nullptr, &err));
		trap_kernel<<<1, 1>>>();
		CHECK(hpsort_cuda_job_finish(job, nullptr, &err) == HPSORT_CUDA_FAILED);
		printf("lost device: %s, sticky %d\n", err.text, err.sticky);
		CHECK(err.sticky == 1);
		hpsort_cuda_job_close(job);
		hpsort_cuda_close(context);
		fflush(stdout);
		_exit(failures == 0 ? 0 : 1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*-------------------------------------------------------------------------
 *
 * context.cu
 *	  Devices, contexts, the memory pool and errors.
 *
 * Called from any thread.  Nothing here knows how keys are sorted: it asks the
 * kernels to set themselves up when a device is opened, and no more.
 *
 *-------------------------------------------------------------------------
 */
#include "engine.cuh"
#include "kernels.cuh"

#include <cub/version.cuh>
#include <cudaTypedefs.h>

namespace hpsort
{

/* An error that the engine found by itself, CUDA not involved. */
void
fail(HpsortCudaCode code, const char *format, ...)
{
	Failure		failure = {};
	va_list		args;

	failure.error.code = code;
	va_start(args, format);
	vsnprintf(failure.error.text, sizeof(failure.error.text), format, args);
	va_end(args);
	throw failure;
}

/* The promise of the bounds was broken: names the key and both bounds. */
void
fail_outside(int32_t key, int32_t lo, int32_t hi)
{
	Failure		failure = {};

	failure.error.code = HPSORT_CUDA_OUT_OF_BOUNDS;
	failure.error.key = key;
	snprintf(failure.error.text, sizeof(failure.error.text),
			 "key %d is outside the bounds %d to %d", key, lo, hi);
	throw failure;
}

/* Told apart by what a caller can do: ask for less, do without the device, or see
 * whether the error is sticky. */
static HpsortCudaCode
code_of(cudaError_t cuda_error)
{
	switch (cuda_error)
	{
		case cudaErrorMemoryAllocation:
			return HPSORT_CUDA_NO_MEMORY;
		case cudaErrorNoDevice:
		case cudaErrorInsufficientDriver:
		case cudaErrorInvalidDevice:
		case cudaErrorNoKernelImageForDevice:
			return HPSORT_CUDA_NO_DEVICE;
		default:
			return HPSORT_CUDA_FAILED;
	}
}

/*
 * Tells sticky errors from others by asking again: a sticky error is reported
 * by every later call, whatever that call is.  The first error is taken out of the
 * thread's state before, or it would be its own answer.  Not asked for the other
 * codes: where there is no device the probe fails as well, and nothing is lost.
 */
void
fail_cuda(cudaError_t cuda_error, const char *what)
{
	Failure		failure = {};

	(void) cudaGetLastError();
	failure.error.code = code_of(cuda_error);
	if (failure.error.code == HPSORT_CUDA_FAILED)
	{
		void	   *probe = nullptr;

		failure.error.sticky = cudaFree(probe) != cudaSuccess;
		(void) cudaGetLastError();
	}
	failure.error.cuda_error = static_cast<int>(cuda_error);
	snprintf(failure.error.text, sizeof(failure.error.text),
			 "could not %s: %s", what, cudaGetErrorString(cuda_error));
	throw failure;
}

/*
 * What the runtime has no call for.  Looked up, because the library is linked
 * where there is no driver.
 */
struct Driver
{
	PFN_cuInit_v2000 init = nullptr;
	PFN_cuDevicePrimaryCtxRetain_v7000 retain = nullptr;
	PFN_cuCtxPushCurrent_v4000 push = nullptr;
	PFN_cuCtxPopCurrent_v4000 pop = nullptr;

	Driver()
	{
		look_up("cuInit", &init);
		look_up("cuDevicePrimaryCtxRetain", &retain);
		look_up("cuCtxPushCurrent", &push);
		look_up("cuCtxPopCurrent", &pop);
	}
	/* version 12.0 of each of them: all are older */
	template <typename Function>
	static void
	look_up(const char *name, Function *function)
	{
		void	   *found = nullptr;
#if CUDART_VERSION >= 12050
		cudaError_t rc = cudaGetDriverEntryPointByVersion(name, &found, 12000,
														  cudaEnableDefault);
#else
		cudaError_t rc = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif

		check(rc, "find a function of the driver");
		if (found == nullptr)
			fail(HPSORT_CUDA_NO_DEVICE, "the driver has no %s", name);
		*function = reinterpret_cast<Function>(found);
	}
};

/*
 * The runtime's errors have the driver's numbers.  No probe for sticky errors: it
 * would go to whatever other device is current, and create a context there.
 */
static void
check_driver(CUresult result, int ordinal)
{
	const cudaError_t rc = static_cast<cudaError_t>(result);
	Failure		failure = {};

	if (result == CUDA_SUCCESS)
		return;
	failure.error.code = code_of(rc);
	failure.error.cuda_error = static_cast<int>(rc);
	snprintf(failure.error.text, sizeof(failure.error.text),
			 "could not use device %d: %s", ordinal, cudaGetErrorString(rc));
	throw failure;
}

/* At the first use, by whoever needs it; if it throws, the next use tries again. */
static const Driver &
driver()
{
	static const Driver driver;

	return driver;
}

/*
 * The primary context is the one that the runtime uses as well.  Like the
 * runtime, this holds on to it until the process ends.
 */
static CUcontext
primary_context(int ordinal)
{
	static std::mutex lock;
	static std::vector<CUcontext> contexts;
	std::lock_guard<std::mutex> guard(lock);

	if (contexts.size() <= static_cast<size_t>(ordinal))
		contexts.resize(ordinal + 1, nullptr);
	if (contexts[ordinal] == nullptr)
	{
		check_driver(driver().init(0), ordinal);
		check_driver(driver().retain(&contexts[ordinal], ordinal), ordinal);
	}
	return contexts[ordinal];
}

void
push_device(int ordinal)
{
	check_driver(driver().push(primary_context(ordinal)), ordinal);
}

/* It fails only where there is nothing to go back from. */
void
pop_device()
{
	CUcontext	ours;

	(void) driver().pop(&ours);
}

/* Callers may not want to know. */
void
fill_error(HpsortCudaError *err, const HpsortCudaError &from)
{
	if (err)
		*err = from;
}

/*
 * Takes bytes out of the limit first, so that two threads cannot both pass it,
 * and gives them back if the driver has no memory.
 */
DeviceBuffer::DeviceBuffer(HpsortCuda *context, cudaStream_t stream,
						   uint64_t bytes, const char *what)
	: context_(context), stream_(stream)
{
	uint64_t	limit = context->limit.load();
	cudaError_t rc;

	/* a non-empty buffer is simpler for everyone than a null pointer */
	bytes = (bytes + 255) / 256 * 256;
	if (bytes == 0)
		bytes = 256;
	/* the lock is not held over the driver's call, which may take milliseconds when
	 * the pool has to grow; a sum that wraps around is above every limit, too */
	{
		std::lock_guard<std::mutex> guard(context->lock);

		if (context->used + bytes > limit || context->used + bytes < bytes)
		{
			Failure		failure = {};

			failure.error.code = HPSORT_CUDA_NO_MEMORY;
			failure.error.need = bytes;
			snprintf(failure.error.text, sizeof(failure.error.text),
					 "%s needs %llu bytes of gpu memory, %llu of %llu are in use",
					 what, (unsigned long long) bytes,
					 (unsigned long long) context->used,
					 (unsigned long long) limit);
			throw failure;
		}
		context->used += bytes;
		if (context->used > context->peak)
			context->peak = context->used;
	}
	/* no wait: the memory is there for what is put on this stream from now on */
	rc = cudaMallocFromPoolAsync(&memory_, bytes, context->pool, stream);
	if (rc != cudaSuccess)
	{
		std::lock_guard<std::mutex> guard(context->lock);

		context->used -= bytes;
		memory_ = nullptr;
		if (rc == cudaErrorMemoryAllocation)
		{
			Failure		failure = {};

			(void) cudaGetLastError();
			failure.error.code = HPSORT_CUDA_NO_MEMORY;
			failure.error.cuda_error = static_cast<int>(rc);
			failure.error.need = bytes;
			snprintf(failure.error.text, sizeof(failure.error.text),
					 "%s needs %llu bytes of gpu memory: %s", what,
					 (unsigned long long) bytes, cudaGetErrorString(rc));
			throw failure;
		}
		fail_cuda(rc, what);
	}
	bytes_ = bytes;
}

/*
 * Errors are ignored: after a sticky error there is nothing left to free, and
 * no other error is possible for memory that the pool gave out.  Accounted as free
 * from here on, though the stream may still be at work on it: what takes it next in
 * the stream's order comes behind that.
 */
void
DeviceBuffer::release()
{
	if (memory_ == nullptr)
		return;
	ignore(cudaFreeAsync(memory_, stream_));
	{
		std::lock_guard<std::mutex> guard(context_->lock);

		context_->used -= bytes_;
	}
	memory_ = nullptr;
	bytes_ = 0;
}

/*
 * Pinned memory is slow to get (some 100 us, and the device may have to come to
 * rest for it), so it is got by the page and not given back before the context
 * is closed; as many verdicts exist as calls were at work at once.
 */
static void
add_verdicts(HpsortCuda *context)
{
	constexpr size_t page_bytes = 4096;
	void	   *page;

	context->verdict_pages.reserve(context->verdict_pages.size() + 1);
	/* room for all of them, so that giving one back never needs memory */
	context->idle_verdicts.reserve((context->verdict_pages.size() + 1) *
								   (page_bytes / VerdictSlot::bytes));
	check(cudaMallocHost(&page, page_bytes), "allocate pinned memory");
	context->verdict_pages.push_back(page);
	for (size_t at = 0; at < page_bytes; at += VerdictSlot::bytes)
		context->idle_verdicts.push_back(reinterpret_cast<HpsortCudaVerdict *>(
			static_cast<char *>(page) + at));
}

VerdictSlot::VerdictSlot(HpsortCuda *context, cudaStream_t stream)
	: context_(context), stream_(stream), verdict_(nullptr)
{
	{
		std::lock_guard<std::mutex> guard(context->lock);

		if (context->idle_verdicts.empty())
			add_verdicts(context);
		verdict_ = context->idle_verdicts.back();
		context->idle_verdicts.pop_back();
	}
	clear_verdict(verdict_);
}

VerdictSlot::~VerdictSlot()
{
	/* on the way out of an error, kernels may still be about to write to it */
	if (std::uncaught_exceptions() > 0)
		ignore(cudaStreamSynchronize(stream_));

	std::lock_guard<std::mutex> guard(context_->lock);

	context_->idle_verdicts.push_back(verdict_);
}

/*
 * Memory for at most that many runs; how many there are is known later.  Starts
 * are 64-bit although runs are few: they count keys, of which there may be more
 * than 2^32.
 */
void
Runs::allocate(HpsortCuda *context, cudaStream_t stream, uint64_t most)
{
	memory = DeviceBuffer(context, stream, regime_runs_bytes(most), "runs");

	Carver		carver(memory);

	keys = carver.take<int32_t>(most);
	starts = carver.take<uint64_t>(most + 1);
	distinct = 0;
}

/* One attribute: cheaper than all properties, which take a millisecond. */
static int
attribute(cudaDeviceAttr which, int ordinal)
{
	int			value = 0;

	check(cudaDeviceGetAttribute(&value, which, ordinal),
		  "read a device attribute");
	return value;
}

/*
 * What regime.c wants to know; the rest of the engine asks nothing else, so that a
 * choice can be repeated on a host without this device.
 */
static void
read_limits(int ordinal, HpsortCudaLimits *limits)
{
	cudaDeviceProp properties;

	/* for the memory's size alone, of which there is no attribute */
	check(cudaGetDeviceProperties(&properties, ordinal),
		  "read the device's properties");
	limits->sms = attribute(cudaDevAttrMultiProcessorCount, ordinal);
	limits->shared_bytes =
		attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
	limits->memory_bytes = properties.totalGlobalMem;
	limits->l2_bytes = attribute(cudaDevAttrL2CacheSize, ordinal);
}

/* Nothing to do: it is only asked whether there is machine code of it. */
static __global__ void
empty_kernel()
{
}

/* A device older than what was compiled for would fail at the first kernel. */
static void
check_compiled_for(int ordinal)
{
	cudaFuncAttributes attributes;
	cudaError_t rc = cudaFuncGetAttributes(
		&attributes, reinterpret_cast<const void *>(empty_kernel));

	if (rc == cudaErrorInvalidDeviceFunction ||
		rc == cudaErrorNoKernelImageForDevice)
	{
		(void) cudaGetLastError();
		fail(HPSORT_CUDA_NO_DEVICE,
			 "device %d has compute capability %d.%d, which the library was not compiled for",
			 ordinal, attribute(cudaDevAttrComputeCapabilityMajor, ordinal),
			 attribute(cudaDevAttrComputeCapabilityMinor, ordinal));
	}
	check(rc, "look at a kernel");
}

} /* namespace hpsort */

using namespace hpsort;

/*
 * May be called without a context, and before any.  No driver is not an error: a
 * host without a GPU has none, and says so.
 */
extern "C" HpsortCudaCode
hpsort_cuda_device_count(int *count, HpsortCudaError *err)
{
	return guarded(err, [&] {
		cudaError_t rc = cudaGetDeviceCount(count);

		if (rc == cudaErrorNoDevice || rc == cudaErrorInsufficientDriver)
		{
			(void) cudaGetLastError();
			*count = 0;
			return;
		}
		check(rc, "count devices");
	});
}

/* Creates the process's CUDA context on that device, because free memory is asked
 * for: some 0.3 s, and half a gigabyte of the device's memory. */
extern "C" HpsortCudaCode
hpsort_cuda_device_info(int ordinal, HpsortCudaDeviceInfo *info,
						HpsortCudaError *err)
{
	return guarded(err, [&] {
		cudaDeviceProp properties;
		size_t		memory_free;
		size_t		memory_total;

		memset(info, 0, sizeof(*info));
		check(cudaGetDeviceProperties(&properties, ordinal),
			  "read the device's properties");
		DeviceScope scope(ordinal);

		info->ordinal = ordinal;
		snprintf(info->name, sizeof(info->name), "%s", properties.name);
		info->major = properties.major;
		info->minor = properties.minor;
		check(cudaDriverGetVersion(&info->driver_version),
			  "read the driver's version");
		check(cudaRuntimeGetVersion(&info->runtime_version),
			  "read the runtime's version");
		info->cub_version = CUB_VERSION;
		check(cudaMemGetInfo(&memory_free, &memory_total),
			  "read the device's memory");
		info->memory_total = memory_total;
		info->memory_free = memory_free;
		read_limits(ordinal, &info->limits);
	});
}

/*
 * Everything that can fail for good on a device (no kernel image, no pools, no
 * cooperative launches) fails here and not in the middle of a job.
 */
extern "C" HpsortCudaCode
hpsort_cuda_open(int ordinal, uint64_t memory_limit, HpsortCuda **result,
				 HpsortCudaError *err)
{
	*result = nullptr;
	return guarded(err, [&] {
		int			count = 0;
		cudaError_t rc = cudaGetDeviceCount(&count);

		if (rc != cudaSuccess)
			fail_cuda(rc, "count devices");
		if (ordinal < 0 || ordinal >= count)
			fail(HPSORT_CUDA_NO_DEVICE, "no device %d, there are %d",
				 ordinal, count);

		DeviceScope scope(ordinal);
		cudaMemPoolProps properties = {};
		uint64_t	keep = UINT64_MAX;
		HpsortCuda *context = new HpsortCuda;

		try
		{
			context->ordinal = ordinal;
			read_limits(ordinal, &context->limits);
			check_compiled_for(ordinal);
			if (!attribute(cudaDevAttrMemoryPoolsSupported, ordinal) ||
				!attribute(cudaDevAttrCooperativeLaunch, ordinal))
				fail(HPSORT_CUDA_NO_DEVICE,
					 "device %d lacks memory pools or cooperative launches",
					 ordinal);
			/* such a device need not stage unpinned memory: is_read_in_place() */
			context->reads_pageable =
				attribute(cudaDevAttrPageableMemoryAccess, ordinal) != 0;
			hpsort_cuda_set_memory_limit(context, memory_limit);
			/* not the device's default pool, which is everybody's in this process:
			 * it would be kept, and trimmed, for them as well */
			properties.allocType = cudaMemAllocationTypePinned;
			properties.location.type = cudaMemLocationTypeDevice;
			properties.location.id = ordinal;
			check(cudaMemPoolCreate(&context->pool, &properties),
				  "create a memory pool");
			/* keep freed memory: getting it from the driver again is slow */
			check(cudaMemPoolSetAttribute(context->pool,
										  cudaMemPoolAttrReleaseThreshold,
										  &keep), "set up the memory pool");
			/* answers of the driver that stay the same: asked for once */
			configure_kernels(context->limits);
			context->crew_blocks = shared_crew_blocks(context->limits);
			context->overlap = sweeps_overlap();
		}
		catch (...)
		{
			if (context->pool)
				ignore(cudaMemPoolDestroy(context->pool));
			delete context;
			throw;
		}
		*result = context;
	});
}

/*
 * Waits for the device, because calls with a caller's stream may still be
 * running on memory of the pool that is about to go.  What is the host's goes in
 * any case, after a sticky error as well.
 */
extern "C" void
hpsort_cuda_close(HpsortCuda *context)
{
	if (context == nullptr)
		return;
	(void) guarded(nullptr, [&] {
		DeviceScope scope(context->ordinal);

		ignore(cudaDeviceSynchronize());
		for (void *page : context->verdict_pages)
			ignore(cudaFreeHost(page));
		ignore(cudaMemPoolDestroy(context->pool));
	});
	delete context;
}

/* Bytes of all buffers together; 0: the whole device.  What is over it already stays
 * until it is given back. */
extern "C" void
hpsort_cuda_set_memory_limit(HpsortCuda *context, uint64_t bytes)
{
	context->limit.store(bytes == 0 ? context->limits.memory_bytes : bytes);
}

/* Accounted memory: what buffers hold, not what the pool keeps for reuse. */
extern "C" void
hpsort_cuda_memory(HpsortCuda *context, uint64_t *used, uint64_t *peak,
				   int reset_peak)
{
	std::lock_guard<std::mutex> guard(context->lock);

	if (used)
		*used = context->used;
	if (peak)
		*peak = context->peak;
	if (reset_peak)
		context->peak = context->used;
}

/*
 * What the pool keeps goes back to the driver, for other processes to use.  What
 * buffers hold stays, and so may what was freed on a stream that nobody waited for.
 */
extern "C" HpsortCudaCode
hpsort_cuda_trim(HpsortCuda *context, HpsortCudaError *err)
{
	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);

		check(cudaMemPoolTrimTo(context->pool, 0), "trim the memory pool");
	});
}

extern "C" const HpsortCudaLimits *
hpsort_cuda_limits(const HpsortCuda *context)
{
	return &context->limits;
}

/*
 * Portable: pinned for every device, since a job takes any ordinal.  In this
 * device's scope all the same, because otherwise CUDA would create a context on the
 * thread's device for it, which is device 0 where none was chosen.
 */
extern "C" HpsortCudaCode
hpsort_cuda_pinned_alloc(HpsortCuda *context, size_t bytes, void **memory,
						 HpsortCudaError *err)
{
	*memory = nullptr;
	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);

		check(cudaHostAlloc(memory, bytes, cudaHostAllocPortable),
			  "allocate pinned memory");
	});
}

extern "C" void
hpsort_cuda_pinned_free(HpsortCuda *context, void *memory)
{
	(void) guarded(nullptr, [&] {
		DeviceScope scope(context->ordinal);

		ignore(cudaFreeHost(memory));
	});
}

/*
 * For memory that several processes share (a memfd): each of them maps it, one
 * pins it.  Touch it before, else pinning also has to find its pages.
 */
extern "C" HpsortCudaCode
hpsort_cuda_pin(HpsortCuda *context, void *memory, size_t bytes,
				HpsortCudaError *err)
{
	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);

		check(cudaHostRegister(memory, bytes, cudaHostRegisterPortable),
			  "pin memory");
	});
}

extern "C" HpsortCudaCode
hpsort_cuda_unpin(HpsortCuda *context, void *memory, HpsortCudaError *err)
{
	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);

		check(cudaHostUnregister(memory), "unpin memory");
	});
}

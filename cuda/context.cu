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
#include "context.cuh"

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

} /* namespace hpsort */

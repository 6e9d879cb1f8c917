/*-------------------------------------------------------------------------
 *
 * context.cu
 *	  Errors, the current device, device memory of a context's pool, and verdicts in pinned
 *	  memory.
 *
 * Called from any thread.  Knows nothing of how keys are sorted.
 *
 *-------------------------------------------------------------------------
 */
#include "context.cuh"

namespace hpsort
{

static Failure
make_failure(HpsortCudaCode code, int32_t key, const char *format, va_list args)
{
	Failure		failure = {};

	failure.error.code = code;
	failure.error.key = key;
	vsnprintf(failure.error.text, sizeof(failure.error.text), format, args);
	return failure;
}

void
fail(HpsortCudaCode code, const char *format, ...)
{
	va_list		args;

	va_start(args, format);

	const Failure failure = make_failure(code, 0, format, args);

	va_end(args);
	throw failure;
}

void
fail_key(HpsortCudaCode code, int32_t key, const char *format, ...)
{
	va_list		args;

	va_start(args, format);

	const Failure failure = make_failure(code, key, format, args);

	va_end(args);
	throw failure;
}

void
fail_outside(int32_t key, int32_t lo, int32_t hi)
{
	fail_key(HPSORT_CUDA_OUT_OF_BOUNDS, key, "key %d is outside the bounds %d to %d", key, lo, hi);
}

/* Returns the public code of an error of CUDA.  The codes differ in what a caller can do: ask for
 * less memory, do without the device, or end the process if the error is sticky. */
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
 * A sticky error is reported by every later call, so another call shows whether an error is
 * sticky.  The first error is taken out of the thread's state before this probe, which would
 * otherwise find it there.  NO_MEMORY and NO_DEVICE are never sticky, and without a device the
 * probe would fail, too.
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
	snprintf(failure.error.text, sizeof(failure.error.text),
			 "could not %s: %s", what, cudaGetErrorString(cuda_error));
	throw failure;
}

/* The device of the innermost scope of this thread; -1: the thread is in none. */
static thread_local int scope_device = -1;

/* A device that another process has for itself is no case for the probe of fail_cuda(), which would
 * create a context on the device that is current in this thread. */
DeviceScope::DeviceScope(int ordinal)
	: outer_(scope_device)
{
	const cudaError_t rc = cudaSetDevice(ordinal);

	/* an error that the caller has left in CUDA's state must not pass for the engine's */
	(void) cudaGetLastError();
	if (rc == cudaErrorDevicesUnavailable)
		fail(HPSORT_CUDA_FAILED, "could not use device %d: %s", ordinal, cudaGetErrorString(rc));
	check(rc, "use the device");
	scope_device = ordinal;
}

DeviceScope::~DeviceScope()
{
	scope_device = outer_;
	if (outer_ >= 0)
		ignore(cudaSetDevice(outer_));
}

HpsortCudaCode
caught(HpsortCudaError *err) noexcept
{
	HpsortCudaError error = {};

	try
	{
		throw;
	}
	catch (const Failure &failure)
	{
		error = failure.error;
	}
	catch (const std::bad_alloc &)
	{
		error.code = HPSORT_CUDA_NO_MEMORY;
		snprintf(error.text, sizeof(error.text), "out of host memory");
	}
	catch (...)
	{
		error.code = HPSORT_CUDA_FAILED;
		snprintf(error.text, sizeof(error.text), "unexpected failure");
	}
	if (err)
		*err = error;
	return error.code;
}

/* The bytes are counted as used before the driver is asked for them, so that two threads together
 * cannot exceed the limit.  They are taken back if the driver has no memory. */
DeviceBuffer::DeviceBuffer(HpsortCuda *context, cudaStream_t stream,
						   uint64_t bytes, const char *what)
	: context_(context), stream_(stream)
{
	uint64_t	limit = context->limit.load();
	cudaError_t rc;

	/* never empty, so that no user of a buffer has to expect a null pointer */
	bytes = (bytes + 255) / 256 * 256;
	if (bytes == 0)
		bytes = 256;
	/* The lock is not held during the driver's call, which may take milliseconds when the pool
	 * has to grow.  A sum that wraps around is refused like one above the limit. */
	{
		std::lock_guard<std::mutex> guard(context->lock);

		if (context->used + bytes > limit || context->used + bytes < bytes)
			fail(HPSORT_CUDA_NO_MEMORY,
				 "%s needs %llu bytes of gpu memory, %llu of %llu are in use",
				 what, (unsigned long long) bytes, (unsigned long long) context->used,
				 (unsigned long long) limit);
		context->used += bytes;
		if (context->used > context->peak)
			context->peak = context->used;
	}
	/* no wait: work put on this stream from here on can use the memory */
	rc = cudaMallocFromPoolAsync(&memory_, bytes, context->pool, stream);
	if (rc != cudaSuccess)
	{
		std::lock_guard<std::mutex> guard(context->lock);

		context->used -= bytes;
		memory_ = nullptr;
		if (rc != cudaErrorMemoryAllocation)
			fail_cuda(rc, what);
		(void) cudaGetLastError();
		fail(HPSORT_CUDA_NO_MEMORY, "%s needs %llu bytes of gpu memory: %s", what,
			 (unsigned long long) bytes, cudaGetErrorString(rc));
	}
	bytes_ = bytes;
}

/*
 * Errors are ignored: after a sticky error there is nothing left to free, and memory that the
 * pool gave out causes no other error.  The bytes count as free from here on, though work on the
 * stream may still use them: the pool gives them out again only in the stream's order, behind
 * this work.
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
 * Adds a page of verdicts.  Allocating pinned memory is slow (some 100 us, and the device may
 * have to become idle), so verdicts are allocated by the page and kept until the context is
 * closed.  There are as many verdicts as calls have been at work at once.  The caller holds the
 * lock.
 */
static void
add_verdicts(HpsortCuda *context)
{
	constexpr size_t page_bytes = 4096;
	void	   *page;

	context->verdict_pages.reserve(context->verdict_pages.size() + 1);
	/* room for all verdicts, so that giving one back never allocates memory */
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
	/* after an error nobody has waited for the kernels that write to the slot */
	if (std::uncaught_exceptions() > 0)
		ignore(cudaStreamSynchronize(stream_));

	std::lock_guard<std::mutex> guard(context_->lock);

	context_->idle_verdicts.push_back(verdict_);
}

} /* namespace hpsort */

/*-------------------------------------------------------------------------
 *
 * context.cuh
 *	  What all of cuda/ is built on: errors, contexts, device memory, streams.
 *
 * For every .cu file.  Knows CUDA and memory, and not how keys are sorted.
 *
 * Inside cuda/ an error is a C++ exception of type Failure, and a DeviceBuffer owns device
 * memory, so that every error path frees what it took.  No exception leaves the library: each
 * function of hpsort_cuda.h runs its body in guarded().
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_CUDA_CONTEXT_CUH
#define HPSORT_CUDA_CONTEXT_CUH

#include <cuda_runtime.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "hpsort_cuda.h"
#include "regime.h"

/*
 * Where kernels report keys outside the bounds: pinned memory, valid once the stream has come past
 * the kernels.  If n_outside is not 0, key is one of the keys outside, and the output is undefined
 * (but nothing outside the output is written).
 */
struct HpsortCudaVerdict
{
	uint32_t	n_outside;		/* 0: all keys within bounds; else >= 1 */
	int32_t		key;
	uint64_t	distinct;		/* runs written */
};

namespace hpsort
{

/* An error on its way to the public function, which returns its fields as they are. */
struct Failure
{
	HpsortCudaError error;

	/* returns whether other devices, or less work on this one, may do what failed */
	bool		out_of_memory() const
	{
		return error.code == HPSORT_CUDA_NO_MEMORY && !error.sticky;
	}
};

/* fail() throws an error that is not CUDA's, and fail_key() one that names a key; fail_cuda()
 * throws CUDA's error while doing `what`; fail_outside() throws OUT_OF_BOUNDS for a key outside lo
 * to hi. */
[[noreturn]] void fail(HpsortCudaCode code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
[[noreturn]] void fail_key(HpsortCudaCode code, int32_t key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
[[noreturn]] void fail_cuda(cudaError_t cuda_error, const char *what);
[[noreturn]] void fail_outside(int32_t key, int32_t lo, int32_t hi);

/* Throws if a call of CUDA failed.  `what` is the thing being done, for the error's text ("copy a
 * chunk"). */
inline void
check(cudaError_t cuda_error, const char *what)
{
	if (cuda_error != cudaSuccess)
		fail_cuda(cuda_error, what);
}

/*
 * Ignores the error of a call that frees something, since nothing can be done about it.  The
 * error is taken out of CUDA's per-thread state, where check_launch() would take it for the next
 * kernel's.
 */
inline void
ignore(cudaError_t cuda_error)
{
	if (cuda_error != cudaSuccess)
		(void) cudaGetLastError();
}

/* Throws if a kernel could not be launched.  A fault while the kernel runs is reported by a later
 * call. */
inline void
check_launch(const char *kernel)
{
	check(cudaGetLastError(), kernel);
}

/*
 * Makes a device current for a scope.  Every public function has a DeviceScope, and what touches
 * another device within it has a further one, at whose end the outer one's device is current again.
 *
 * At the end of the outermost scope the device stays current.  Setting the caller's device back
 * could create a context: a thread that has chosen no device is on device 0, where a context takes
 * half a gigabyte of memory, or fails because another process uses the device exclusively.
 */
class DeviceScope
{
public:
	explicit DeviceScope(int ordinal);
	~DeviceScope();
	DeviceScope(const DeviceScope &) = delete;
	DeviceScope &operator=(const DeviceScope &) = delete;

private:
	int			outer_;			/* the device of the scope around this one; -1: there is none */
};

struct PackedShared;

} /* namespace hpsort */

/*
 * The public, opaque context.  Its memory pool serves no other context.  The context keeps its
 * limit by counting the bytes of its DeviceBuffers, because a driver's pool has no limit below
 * the device's memory.
 */
struct HpsortCuda
{
	int			ordinal = 0;
	HpsortCudaLimits limits = {};
	bool		overlap = false;	/* the result of sweeps_overlap() */
	cudaMemPool_t pool = nullptr;
	std::atomic<uint64_t> limit{0};
	std::mutex	lock;			/* protects the fields below */
	uint64_t	used = 0;
	uint64_t	peak = 0;
	std::vector<HpsortCudaVerdict *> idle_verdicts;
	std::vector<void *> verdict_pages;	/* all pages that verdicts were cut from */
	hpsort::PackedShared *packed = nullptr; /* packed.cuh; made at its first use */
};

namespace hpsort
{

/*
 * Device memory from the context's pool, in stream order.  Work put on the stream after the
 * constructor may use it; release() gives it back behind the work put on the stream before.
 * Counts against the context's limit from the constructor to release().
 */
class DeviceBuffer
{
public:
	DeviceBuffer() = default;
	DeviceBuffer(HpsortCuda *context, cudaStream_t stream, uint64_t bytes,
				 const char *what);
	DeviceBuffer(DeviceBuffer &&other) noexcept { *this = std::move(other); }
	DeviceBuffer &operator=(DeviceBuffer &&other) noexcept
	{
		if (this != &other)
		{
			release();
			context_ = other.context_;
			stream_ = other.stream_;
			memory_ = other.memory_;
			bytes_ = other.bytes_;
			other.memory_ = nullptr;
			other.bytes_ = 0;
		}
		return *this;
	}
	~DeviceBuffer() { release(); }
	DeviceBuffer(const DeviceBuffer &) = delete;
	DeviceBuffer &operator=(const DeviceBuffer &) = delete;

	void		release();
	/* gives the memory back in the order of the stream that used it last */
	void		release_on(cudaStream_t stream)
	{
		follow(stream);
		release();
	}

	/* the memory will be given back in the order of another stream */
	void		follow(cudaStream_t stream) { stream_ = stream; }

	template <typename T> T *as() const { return static_cast<T *>(memory_); }
	uint64_t	bytes() const { return bytes_; }

private:
	HpsortCuda *context_ = nullptr;
	cudaStream_t stream_ = nullptr;
	void	   *memory_ = nullptr;
	uint64_t	bytes_ = 0;
};

/* Cuts one DeviceBuffer into arrays, each on a 256-byte boundary. */
class Carver
{
public:
	explicit Carver(const DeviceBuffer &buffer)
		: next_(buffer.as<char>()), end_(next_ + buffer.bytes()) {}
	template <typename T> T *take(uint64_t count)
	{
		T		   *part = reinterpret_cast<T *>(next_);

		next_ += (count * sizeof(T) + 255) / 256 * 256;
		if (next_ > end_)
			fail(HPSORT_CUDA_FAILED, "workspace arithmetic is wrong");
		return part;
	}

private:
	char	   *next_;
	char	   *end_;
};

/* A verdict in pinned memory, which kernels write to directly: no copy and no extra launch.  The
 * context keeps verdicts for reuse. */
class VerdictSlot
{
public:
	/* a HpsortCudaVerdict takes 16 bytes; other reports of kernels use the same slots */
	static constexpr size_t bytes = 64;

	/* stream: the one on which the kernels run that write to the slot */
	VerdictSlot(HpsortCuda *context, cudaStream_t stream);
	~VerdictSlot();
	VerdictSlot(const VerdictSlot &) = delete;
	VerdictSlot &operator=(const VerdictSlot &) = delete;
	HpsortCudaVerdict *operator->() const { return verdict_; }
	HpsortCudaVerdict *get() const { return verdict_; }

private:
	HpsortCuda *context_;
	cudaStream_t stream_;
	HpsortCudaVerdict *verdict_;
};

/* Prepares a verdict for the next kernels: nothing is outside. */
inline void
clear_verdict(HpsortCudaVerdict *verdict)
{
	verdict->n_outside = 0;
	verdict->key = 0;
	verdict->distinct = 0;
}

/*
 * Launches a kernel that may start while the last blocks of the kernel before it on the stream
 * are still at work; the kernel itself waits for them by wait_for_kernel_before() (device.cuh).
 * The first of several of these kernels in a row must be launched as usual, so that it waits for
 * all that was on the stream.
 */
template <typename... Parameters, typename... Arguments>
void
launch_behind(const HpsortCuda *context, cudaStream_t stream,
			  void (*kernel)(Parameters...), uint32_t blocks, int block_threads,
			  size_t shared_bytes, const char *what, Arguments... arguments)
{
	cudaLaunchAttribute attribute;
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(blocks);
	config.blockDim = dim3(block_threads);
	config.dynamicSmemBytes = shared_bytes;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = context->overlap ? 1 : 0;
	check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...),
		  what);
}

/* Lets a kernel have this many bytes of dynamic shared memory on the current device. */
template <typename Kernel>
void
allow_shared(Kernel kernel, uint64_t bytes)
{
	check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
							   cudaFuncAttributeMaxDynamicSharedMemorySize,
							   static_cast<int>(bytes)), "set up a kernel");
}

/* An event without timing, owned. */
class Event
{
public:
	Event()
	{
		check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming),
			  "create an event");
	}
	~Event()
	{
		if (event_)
			ignore(cudaEventDestroy(event_));
	}
	Event(Event &&other) noexcept : event_(other.event_) { other.event_ = nullptr; }
	Event(const Event &) = delete;
	Event &operator=(const Event &) = delete;

	void record(cudaStream_t stream)
	{
		check(cudaEventRecord(event_, stream), "record an event");
	}
	void make_wait(cudaStream_t stream)
	{
		check(cudaStreamWaitEvent(stream, event_, 0), "wait for an event");
	}
	bool is_done()
	{
		cudaError_t rc = cudaEventQuery(event_);

		if (rc == cudaErrorNotReady)
		{
			(void) cudaGetLastError();
			return false;
		}
		check(rc, "query an event");
		return true;
	}
	/* waits for the event; what: the work that is waited for, for the error's text */
	void wait(const char *what = "wait for an event")
	{
		check(cudaEventSynchronize(event_), what);
	}

private:
	cudaEvent_t event_ = nullptr;
};

/* A stream that does not wait for the default stream, owned. */
class Stream
{
public:
	Stream()
	{
		check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
			  "create a stream");
	}
	~Stream() { ignore(cudaStreamDestroy(stream_)); }
	Stream(const Stream &) = delete;
	Stream &operator=(const Stream &) = delete;
	operator cudaStream_t() const { return stream_; }

private:
	cudaStream_t stream_ = nullptr;
};

/* Returns the code of the exception that is being handled, and fills *err, which may be null. */
HpsortCudaCode caught(HpsortCudaError *err) noexcept;

/* Runs body.  Returns HPSORT_CUDA_OK, or the code of what body throws, and fills *err, which may
 * be null. */
template <typename Body>
HpsortCudaCode
guarded(HpsortCudaError *err, Body body) noexcept
{
	if (err)
		memset(err, 0, sizeof(*err));
	try
	{
		body();
		return HPSORT_CUDA_OK;
	}
	catch (...)
	{
		return caught(err);
	}
}

} /* namespace hpsort */

#endif							/* HPSORT_CUDA_CONTEXT_CUH */

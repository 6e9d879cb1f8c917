/*-------------------------------------------------------------------------
 *
 * devices.cu
 *	  The public calls that describe devices, open and close contexts, and pin host memory.
 *
 * The bodies of calls of hpsort_cuda.h, whose comments are the contract.
 *
 *-------------------------------------------------------------------------
 */
#include "context.cuh"
#include "packed.cuh"
#include "passes/radix.cuh"
#include "sort.cuh"

namespace hpsort
{

/*
 * Returns one attribute.  This costs less than reading all properties, which takes a millisecond.
 */
static int
attribute(cudaDeviceAttr which, int ordinal)
{
	int			value = 0;

	check(cudaDeviceGetAttribute(&value, which, ordinal),
		  "read a device attribute");
	return value;
}

/* Reads all that the choice of a regime depends on, so that a choice can be repeated on a host
 * without this device. */
static void
read_limits(int ordinal, HpsortCudaLimits *limits)
{
	cudaDeviceProp properties;

	/* only for the size of memory, which no attribute has */
	check(cudaGetDeviceProperties(&properties, ordinal),
		  "read the device's properties");
	limits->sms = attribute(cudaDevAttrMultiProcessorCount, ordinal);
	limits->shared_bytes =
		attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
	limits->memory_bytes = properties.totalGlobalMem;
}

/* Never launched: check_compiled_for() asks whether it has machine code for the device. */
static __global__ void
empty_kernel()
{
}

/* Fails if the device is older than all architectures that the library was compiled for.
 * Otherwise the first launch would fail. */
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

/* Needs no context.  A host without a driver has 0 devices; this is no error. */
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

/* Asking for free memory creates the process's CUDA context on the device, which takes some 0.3 s
 * and half a gigabyte of the device's memory. */
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
		check(cudaMemGetInfo(&memory_free, &memory_total),
			  "read the device's memory");
		info->memory_total = memory_total;
		info->memory_free = memory_free;
	});
}

/* What a device lacks for good (a kernel image, memory pools, cooperative launches) is an error
 * here and not in the middle of a job. */
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
			context->limit = memory_limit > 0 ? memory_limit : context->limits.memory_bytes;
			/* Not the device's default pool, which other code of this process may use: its
			 * settings and hpsort_cuda_trim() would apply to that code's memory. */
			properties.allocType = cudaMemAllocationTypePinned;
			properties.location.type = cudaMemLocationTypeDevice;
			properties.location.id = ordinal;
			check(cudaMemPoolCreate(&context->pool, &properties),
				  "create a memory pool");
			/* keep freed memory: getting it from the driver again is slow */
			check(cudaMemPoolSetAttribute(context->pool,
										  cudaMemPoolAttrReleaseThreshold,
										  &keep), "set up the memory pool");
			/* asked once, as the driver's answers stay the same */
			configure_kernels(context->limits);
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

/* Waits for the device, because calls on a caller's stream may still use memory of the pool.  The
 * object itself is deleted even after a sticky error. */
extern "C" void
hpsort_cuda_close(HpsortCuda *context)
{
	if (context == nullptr)
		return;
	(void) guarded(nullptr, [&] {
		DeviceScope scope(context->ordinal);

		ignore(cudaDeviceSynchronize());
		delete context->packed;
		for (void *page : context->verdict_pages)
			ignore(cudaFreeHost(page));
		ignore(cudaMemPoolDestroy(context->pool));
	});
	delete context;
}

/* Counts what buffers hold, not what the pool keeps for reuse. */
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

/* Gives what the pool keeps for reuse back to the driver.  Memory that buffers hold stays.
 * Memory whose release still waits for its stream may stay, too. */
extern "C" HpsortCudaCode
hpsort_cuda_trim(HpsortCuda *context, HpsortCudaError *err)
{
	return guarded(err, [&] {
		DeviceScope scope(context->ordinal);

		check(cudaMemPoolTrimTo(context->pool, 0), "trim the memory pool");
	});
}

/* For memory that several processes map (a memfd), of which one pins it.  Pinning is faster if
 * the pages have been touched before. */
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

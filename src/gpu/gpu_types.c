/*
 * gpu_types.c
 *		Names of what gpu_types.h declares.
 */
#include "gpu/gpu_types.h"

static const char *const failure_names[GPU_FAILURES] = {
	[GPU_OK] = "ok",
	[GPU_DISABLED] = "disabled",
	[GPU_NOT_RUNNING] = "not_running",
	[GPU_NO_DEVICE] = "no_device",
	[GPU_CONNECT] = "connect",
	[GPU_PROTOCOL] = "protocol",
	[GPU_TIMEOUT] = "timeout",
	[GPU_LOST] = "lost",
	[GPU_NO_MEMORY] = "no_memory",
	[GPU_NO_CHUNKS] = "no_chunks",
	[GPU_RESOURCES] = "resources",
	[GPU_DEVICE_ERROR] = "device_error",
	[GPU_UNSUPPORTED] = "unsupported",
};

const char *
gpu_failure_name(GpuFailure failure)
{
	if ((unsigned) failure >= GPU_FAILURES)
		return "unknown";
	return failure_names[failure];
}

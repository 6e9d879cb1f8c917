/*
 * client_status.c
 *		Asking the GPU service for its devices (see client_status.h).
 */
#include "gpu/client_status.h"

#include "gpu/client_connection.h"
#include "gpu/client_job.h"

SortStatus
gpu_client_devices(GpuClient *c, GpuDeviceStatus *devices, int max, int *count, SortError *err)
{
	GpuMessage	message;
	SortStatus	status;
	uint32_t	expected = 0;

	*count = 0;
	gpu_message_init(&message, GPU_MSG_ASK_DEVICES, 0);
	status = client_send(c, &message, err);
	while (status == SORT_OK)
	{
		const GpuDevice *device = &message.body.device;
		bool		got;

		status = client_receive(c, true, &message, &got, err);
		if (status != SORT_OK)
			break;
		if (message.header.type != GPU_MSG_DEVICE)
		{
			/* Messages for the current job must not get lost meanwhile. */
			status = client_job_message(c, &message, err);
			continue;
		}
		if (device->index != expected++)
			return client_fail(c, err, GPU_PROTOCOL,
							   "bad message from the GPU service: device out of turn");
		if (device->count > 0 && *count < max)
			devices[(*count)++] = device->status;
		if (device->count == 0 || expected == device->count)
			break;
	}
	return status;
}

/*
 * devices.c
 *		The service's devices (see devices.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "gpud/devices.h"
#include "gpud/log.h"
#include "sort/clock.h"

/*
 * The share of a device's memory that extents may take unless a setting says how much: a sort
 * takes 3 to 5 times its keys, so that a column of 4-byte keys which fills a quarter can be
 * sorted beside it.
 */
#define EXTENTS_SHARE 4

/* Returns the bytes that extents may take of a device: as set, or a share of its memory. */
static uint64_t
extents_limit(const DeviceMemory *memory, const HpsortCudaDeviceInfo * info)
{
	uint64_t	most = memory->limit > 0 && memory->limit < info->memory_total ?
	memory->limit : info->memory_total;

	return memory->extents_auto ? most / EXTENTS_SHARE : memory->extents;
}

/* Opens the next device, of that ordinal; if that fails, text (GPU_TEXT_SIZE) is a phrase. */
static bool
add_device(Devices *devices, int ordinal, char *text)
{
	Device	   *d = &devices->list[devices->count];
	HpsortCudaError err;

	memset(d, 0, sizeof(*d));
	if (hpsort_cuda_device_info(ordinal, &d->info, &err) != HPSORT_CUDA_OK ||
		hpsort_cuda_open(ordinal, devices->memory.limit, &d->cuda, &err) != HPSORT_CUDA_OK)
	{
		snprintf(text, GPU_TEXT_SIZE, "%.150s", err.text);
		return false;
	}
	if (!extents_init(&d->extents, extents_limit(&devices->memory, &d->info)))
	{
		hpsort_cuda_close(d->cuda);
		snprintf(text, GPU_TEXT_SIZE, "out of memory");
		return false;
	}
	log_line(LOG_INFO, "opened device %d: %s", d->info.ordinal, d->info.name);
	devices->count++;
	return true;
}

/*
 * Reads a list of ordinals, "0,2" for example, into ordinals, which has room for most, and sets *n
 * to their number.  False if the text is not a list of ordinals, or has more than most.
 */
static bool
parse_ordinals(const char *list, int *ordinals, int *n, int most)
{
	*n = 0;
	for (;;)
	{
		char	   *end;
		long		ordinal = strtol(list, &end, 10);

		if (end == list || *list < '0' || *list > '9' || ordinal > 1023 || *n == most)
			return false;
		ordinals[(*n)++] = (int) ordinal;
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

/* Counts the GPUs of this host; false if there is none, and text (GPU_TEXT_SIZE) is a phrase. */
static bool
count_gpus(int *count, char *text)
{
	HpsortCudaError err;

	if (hpsort_cuda_device_count(count, &err) != HPSORT_CUDA_OK)
		snprintf(text, GPU_TEXT_SIZE, "%.150s", err.text);
	else if (*count == 0)
		snprintf(text, GPU_TEXT_SIZE, "no NVIDIA driver or no usable GPU on this host");
	else
		return true;
	return false;
}

/* Opens the GPUs that which names, and returns what devices_open returns. */
static int
open_gpus(Devices *devices, const char *which, char *text)
{
	int			ordinals[DEVICES_MAX];
	int			n = 0;
	int			present = 0;

	if (strcmp(which, "auto") != 0 && !parse_ordinals(which, ordinals, &n, DEVICES_MAX))
	{
		snprintf(text, GPU_TEXT_SIZE, "invalid list of devices: \"%.100s\"", which);
		return EXIT_USAGE;
	}
	if (!count_gpus(&present, text))
		return EXIT_NO_DEVICE;

	devices->list = calloc(n > 0 ? (size_t) n : 1, sizeof(Device));
	if (devices->list == NULL)
	{
		snprintf(text, GPU_TEXT_SIZE, "out of memory");
		return EXIT_INTERNAL;
	}

	/*
	 * "auto" takes the first GPU that can be used, and no more: each would cost memory on it,
	 * which only an administrator can decide to spend.
	 */
	if (n == 0)
	{
		for (int i = 0; i < present; i++)
		{
			if (add_device(devices, i, text))
				return EXIT_ORDERLY;
			if (i + 1 < present)
				log_line(LOG_WARNING, "%s", text);
		}
		return EXIT_NO_DEVICE;
	}
	for (int i = 0; i < n; i++)
	{
		if (ordinals[i] >= present)
			snprintf(text, GPU_TEXT_SIZE, "there is no device %d", ordinals[i]);
		if (ordinals[i] >= present || !add_device(devices, ordinals[i], text))
			return EXIT_NO_DEVICE;
	}
	return EXIT_ORDERLY;
}

int
devices_open(Devices *devices, const char *which, const DeviceMemory *memory, char *text)
{
	memset(devices, 0, sizeof(*devices));
	devices->memory = *memory;
	devices->idle_since = sort_clock_ms();
	pthread_mutex_init(&devices->lock, NULL);
	devices->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (devices->wake < 0)
	{
		snprintf(text, GPU_TEXT_SIZE, "could not create an event: %s", strerror(errno));
		return EXIT_INTERNAL;
	}
	return open_gpus(devices, which, text);
}

/* The first device pins for all: pinned memory is the whole process's. */
bool
devices_pin(Devices *devices, void *memory, size_t bytes, char *text)
{
	HpsortCudaError err;

	if (hpsort_cuda_pin(devices->list[0].cuda, memory, bytes, &err) == HPSORT_CUDA_OK)
		return true;
	snprintf(text, GPU_TEXT_SIZE, "%.150s", err.text);
	return false;
}

void
devices_close(Devices *devices)
{
	for (int i = 0; i < devices->count; i++)
	{
		extents_destroy(&devices->list[i].extents);
		hpsort_cuda_close(devices->list[i].cuda);
	}
	free(devices->list);
	devices->count = 0;
}

Device *
devices_take(Devices *devices, uint32_t number)
{
	Device	   *best = NULL;

	pthread_mutex_lock(&devices->lock);
	for (int i = 0; i < devices->count; i++)
	{
		Device	   *d = &devices->list[i];

		if (!d->failed && (number == 0 ? best == NULL || d->jobs_running < best->jobs_running :
						   (uint32_t) i == (number - 1) % (uint32_t) devices->count))
			best = d;
	}
	if (best)
	{
		best->jobs_running++;
		devices->jobs++;
	}
	pthread_mutex_unlock(&devices->lock);
	return best;
}

void
devices_set_epoch(Devices *devices, uint64_t epoch)
{
	for (int i = 0; i < devices->count; i++)
		extents_set_epoch(&devices->list[i].extents, epoch);
}

int
devices_others(Devices *devices, const Device *device, HpsortCuda * *others)
{
	int			n = 0;

	pthread_mutex_lock(&devices->lock);
	for (int i = 0; i < devices->count; i++)
		if (&devices->list[i] != device && !devices->list[i].failed &&
			devices->list[i].info.ordinal != device->info.ordinal)
			others[n++] = devices->list[i].cuda;
	pthread_mutex_unlock(&devices->lock);
	return n;
}

/* A lost device wakes the main loop, which ends the process: only a new one can use it. */
void
devices_put(Devices *devices, Device *device, bool done, const char *error, bool lost)
{
	pthread_mutex_lock(&devices->lock);
	device->jobs_running--;
	if (done)
		device->jobs_done++;
	if (error)
		snprintf(device->last_error, sizeof(device->last_error), "%s", error);
	if (lost)
	{
		uint64_t	one = 1;
		ssize_t		rc;

		device->failed = true;
		rc = write(devices->wake, &one, sizeof(one));
		(void) rc;
	}
	if (--devices->jobs == 0)
		devices->idle_since = sort_clock_ms();
	pthread_mutex_unlock(&devices->lock);
}

void
devices_status(Devices *devices, int index, GpuDeviceStatus *status)
{
	Device	   *d = &devices->list[index];
	HpsortCudaDeviceInfo info;
	uint64_t	peak;
	bool		failed;

	pthread_mutex_lock(&devices->lock);
	failed = d->failed;
	pthread_mutex_unlock(&devices->lock);
	memset(status, 0, sizeof(*status));
	status->ordinal = d->info.ordinal;
	snprintf(status->name, sizeof(status->name), "%.127s", d->info.name);
	status->memory_total = d->info.memory_total;
	/* Not under the lock: the engine may be slow to answer. */
	if (!failed && hpsort_cuda_device_info(d->info.ordinal, &info, NULL) == HPSORT_CUDA_OK)
		status->memory_free = info.memory_free;
	hpsort_cuda_memory(d->cuda, &status->memory_used, &peak, 0);
	extents_status(&d->extents, &status->extents, &status->extent_bytes);
	pthread_mutex_lock(&devices->lock);
	status->jobs_running = d->jobs_running;
	status->jobs_done = d->jobs_done;
	snprintf(status->state, sizeof(status->state), "%s", d->failed ? "failed" : "ready");
	snprintf(status->last_error, sizeof(status->last_error), "%s", d->last_error);
	pthread_mutex_unlock(&devices->lock);
}

int64_t
devices_idle_ms(Devices *devices)
{
	int64_t		idle;

	pthread_mutex_lock(&devices->lock);
	idle = devices->jobs > 0 ? 0 : sort_clock_ms() - devices->idle_since;
	pthread_mutex_unlock(&devices->lock);
	return idle;
}

void
devices_trim(Devices *devices)
{
	for (int i = 0; i < devices->count; i++)
		(void) hpsort_cuda_trim(devices->list[i].cuda, NULL);
}

int
devices_probe(void)
{
	HpsortCudaDeviceInfo info;
	HpsortCudaError err;
	char		text[GPU_TEXT_SIZE];
	int			count;

	if (!count_gpus(&count, text))
	{
		log_line(LOG_ERROR, "%s", text);
		return EXIT_NO_DEVICE;
	}
	for (int i = 0; i < count; i++)
		if (hpsort_cuda_device_info(i, &info, &err) == HPSORT_CUDA_OK)
			printf("%d: %s, %llu MiB\n", i, info.name,
				   (unsigned long long) (info.memory_total >> 20));
		else
			printf("%d: %s\n", i, err.text);
	return EXIT_ORDERLY;
}

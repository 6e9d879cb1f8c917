/*
 * devices.h
 *		The service's devices: opening them, giving jobs the least loaded one, and
 *		their state for hpsort_devices().
 */
#ifndef HPSORT_GPUD_DEVICES_H
#define HPSORT_GPUD_DEVICES_H

#include <pthread.h>

#include "gpu/protocol.h"
#include "gpud/extents.h"
#include "hpsort_cuda.h"

/* The most devices that one service can have. */
#define DEVICES_MAX 64

typedef struct Device
{
	HpsortCuda *cuda;			/* the engine, opened once for all jobs */
	HpsortCudaDeviceInfo info;	/* as it was when the device was opened */
	Extents		extents;		/* kept for jobs to come */

	/* under the lock of Devices */
	uint32_t	jobs_running;	/* between devices_take and devices_put */
	uint64_t	jobs_done;		/* that have sorted their keys */
	bool		failed;			/* by a sticky error */
	char		last_error[GPU_TEXT_SIZE];	/* a phrase; empty: none so far */
} Device;

/* What the service may use of a device's memory, in bytes. */
typedef struct DeviceMemory
{
	uint64_t	limit;			/* for all, 0: none */
	uint64_t	extents;		/* for extents, 0: none are kept */
	bool		extents_auto;	/* a share of limit, or of what the device has */
} DeviceMemory;

typedef struct Devices
{
	Device	   *list;			/* count of them, fixed once opened */
	int			count;
	DeviceMemory memory;		/* of each device */
	SortDeviceCosts costs;		/* measured by costs.c */
	pthread_mutex_t lock;		/* of what follows, and of parts of each device */
	uint32_t	jobs;			/* running on all */
	int64_t		idle_since;		/* ms; when the last one ended */
	int			wake;			/* eventfd: a device needs a new process */
} Devices;

/*
 * Opens the first usable GPU for "auto", or the GPUs of a list of ordinals.  Returns an exit
 * code; text (GPU_TEXT_SIZE) is a phrase unless that is EXIT_ORDERLY.
 */
extern int	devices_open(Devices *devices, const char *which, const DeviceMemory *memory,
						 char *text);

/* Pins memory for all devices; if that fails, text (GPU_TEXT_SIZE) is a phrase. */
extern bool devices_pin(Devices *devices, void *memory, size_t bytes, char *text);

/* Closes all; no job may be running. */
extern void devices_close(Devices *devices);

/*
 * A device with one more job on it: the one before that number, which is from 1 on, modulo how many
 * there are; NULL if it has failed.  0: the least loaded one; NULL if all have failed.
 */
extern Device *devices_take(Devices *devices, uint32_t number);

/* All devices forget extents of other epochs than a client has named; 0 changes nothing. */
extern void devices_set_epoch(Devices *devices, uint64_t epoch);

/*
 * Fills others (room for DEVICES_MAX) with all other devices that can be used, and
 * returns their number: for a job that may use several devices, and that only its
 * own device counts.  A GPU that is in the list twice is there once for such a job.
 */
extern int	devices_others(Devices *devices, const Device *device, HpsortCuda * *others);

/*
 * A job on device is over.  done: it came to its end.  error is a phrase for what it
 * failed of, or NULL.  lost: that was an error which the device does not recover from.
 */
extern void devices_put(Devices *devices, Device *device, bool done, const char *error, bool lost);

/* Fills in the state of the device of that index, for hpsort_devices().  May ask the driver. */
extern void devices_status(Devices *devices, int index, GpuDeviceStatus *status);

/* Milliseconds since the last job ended; 0 while there is one. */
extern int64_t devices_idle_ms(Devices *devices);

/* Gives back the memory that devices keep for jobs to come. */
extern void devices_trim(Devices *devices);

/* Prints one line for each GPU on stdout; returns the exit code. */
extern int	devices_probe(void);

#endif							/* HPSORT_GPUD_DEVICES_H */

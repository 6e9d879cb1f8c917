/*
 * exit_codes.h
 *		Exit codes of hpsort-gpud: the service ends with them, and the supervisor
 *		decides by them whether to start another one.
 */
#ifndef HPSORT_GPU_EXIT_CODES_H
#define HPSORT_GPU_EXIT_CODES_H

enum
{
	EXIT_ORDERLY = 0,			/* stopped by a signal */
	EXIT_INTERNAL = 1,			/* any failure that none of the others names */
	EXIT_USAGE = 2,				/* options that are not valid */
	EXIT_NO_DEVICE = 3,			/* no driver, or no device that can be used */
	EXIT_DEVICE_LOST = 4,		/* a CUDA error that only a new process gets rid of */
	EXIT_OCCUPIED = 5			/* another process listens at the socket's path */
};

#endif							/* HPSORT_GPU_EXIT_CODES_H */

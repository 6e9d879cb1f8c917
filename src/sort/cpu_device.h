/*
 * cpu_device.h
 *		The CPU as a device: sorts in the calling process, chunks where they lie.
 */
#ifndef HPSORT_CPU_DEVICE_H
#define HPSORT_CPU_DEVICE_H

#include "sort/device.h"

#ifdef __cplusplus
extern "C"
{
#endif

extern const SortDevice cpu_device;

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_CPU_DEVICE_H */

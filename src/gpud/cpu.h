/*
 * cpu.h
 *		The CPU as the service's device.
 */
#ifndef HPSORT_GPUD_CPU_H
#define HPSORT_GPUD_CPU_H

#include "gpud/engine.h"

/* Has one device, whose ordinal is -1. */
extern const Engine cpu_engine;

#endif							/* HPSORT_GPUD_CPU_H */

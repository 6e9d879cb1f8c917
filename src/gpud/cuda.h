/*
 * cuda.h
 *		NVIDIA GPUs as the service's devices.
 */
#ifndef HPSORT_GPUD_CUDA_H
#define HPSORT_GPUD_CUDA_H

#include "gpud/engine.h"

/* NULL in a build without CUDA. */
extern const Engine *cuda_engine(void);

#endif							/* HPSORT_GPUD_CUDA_H */

/*
 * kernel_export.h
 *		What gives a kernel, compiled for each instruction set, its C function.
 *
 * For the .cpp files of kernels, inside their namespace and HWY_ONCE.
 */
#ifndef HPSORT_KERNEL_EXPORT_H
#define HPSORT_KERNEL_EXPORT_H

/* The C function name calls Kernel of the best instruction set that the processor has. */
#define KERNEL(result, name, Kernel, parameters, arguments) \
	HWY_EXPORT(Kernel); \
	extern "C" result \
	name parameters \
	{ \
		return HWY_DYNAMIC_DISPATCH(Kernel) arguments; \
	}

#endif							/* HPSORT_KERNEL_EXPORT_H */

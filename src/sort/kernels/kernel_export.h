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

/*
 * Calls Kernel<T>(values, ...) of the type T of the values: unsigned integers of width bytes, 1, 2
 * or 4.
 */
#define KERNEL_OF_WIDTH(Kernel, width, values, ...) \
	((width) == 1 ? Kernel<uint8_t>((const uint8_t *) (values), __VA_ARGS__) \
	 : (width) == 2 ? Kernel<uint16_t>((const uint16_t *) (values), __VA_ARGS__) \
	 : Kernel<uint32_t>((const uint32_t *) (values), __VA_ARGS__))

#endif							/* HPSORT_KERNEL_EXPORT_H */

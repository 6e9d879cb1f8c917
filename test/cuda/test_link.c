/*-------------------------------------------------------------------------
 *
 * test_link.c
 *	  The library from plain C, linked as the service links it.  Runs with and
 *	  without a GPU: no driver means no devices, not an error.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "hpsort_cuda.h"

int
main(void)
{
	HpsortCuda *context = NULL;
	HpsortCudaError err;
	int			count = -1;

	if (hpsort_cuda_device_count(&count, &err) != HPSORT_CUDA_OK || count < 0)
	{
		fprintf(stderr, "device count: %s\n", err.text);
		return 1;
	}
	if (hpsort_cuda_open(count, 0, &context, &err) != HPSORT_CUDA_NO_DEVICE ||
		context != NULL || err.text[0] == '\0')
	{
		fprintf(stderr, "a device that is not there was opened\n");
		return 1;
	}
	printf("%d devices; opening one more: %s\n", count, err.text);
	return 0;
}

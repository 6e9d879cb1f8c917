/*
 * info_functions.c
 *		hpsort_algorithms() and hpsort_devices(): what exists, what is usable.
 */
#include "postgres.h"

#include <unistd.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "algorithms.h"
#include "kernels.h"
#include "pg_sorter.h"

PG_FUNCTION_INFO_V1(hpsort_algorithms);
PG_FUNCTION_INFO_V1(hpsort_devices);

/* hpsort_algorithms() returns SETOF record */
Datum
hpsort_algorithms(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			a;

	InitMaterializedSRF(fcinfo, 0);
	for (a = SORT_ALGORITHM_AUTO + 1; a < SORT_ALGORITHM_COUNT; a++)
	{
		const AlgorithmInfo *info = algorithm_info((SortAlgorithm) a);
		Datum		values[6];
		bool		isnull[6] = {0};
		Datum		devices[2];
		int			n = 0;

		if (info->cpu)
			devices[n++] = CStringGetTextDatum("cpu");
		if (info->gpu)
			devices[n++] = CStringGetTextDatum("gpu");
		values[0] = CStringGetTextDatum(info->name);
		values[1] = CStringGetTextDatum(info->paper);
		values[2] = PointerGetDatum(construct_array(devices, n, TEXTOID, -1, false, TYPALIGN_INT));
		values[3] = BoolGetDatum(info->automatic);
		values[4] = BoolGetDatum(info->permutation);
		values[5] = CStringGetTextDatum(info->limits);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
	return (Datum) 0;
}

/* hpsort_devices() returns SETOF record */
Datum
hpsort_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[4];
	bool		isnull[4] = {0};
	char	   *name;

	InitMaterializedSRF(fcinfo, 0);

	name = psprintf("%ld processors, %s", sysconf(_SC_NPROCESSORS_ONLN), kernel_target());
	values[0] = CStringGetTextDatum("cpu");
	values[1] = CStringGetTextDatum(name);
	values[2] = BoolGetDatum(true);
	isnull[3] = true;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);

	values[0] = CStringGetTextDatum("gpu");
	isnull[1] = true;
	values[2] = BoolGetDatum(false);
	values[3] = CStringGetTextDatum(pg_gpu_reason());
	isnull[3] = false;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	return (Datum) 0;
}

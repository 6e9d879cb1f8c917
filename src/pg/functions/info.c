/*
 * info.c
 *		hpsort_algorithms(), hpsort_devices(), hpsort_last() and hpsort_stat_gpu():
 *		what exists, what is usable, what was done.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "pg/gpu/gpu.h"
#include "pg/interrupts.h"
#include "pg/last_sort.h"
#include "sort/algorithms.h"
#include "sort/kernels/kernels.h"

PG_FUNCTION_INFO_V1(hpsort_algorithms);
PG_FUNCTION_INFO_V1(hpsort_devices);
PG_FUNCTION_INFO_V1(hpsort_last);
PG_FUNCTION_INFO_V1(hpsort_stat_gpu);
PG_FUNCTION_INFO_V1(hpsort_stat_gpu_reset);

/*
 * hpsort_algorithms() returns SETOF record: a row for each algorithm, with its paper, where it
 * runs, whether "auto" may choose it, whether it gives permutations, and the limits and the memory
 * that people should know
 */
Datum
hpsort_algorithms(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int a = SORT_ALGORITHM_AUTO + 1; a < SORT_ALGORITHM_COUNT; a++)
	{
		const AlgorithmInfo *info = algorithm_info((SortAlgorithm) a);
		Datum		values[7];
		bool		isnull[7] = {0};
		Datum		devices[] = {CStringGetTextDatum("cpu"), CStringGetTextDatum("gpu")};

		values[0] = CStringGetTextDatum(info->name);
		values[1] = CStringGetTextDatum(info->paper);
		values[2] = PointerGetDatum(construct_array(devices, 2, TEXTOID, -1, false, TYPALIGN_INT));
		values[3] = BoolGetDatum(!info->published);
		values[4] = BoolGetDatum(info->no_permutation == NULL);
		values[5] = CStringGetTextDatum(info->limits);
		values[6] = CStringGetTextDatum(info->memory);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
	return (Datum) 0;
}

/* Most GPUs of one host that are shown. */
#define DEVICES_MAX 64

#define DEVICE_COLUMNS 14

/*
 * hpsort_devices() returns SETOF record: a row for the CPU, then one for each GPU of the service.
 * Where there is none, the second row says why.  Asks a service that runs, but starts none.
 */
Datum
hpsort_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		values[DEVICE_COLUMNS] = {0};
	bool		isnull[DEVICE_COLUMNS];
	GpuDeviceStatus *devices = palloc(DEVICES_MAX * sizeof(GpuDeviceStatus));
	const char *state;
	char text[	192];
	int			count;

	InitMaterializedSRF(fcinfo, 0);

	memset(isnull, true, sizeof(isnull));
	values[0] = CStringGetTextDatum("cpu");
	values[2] = CStringGetTextDatum(psprintf("%ld processors, %s", sysconf(_SC_NPROCESSORS_ONLN),
											 kernel_target()));
	values[3] = BoolGetDatum(true);
	values[4] = CStringGetTextDatum("ready");
	isnull[0] = isnull[2] = isnull[3] = isnull[4] = false;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);

	values[0] = CStringGetTextDatum("gpu");
	count = connections_devices(devices, DEVICES_MAX, &state, text, sizeof(text));
	/* An interrupt ends that function's wait, but is not raised inside. */
	pg_check_interrupts();
	if (count == 0)
	{
		memset(isnull, true, sizeof(isnull));
		values[3] = BoolGetDatum(false);
		values[4] = CStringGetTextDatum(state);
		values[5] = CStringGetTextDatum(text);
		isnull[0] = isnull[3] = isnull[4] = isnull[5] = false;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
	for (int i = 0; i < count; i++)
	{
		const GpuDeviceStatus *d = &devices[i];
		bool		ready = strcmp(d->state, "ready") == 0;

		memset(isnull, false, sizeof(isnull));
		values[1] = Int32GetDatum(d->ordinal);
		values[2] = CStringGetTextDatum(d->name);
		values[3] = BoolGetDatum(ready);
		values[4] = CStringGetTextDatum(d->state);
		values[5] = CStringGetTextDatum(d->last_error);
		values[6] = Int64GetDatum((int64) d->memory_total);
		values[7] = Int64GetDatum((int64) d->memory_free);
		values[8] = Int64GetDatum((int64) d->memory_used);
		values[9] = Int32GetDatum((int32) d->jobs_running);
		values[10] = Int64GetDatum((int64) d->jobs_done);
		values[11] = CStringGetTextDatum(d->last_error);
		values[12] = Int64GetDatum((int64) d->extents);
		values[13] = Int64GetDatum((int64) d->extent_bytes);
		isnull[5] = ready;
		isnull[11] = d->last_error[0] == '\0';
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	}
	return (Datum) 0;
}

#define LAST_SORT_COLUMNS 16

/*
 * hpsort_last() returns SETOF record, with no row or one.
 *
 * The sort of a SECURITY DEFINER function is shown only to users who have its owner's rights.
 *
 * Bounds, and what follows from them, say something about the values of keys.  The caller may
 * lack the right to read these values: a view lets its users read with its owner's rights, and
 * may sort what it does not show.  Which query a sort was part of is not known, since an array
 * comes from wherever functions got it.  So bounds are shown only to roles that may see
 * everybody's statistics.
 */
Datum
hpsort_last(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const LastSort *last = last_sort_get();
	const SorterStats *stats = &last->stats;
	Datum		values[LAST_SORT_COLUMNS] = {0};
	bool		isnull[LAST_SORT_COLUMNS] = {0};
	bool		values_told = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	double		range;
	char		reason[512];

	InitMaterializedSRF(fcinfo, 0);
	if (last->function == NULL || !has_privs_of_role(GetUserId(), last->user))
		return (Datum) 0;

	range = (double) plan_range(stats->lo, stats->hi);
	plan_explain(&stats->plan, values_told, reason, sizeof(reason));
	values[0] = CStringGetTextDatum(last->function);
	values[1] = CStringGetTextDatum(sort_device_name(stats->plan.device));
	values[2] = CStringGetTextDatum(sort_algorithm_name(stats->plan.algorithm));
	values[3] = CStringGetTextDatum(reason);
	values[4] = Int64GetDatum((int64) stats->n);
	values[5] = Int64GetDatum(last->nulls);
	values[6] = Int32GetDatum(stats->lo);
	values[7] = Int32GetDatum(stats->hi);
	values[8] = Int64GetDatum((int64) stats->distinct);
	values[9] = Float8GetDatum((double) stats->n / range);
	values[10] = Float8GetDatum(range / (double) Max(stats->distinct, 1));
	values[11] = Int64GetDatum((int64) (stats->fill_ns / 1000));
	values[12] = Int64GetDatum((int64) (stats->sort_ns / 1000));
	values[13] = Int64GetDatum((int64) (stats->read_ns / 1000));
	values[14] = Int64GetDatum((int64) stats->bytes_moved);
	values[15] = Int32GetDatum(stats->threads);

	/* Without keys there are no bounds; distinct is not always counted. */
	isnull[6] = isnull[7] = isnull[9] = stats->n == 0 || !last->bounds;
	isnull[8] = stats->n > 0 && stats->distinct == 0;
	isnull[10] = stats->distinct == 0 || !last->bounds;
	/* Sorts of a few keys read no clock. */
	isnull[11] = isnull[12] = isnull[13] = stats->plan.reason == PLAN_FEW;
	/* Threads are the CPU's. */
	isnull[15] = stats->plan.device == SORT_DEVICE_GPU;
	/* The bytes moved include a histogram's, which has the range of the keys. */
	if (!values_told)
		isnull[6] = isnull[7] = isnull[8] = isnull[9] = isnull[10] = isnull[14] = true;

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull);
	return (Datum) 0;
}

/* Failures that are counted, in the order of the columns. */
static const GpuFailure shown_failures[] = {
	GPU_NOT_RUNNING, GPU_NO_DEVICE, GPU_CONNECT, GPU_PROTOCOL, GPU_TIMEOUT, GPU_LOST,
	GPU_NO_MEMORY, GPU_NO_CHUNKS, GPU_RESOURCES, GPU_DEVICE_ERROR, GPU_UNSUPPORTED
};

#define STAT_COLUMNS (9 + lengthof(shown_failures))

/*
 * hpsort_stat_gpu() returns record: the state of the service, and what all sessions have counted
 * since the last reset.  Without shared memory for them all counters are 0.
 */
Datum
hpsort_stat_gpu(PG_FUNCTION_ARGS)
{
	TupleDesc	tupdesc;
	Datum		values[STAT_COLUMNS];
	bool		isnull[STAT_COLUMNS] = {0};
	ServiceStatus status;
	uint64		counters[SERVICE_COUNTERS];
	TimestampTz since;
	int64		fallbacks = 0;
	int			n = 0;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	(void) service_status(&status);
	service_counters(counters, &since);
	for (size_t i = 0; i < lengthof(shown_failures); i++)
		fallbacks += (int64) counters[SERVICE_FALLBACKS + shown_failures[i]];

	values[n++] = CStringGetTextDatum(service_state_name(status.state));
	isnull[n] = status.service_pid == 0;
	values[n++] = Int32GetDatum(status.service_pid);
	for (size_t i = SERVICE_JOBS; i <= SERVICE_RESTARTS; i++)
		values[n++] = Int64GetDatum((int64) counters[i]);
	values[n++] = Int64GetDatum(fallbacks);
	for (size_t i = 0; i < lengthof(shown_failures); i++)
		values[n++] = Int64GetDatum((int64) counters[SERVICE_FALLBACKS + shown_failures[i]]);
	isnull[n] = since == 0;
	values[n++] = TimestampTzGetDatum(since);
	Assert(n == (int) STAT_COLUMNS);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, isnull)));
}

/* hpsort_stat_gpu_reset() returns void: sets the counters of hpsort_stat_gpu() to 0 */
Datum
hpsort_stat_gpu_reset(PG_FUNCTION_ARGS)
{
	service_reset_counters();
	PG_RETURN_VOID();
}

/*
 * guc.h
 *		hpsort's settings (GUCs).
 */
#ifndef HPSORT_PG_GUC_H
#define HPSORT_PG_GUC_H

/* Values of SortDeviceKind and SortAlgorithm. */
extern int	hpsort_device_setting;
extern int	hpsort_algorithm_setting;

/*
 * What the expected time of hpsort's work on the CPU is multiplied by (cost_units.h), and its
 * reciprocal, by which the choice of a device multiplies the GPU's.
 */
extern double hpsort_cost_factor;
extern double hpsort_gpu_cost_factor;

/*
 * Settings of the GPU service.  All but the last one are the cluster's, from the
 * configuration file; the last one is each session's.
 */
extern bool hpsort_gpu;
extern char *hpsort_gpu_devices;
extern int	hpsort_gpu_pinned_memory;	/* MB */
extern int	hpsort_gpu_memory_limit;	/* MB, 0: none */
extern int	hpsort_resident_gpu_memory; /* MB, -1: the service decides, 0: none */
extern int	hpsort_resident_gpu_stripe; /* MB */
extern int	hpsort_gpu_wait_timeout;	/* ms, 0: no limit */

/* What a setting for tests, hpsort.debug_*, demands of a node. */
typedef enum NodeDebug
{
	NODE_FORBID,				/* no plan has the node */
	NODE_ALLOW,					/* the planner chooses by estimated costs */
	NODE_FORCE,					/* every plan that could have the node has it */
} NodeDebug;

/* Of the custom scan nodes; the debug settings are NodeDebug. */
extern bool hpsort_enable_sort;
extern int	hpsort_debug_sort;
extern bool hpsort_enable_aggregate;
extern int	hpsort_debug_aggregate;
extern bool hpsort_enable_scan;
extern int	hpsort_debug_scan;

/* Resident columns: the cluster's memory for them, in MB, and each session's use of it. */
extern int	hpsort_resident_memory;
extern bool hpsort_enable_resident;

/* Who fills the extents of declared columns: background workers, or the queries that read them. */
typedef enum FillMode
{
	FILL_ON_USE,
	FILL_EAGER,
} FillMode;

extern int	hpsort_resident_fill;	/* FillMode */

/* After how many seconds they are written to a file again; 0: at a clean shutdown only. */
extern int	hpsort_resident_save;

/* Defines all settings, when the module is loaded. */
extern void guc_define(void);

#endif							/* HPSORT_PG_GUC_H */

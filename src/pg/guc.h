/*
 * settings.h
 *		hpsort's settings (GUCs).
 */
#ifndef HPSORT_SETTINGS_H
#define HPSORT_SETTINGS_H

/* Values of SortDeviceKind and SortAlgorithm. */
extern int	hpsort_device_setting;
extern int	hpsort_algorithm_setting;
extern int	hpsort_threads;

/*
 * Of the GPU service; all but the last three concern the whole cluster and come
 * from the configuration file.
 */
extern bool hpsort_gpu;
extern char *hpsort_gpu_devices;
extern int	hpsort_gpu_pinned_memory;	/* MB */
extern int	hpsort_gpu_memory_limit;	/* MB, 0: none */
extern int	hpsort_gpu_idle_shutdown;	/* s, 0: never */
extern int	hpsort_gpu_restart_delay;	/* ms */
extern int	hpsort_gpu_log_level;	/* 0 debug .. 3 error */
extern char *hpsort_gpu_fault;	/* empty: none */
extern int	hpsort_gpu_start_timeout;	/* ms */
extern int	hpsort_gpu_wait_timeout;	/* ms, 0: no limit */
extern double hpsort_gpu_cost_factor;

/* Of the custom scan HpSort Gather; a GatherDebug. */
extern bool hpsort_enable_gather;
extern int	hpsort_debug_gather;

extern void settings_define(void);

#endif							/* HPSORT_SETTINGS_H */

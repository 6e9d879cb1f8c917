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

/* Of the custom scan HpSort Gather; a GatherDebug. */
extern bool hpsort_enable_gather;
extern int	hpsort_debug_gather;

extern void settings_define(void);

#endif							/* HPSORT_SETTINGS_H */

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

extern void settings_define(void);

#endif							/* HPSORT_SETTINGS_H */

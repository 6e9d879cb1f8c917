/*
 * scripted_gpu.h
 *		A device that sorts with the tests' own reference, and breaks where its
 *		script says; for tests of what the sorter does with a GPU.
 */
#ifndef HPSORT_SCRIPTED_GPU_H
#define HPSORT_SCRIPTED_GPU_H

#include "sort/device/device.h"
#include "unit.h"

/* Where the device fails; each step is reached once a job. */
typedef enum Step
{
	NOWHERE,
	AT_COSTS,
	AT_OPEN,
	AT_ADD,
	AT_FINISH,
	AT_READ,					/* before anything is written */
	AT_HALF,					/* the first half is garbage by then */
	STEPS
} Step;

/* The device and its script. */
typedef struct Script
{
	Step		fail_at;
	SortStatus	with;			/* the status that it fails with */
	bool		early_only;		/* fails only jobs that were opened before finish */
	bool		expensive;		/* its costs are so high that no plan chooses it */

	/* what the device has seen */
	unsigned	asked;			/* for costs */
	unsigned	required;		/* for costs, with required set */
	unsigned	opened;
	unsigned	early;			/* opened with n unknown */
	unsigned	open_now;
	unsigned	failed;			/* calls of failed */
	uint64_t	added;			/* keys, in all jobs */
	char		words[160];		/* of the last failure */
} Script;

/* The script of the one device; tests read from it what the device has seen. */
extern Script script;

/*
 * An environment that has the scripted GPU, and device as the caller's choice.
 * The script starts anew: with the status "with" at fail_at, and nothing seen.
 */
extern void script_begin(Unit *u, SortDeviceKind device, Step fail_at, SortStatus with);

/* Resets s; fails the test if a job is still open, or memory taken. */
extern void script_end(Unit *u, Sorter *s);

#endif							/* HPSORT_SCRIPTED_GPU_H */

/*
 * job_rows.h
 *		Rows of several columns' extents in a job, and questions about its sorted keys.
 *
 * Called by job_messages.c: the first two for a job that is being filled, the last one for one
 * that is finished.  What they return is as in job_extents.h.
 */
#ifndef HPSORT_GPUD_JOB_ROWS_H
#define HPSORT_GPUD_JOB_ROWS_H

#include "gpud/job.h"

/* Handles ROWS: a layout lies in a chunk that is the client's. */
extern bool job_set_rows(Job *job, const GpuMessage *m);

/* Handles ADD_ROWS: answers in the chunk. */
extern bool job_add_rows(Job *job, const GpuMessage *m);

/* Handles LOOK: answers in the chunk. */
extern bool job_look_up(Job *job, const GpuMessage *m);

#endif							/* HPSORT_GPUD_JOB_ROWS_H */

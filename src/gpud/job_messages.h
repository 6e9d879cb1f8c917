/*
 * job_messages.h
 *		What a client's messages do to its job.
 */
#ifndef HPSORT_GPUD_JOB_MESSAGES_H
#define HPSORT_GPUD_JOB_MESSAGES_H

#include "gpud/job.h"

/*
 * Handles a message for a job: OPEN, or one with the current job's number.
 * False when the connection is over.  Blocks only in the engine's calls.
 */
extern bool job_message(Job *job, const GpuMessage *m);

#endif							/* HPSORT_GPUD_JOB_MESSAGES_H */

/*
 * poll.h
 *		Waiting for the other end of a connection to the GPU service, or for a chunk.
 */
#ifndef HPSORT_GPU_POLL_H
#define HPSORT_GPU_POLL_H

#include <poll.h>
#include <sched.h>

#include "sort/clock.h"

/*
 * How long to look before sleeping.  Most answers within a job come sooner, and a thread that
 * sleeps takes some 50 us to wake up where its CPU has become idle.  Of five statements by one and
 * by two H200s, seven medians are 0.1 to 0.4 ms less with it, of 1.7 to 7.4, and three are more, in
 * one run each (bench/results/2026-11-29-h200-x2-awake.csv).
 */
#define POLL_AWAKE_NS 100000

/* Does what poll() does, but looks for a while before it sleeps. */
static inline int
gpu_poll(struct pollfd *list, nfds_t n, int timeout_ms)
{
	const uint64_t until = sort_clock() + POLL_AWAKE_NS;
	int			ready = poll(list, n, 0);

	while (ready == 0 && timeout_ms != 0 && sort_clock() < until)
	{
		sched_yield();
		ready = poll(list, n, 0);
	}
	return ready != 0 || timeout_ms == 0 ? ready : poll(list, n, timeout_ms);
}

#endif							/* HPSORT_GPU_POLL_H */

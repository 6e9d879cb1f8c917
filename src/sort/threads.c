/*
 * threads.c
 *		A few threads for one phase of a sort (see threads.h).
 */
#include "sort/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct Part
{
	void		(*work) (void *arg, int t);
	void	   *arg;
	int			t;
	pthread_t	thread;
	bool		started;
} Part;

static void *
run_part(void *part)
{
	Part	   *p = part;

	p->work(p->arg, p->t);
	return NULL;
}

int
threads_run(int threads, void (*work) (void *arg, int t), void *arg)
{
	Part	   *parts = threads > 1 ? calloc((size_t) threads, sizeof(Part)) : NULL;
	sigset_t	all;
	sigset_t	before;
	int			used = 1;
	int			t;

	if (parts == NULL)
	{
		for (t = 0; t < threads; t++)
			work(arg, t);
		return used;
	}

	/*
	 * A new thread inherits the mask: no signal handler of the caller may ever run in it.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (t = 1; t < threads; t++)
	{
		parts[t].work = work;
		parts[t].arg = arg;
		parts[t].t = t;
		parts[t].started = pthread_create(&parts[t].thread, NULL, run_part, &parts[t]) == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);

	work(arg, 0);
	for (t = 1; t < threads; t++)
	{
		if (parts[t].started)
		{
			pthread_join(parts[t].thread, NULL);
			used++;
		}
		else
			work(arg, t);
	}
	free(parts);
	return used;
}

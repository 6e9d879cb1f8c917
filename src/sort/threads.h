/*
 * threads.h
 *		A few threads for one phase of a sort.
 *
 * The threads have all signals blocked and may call nothing of the caller's:
 * neither its allocator nor its interrupt callback.
 */
#ifndef HPSORT_THREADS_H
#define HPSORT_THREADS_H

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * Calls work(arg, t) for t = 0 .. threads - 1, and returns after all calls have
 * returned: how many threads made them, the calling one included.  The calling
 * thread makes the call of t = 0, and afterwards those for which no thread could
 * be started, so that no call may wait for another.
 */
extern int	threads_run(int threads, void (*work) (void *arg, int t), void *arg);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_THREADS_H */

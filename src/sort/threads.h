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
 * Calls work(arg, t) for t = 0 .. threads - 1 and returns when all are done:
 * how many threads there were, the calling one included.  Part 0 runs in that
 * one; so does any that no thread could be started for, afterwards, so parts
 * must not wait for each other.
 */
extern int	threads_run(int threads, void (*work) (void *arg, int t), void *arg);

#ifdef __cplusplus
}
#endif

#endif							/* HPSORT_THREADS_H */

/*
 * interrupts.h
 *		Interrupts during calls that no error may jump out of.
 *
 * src/sort and src/gpu are not written for errors that leave them by longjmp().
 * While a backend is inside, they ask pg_interrupt_pending() every few
 * milliseconds, and return early when the answer is true.  Their caller, outside,
 * then raises the interrupt by pg_check_interrupts().
 */
#ifndef HPSORT_PG_INTERRUPTS_H
#define HPSORT_PG_INTERRUPTS_H

/*
 * Serves pending interrupts.  Returns whether the call under way should return: a cancel or a
 * termination is pending, or serving an interrupt has raised an error, which is kept.
 */
extern bool pg_interrupt_pending(void);

/* Raises the error that was kept, or else what CHECK_FOR_INTERRUPTS() raises. */
extern void pg_check_interrupts(void);

/* Whether an error is kept: for callers that look at it after every call. */
extern bool pg_error_kept;

#endif							/* HPSORT_PG_INTERRUPTS_H */

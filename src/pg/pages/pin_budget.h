/*
 * pin_budget.h
 *		How many pages rows in place may keep pinned, in all sessions together.
 *
 * Core lets a backend pin its proportional share of the buffers, NBuffers /
 * MaxBackends, as if all of them did so at once.  Rows in place are read in any order,
 * so that a share is of use only if it holds most pages of a table.  So sessions share
 * a quarter of the buffers, first come, first served: what a sequential scan may
 * fill of them before core gives it a ring of its own.  The other three quarters
 * are left to everybody else.
 */
#ifndef HPSORT_PG_PAGES_PIN_BUDGET_H
#define HPSORT_PG_PAGES_PIN_BUDGET_H

#include "postgres.h"

/* Pins taken out of the budget of shared or of local buffers. */
typedef struct PinShare
{
	bool		local;
	uint32		pins;
	uint32		transaction;	/* in which they were taken */
} PinShare;

/*
 * How many pins are left in the budget of shared or of local buffers at the moment; and
 * adding at most wanted of them, perhaps none, to a share.  There is nothing
 * for shared buffers during recovery, which a pin may hold up, nor where the server has no
 * shared memory to spare for the budget.
 */
extern uint32 pin_budget_left(bool local);
extern void pin_budget_take(PinShare *share, uint32 wanted);

/* Gives a share back, unless its transaction has ended, and leaves it empty. */
extern void pin_budget_give_back(PinShare *share);

#endif							/* HPSORT_PG_PAGES_PIN_BUDGET_H */

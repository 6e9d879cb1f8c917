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
#ifndef HPSORT_PG_COLUMN_PIN_BUDGET_H
#define HPSORT_PG_COLUMN_PIN_BUDGET_H

#include "postgres.h"

/*
 * How many pins are left in the budget of shared or of local buffers at the moment; and
 * taking at most wanted of them, which returns how many, perhaps none.  There is nothing
 * for shared buffers during recovery, which a pin may hold up, nor where the server has no
 * shared memory to spare for the budget.
 */
extern uint32 pin_budget_left(bool local);
extern uint32 pin_budget_take(bool local, uint32 wanted);
extern void pin_budget_give_back(bool local, uint32 pins);

#endif							/* HPSORT_PG_COLUMN_PIN_BUDGET_H */

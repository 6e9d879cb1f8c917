/*
 * hooks.h
 *		The planner hooks that all custom scan nodes share (see README.md).
 */
#ifndef HPSORT_PG_NODES_HOOKS_H
#define HPSORT_PG_NODES_HOOKS_H

/* At module load: makes the nodes known to PostgreSQL and sets the hooks. */
extern void nodes_init(void);

#endif							/* HPSORT_PG_NODES_HOOKS_H */

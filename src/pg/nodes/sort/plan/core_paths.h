/*
 * core_paths.h
 *		Core's paths as inputs of HpSort's: copies of them, and the path whose
 *		rows ORDER BY sorts.
 */
#ifndef HPSORT_PG_NODES_SORT_PLAN_CORE_PATHS_H
#define HPSORT_PG_NODES_SORT_PLAN_CORE_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Returns a copy of a path, not of what it points to; NULL for a kind of unknown size. */
extern Path *sort_path_copy(const Path *path);

/*
 * Returns the cheapest of paths that needs no parameters; NULL if there is none.  If pathkeys is
 * not NIL, paths in their order do not count.
 */
extern Path *sort_path_cheapest(List *paths, List *pathkeys);

/*
 * Remembers the cheapest path of a relation that ORDER BY may have to sort, in the place of what
 * was remembered.  It must be called while the relation's list holds no other relation's paths.
 */
extern void sort_path_remember_input(PlannerInfo *root, RelOptInfo *rel);

/*
 * Returns the cheapest path of input_rel for ORDER BY to sort, after core has put its own paths
 * into ordered_rel; NULL if none is known.  The path is in no relation's list, or in input_rel's
 * alone, so that nothing frees it.
 */
extern Path *sort_path_find_input(PlannerInfo *root, RelOptInfo *input_rel,
								  RelOptInfo *ordered_rel);

#endif							/* HPSORT_PG_NODES_SORT_PLAN_CORE_PATHS_H */

/*
 * core_paths.h
 *		Core's paths as inputs of HpSort's: copies of them, and the path whose
 *		rows ORDER BY sorts.
 */
#ifndef HPSORT_PG_NODES_SORT_CORE_PATHS_H
#define HPSORT_PG_NODES_SORT_CORE_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* A copy of a path, not of what it points to; NULL for a kind of which the size is not known. */
extern Path *sort_path_copy(const Path *path);

/*
 * The cheapest of these paths that needs no parameters, and, if pathkeys are
 * given, that is not in their order; NULL if there is none.
 */
extern Path *sort_path_cheapest(List *paths, List *pathkeys);

/*
 * Remembers the cheapest path of a relation that ORDER BY may have to sort, while
 * its list holds no other relation's paths; replaces what was remembered.
 */
extern void sort_path_remember_input(PlannerInfo *root, RelOptInfo *rel);

/*
 * The cheapest path of input_rel for ORDER BY to sort, after core has put its own
 * into ordered_rel; NULL if none is known.  It is in no relation's list, or in
 * input_rel's alone, so that nothing frees it.
 */
extern Path *sort_path_find_input(PlannerInfo *root, RelOptInfo *input_rel,
								  RelOptInfo *ordered_rel);

#endif							/* HPSORT_PG_NODES_SORT_CORE_PATHS_H */

/*
 * exec.h
 *		The executor half of Custom Scan (HpSort).
 */
#ifndef HPSORT_PG_NODES_SORT_EXEC_H
#define HPSORT_PG_NODES_SORT_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"

/* The methods of the plan node. */
extern const CustomScanMethods sort_node_scan_methods;

#endif							/* HPSORT_PG_NODES_SORT_EXEC_H */

/*
 * exec.h
 *		The executor half of Custom Scan (HpSort Aggregate).
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_EXEC_H
#define HPSORT_PG_NODES_AGGREGATE_EXEC_H

#include "postgres.h"

#include "nodes/extensible.h"

/* The methods of the plan node. */
extern const CustomScanMethods aggregate_scan_methods;

#endif							/* HPSORT_PG_NODES_AGGREGATE_EXEC_H */

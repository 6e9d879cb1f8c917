/*
 * cost_units.h
 *		How what hpsort does becomes costs of the planner.
 *
 * PostgreSQL's costs are no times: a unit is what a page costs that is read in sequence, and
 * cpu_operator_cost and cpu_tuple_cost are parts of it.  A plan of hpsort's competes with plans
 * of PostgreSQL's whose cost is made of these parts.  So a time that hpsort takes becomes the
 * cost that PostgreSQL says for what takes PostgreSQL as long, on the machine where both were
 * measured:
 *
 *		sorts	core's sort of int4 takes 4 ns for a cpu_operator_cost: of 1e4 rows 105 ns a row for
 *				a cost of 0.069, of 1e7 rows 180 ns for 0.119 (AMD EPYC, Zen 5, PostgreSQL 17)
 *		rows	core's sum(x) takes 24 ns a row for a cpu_tuple_cost and a cpu_operator_cost, of 1e7
 *				rows of 60 bytes in memory (AMD EPYC, Zen 5, PostgreSQL 18)
 *
 * With the default parameters a unit of cost is 1.6 us by the former, 1.9 us by the latter.  What
 * is done with a row is therefore given as a part of cpu_tuple_cost, and what sorting takes in
 * nanoseconds; each constant has its measurement beside it, where it is used.
 *
 * A machine that is faster or slower in everything has the same costs.  One on which hpsort takes
 * another part of PostgreSQL's time than there is corrected by hpsort.cost_factor, which multiplies
 * all costs of hpsort's work on the CPU.  Pages that are read and written, and expressions that are
 * evaluated, cost what they cost in PostgreSQL's plans.
 */
#ifndef HPSORT_PG_COST_UNITS_H
#define HPSORT_PG_COST_UNITS_H

#include "nodes/nodes.h"
#include "optimizer/optimizer.h"

#include "pg/guc.h"

/*
 * PostgreSQL 19 sorts integers by radix in less time at the cost that it had before, but HpSort is
 * still faster where this number lets it be taken: the planner chooses right in 95 of 100 cases of
 * 1,000 to 100,000 rows, on 18 as on 19.  With fewer rows core's sort is faster than its cost says,
 * hence SORT_PATH_MIN_ROWS.
 */
#define NS_PER_OPERATOR 4.0

/* Returns the cost of sorting that takes ns nanoseconds. */
static inline Cost
cost_of_ns(double ns)
{
	return ns * (cpu_operator_cost / NS_PER_OPERATOR) * hpsort_cost_factor;
}

/* Returns the cost of a number of comparisons of rows, or of a part of each. */
static inline Cost
cost_of_comparisons(double comparisons)
{
	return comparisons * 2.0 * cpu_operator_cost * hpsort_cost_factor;
}

/* Returns the cost of what takes as long as PostgreSQL's handling of a number of rows. */
static inline Cost
cost_of_rows(double rows)
{
	return rows * cpu_tuple_cost * hpsort_cost_factor;
}

#endif							/* HPSORT_PG_COST_UNITS_H */

/*
 * order_cost.c
 *		What sorting by hpsort costs, in the planner's units.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "order_planner.h"

void
order_cost(const OrderCostInput *input, Cost *startup, Cost *run)
{
	double		rows = Max(input->rows, 2.0);

	*startup = rows * cpu_operator_cost * 20;
	*run = rows * cpu_operator_cost;
}

/*
 * core_functions.h
 *		PostgreSQL's functions that there are for several types, as labels of a switch.
 */
#ifndef HPSORT_PG_CORE_FUNCTIONS_H
#define HPSORT_PG_CORE_FUNCTIONS_H

#include "utils/fmgroids.h"

/*
 * After case: the functions of an operator, like PL and EQ, of which each side may be an int2, int4
 * or int8.
 */
#define CORE_INTEGER_OPERATORS(name) \
	F_INT2##name: case F_INT24##name: case F_INT28##name: \
	case F_INT42##name: case F_INT4##name: case F_INT48##name: \
	case F_INT82##name: case F_INT84##name: case F_INT8##name

#endif							/* HPSORT_PG_CORE_FUNCTIONS_H */

/*
 * values.h
 *		Values of columns as integers: types, batches of rows, conditions and expressions.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	batch.h                 rows of a column, some thousands at a time
 *	batch_arithmetic.h      sums and products of integers and decimals
 *	column_scan.h           what a scan of columns is to read
 *	datum_buffer.h          copies of values of any type
 *	dictionary.h            values of any hashable type as numbers
 *	dictionary_order.h      their order
 *	domain.h                what the integers of a batch stand for
 *	expression_blocks.h     expressions computed for batches of rows
 *	filter_conditions.h     filters as comparisons of columns with constants, or with many keys
 *	lookup.h                rows of a joined table by their key
 *	numeric_unit.h          numerics of few digits as integers
 *	plain_column.h          whether an expression is a plain column
 *	shared_dictionary.h     numbers that several processes give together
 *	text_conditions.h       conditions of texts by their bytes
 *	value.h                 which types are read as integers, and how
 *	value_condition.h       clauses of a filter that are of one column of any type
 */
#ifndef HPSORT_PG_VALUES_VALUES_H
#define HPSORT_PG_VALUES_VALUES_H

#include "pg/values/batch.h"
#include "pg/values/batch_arithmetic.h"
#include "pg/values/column_scan.h"
#include "pg/values/datum_buffer.h"
#include "pg/values/dictionary.h"
#include "pg/values/dictionary_order.h"
#include "pg/values/domain.h"
#include "pg/values/expression_blocks.h"
#include "pg/values/filter_conditions.h"
#include "pg/values/lookup.h"
#include "pg/values/numeric_unit.h"
#include "pg/values/plain_column.h"
#include "pg/values/shared_dictionary.h"
#include "pg/values/text_conditions.h"
#include "pg/values/value.h"
#include "pg/values/value_condition.h"

#endif							/* HPSORT_PG_VALUES_VALUES_H */

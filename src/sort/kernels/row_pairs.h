/*
 * row_pairs.h
 *		A key and a reference to its row as one integer, the key above: sorting
 *		these integers is a stable sort of rows whose references ascend.
 */
#ifndef HPSORT_ROW_PAIRS_H
#define HPSORT_ROW_PAIRS_H

#include <stdint.h>

/* A 32-bit key above a 32-bit reference. */
#define ROWS_PAIR(key, ref) ((uint64_t) (key) << 32 | (uint32_t) (ref))
#define ROWS_PAIR_KEY(pair) ((uint32_t) ((pair) >> 32))
#define ROWS_PAIR_REF(pair) ((uint32_t) (pair))

#endif							/* HPSORT_ROW_PAIRS_H */

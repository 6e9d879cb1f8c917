/*
 * text_conditions.h
 *		Conditions of texts, bytea and uuid that are decided by their bytes: =, <>, IN, LIKE
 *		without _, and <, <=, >, >=.
 *
 * In a deterministic collation texts are equal if their bytes are, and LIKE compares bytes.  They
 * are in the order of their bytes in the collation C.
 */
#ifndef HPSORT_PG_VALUES_TEXT_CONDITIONS_H
#define HPSORT_PG_VALUES_TEXT_CONDITIONS_H

#include "access/stratnum.h"

#include "pg/compat.h"

/* What an operator asks of a text, beside another one. */
typedef struct TextOperator
{
	bool		equal;			/* = or <>: the other side may be any text, on either side */
	bool		like;			/* the other one is a pattern of LIKE, else what the text begins
								 * with */
	bool		negated;
	bool		padded;			/* blanks at the end do not matter */
	StrategyNumber order;		/* of a btree, of <, <=, > and >=; else 0 */
	int16		typlen;			/* of the values, -1 but of uuid */
} TextOperator;

/*
 * Sets *op to what the function of an operator asks; false if this is nothing that bytes decide,
 * in this collation.
 */
extern bool text_operator_find(Oid function, Oid collation, TextOperator *op);

typedef struct TextBytes
{
	const char *bytes;
	int			length;
} TextBytes;

/* Accepts a text that is one of some, matches a pattern, or is beside a text; or all others. */
typedef struct TextCondition
{
	TextOperator op;
	int			n;
	TextBytes  *texts;			/* ascending by length, then by bytes */
	int			nparts;			/* in place of texts: two or more parts of a pattern, between % */
	TextBytes  *parts;			/* the first one begins a text, the last one ends it */
	int			shortest;		/* bytes of the shortest text that may match */
} TextCondition;

/*
 * Returns the condition of an operator with n texts, none of them NULL, in the current memory
 * context.  NULL if bytes do not decide a pattern of LIKE, or if it is an error.
 */
extern TextCondition *text_condition_make(const TextOperator *op, const Datum *texts, int n);

/* Whether a condition accepts the text of some bytes. */
extern bool text_condition_accepts(const TextCondition *condition, const char *bytes, int length);

/* Does so for a text as it is stored, which may be compressed or out of line. */
extern bool text_condition_accepts_stored(const TextCondition *condition, const char *stored);

/* Does so for a value as it lies in a row. */
static inline bool
text_condition_test(const TextCondition *condition, const char *stored)
{
	if (condition->op.typlen > 0)
		return text_condition_accepts(condition, stored, condition->op.typlen);
	if (VARATT_IS_1B(stored) && !VARATT_IS_1B_E(stored))
	{
		int			length = (int) VARSIZE_1B(stored) - VARHDRSZ_SHORT;
		const TextBytes *only = condition->texts;

		/* Most texts have another length than the only one that is wanted. */
		if (condition->n == 1 && condition->op.equal && !condition->op.padded &&
			length != only->length)
			return condition->op.negated;
		return text_condition_accepts(condition, VARDATA_1B(stored), length);
	}
	return text_condition_accepts_stored(condition, stored);
}

#endif							/* HPSORT_PG_VALUES_TEXT_CONDITIONS_H */

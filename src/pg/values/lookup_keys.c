/*
 * lookup_keys.c
 *		Which keys of a Lookup are integers (see lookup.h).
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "pg/core_functions.h"
#include "pg/values/lookup.h"
#include "pg/values/lookup_state.h"

/*
 * Whether values of an operator's types are equal as integers if and only if they are equal by the
 * operator.
 */
static bool
compares_integers(Oid operator)
{
	switch (get_opcode(operator))
	{
		case CORE_INTEGER_OPERATORS(EQ):
		case F_OIDEQ:
		case F_DATE_EQ:
		case F_TIMESTAMP_EQ:
		case F_TIMESTAMPTZ_EQ:
			return true;
		default:
			return false;
	}
}

int
lookup_value_bits(Oid operator)
{
	Oid			left;
	Oid			right;

	op_input_types(operator, &left, &right);
	return 8 * Max(get_typlen(left), get_typlen(right));
}

bool
lookup_compares_integers(int n, const Oid *operators)
{
	int			bits = 0;

	for (int k = 0; k < n; k++)
	{
		if (!compares_integers(operators[k]))
			return false;
		bits += lookup_value_bits(operators[k]);
	}
	return bits <= 64;
}

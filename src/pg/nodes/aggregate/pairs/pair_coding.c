/*
 * pair_coding.c
 *		A (group, value) pair as one integer (see pair_coding.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pair_coding.h"

void
pair_coding_set_bits(PairCoding *coding)
{
	coding->value_bits = key_range_bits(&coding->values, coding->markers);
	coding->bits = coding->groups->code.bits + coding->value_bits;
}

void
pair_recode_begin(PairRecoding *recoding, const PairCoding *from, const PairCoding *to)
{
	recoding->from = from;
	recoding->to = to;
	recoding->started = false;
	recoding->same = from->value_bits == to->value_bits && from->markers == to->markers &&
		from->values.lo == to->values.lo && group_codes_equal(from->groups, to->groups);
	recoding->group = group_values_make(from->groups->code.ncolumns);
}

void
pair_recode(void *arg, uint64 *codes, size_t n)
{
	PairRecoding *recoding = (PairRecoding *) arg;
	const PairCoding *from = recoding->from;
	const PairCoding *to = recoding->to;
	uint64		shift = pair_value_offset(to) - pair_value_offset(from);

	if (recoding->same)
		return;
	/* Codes come in order: a group is looked up once for all of its pairs. */
	for (size_t i = 0; i < n; i++)
	{
		uint64		group = pair_group(from, codes[i]);
		uint64		place = pair_place(from, codes[i]);

		if (!recoding->started || group != recoding->from_group)
		{
			group_code_values(from->groups, group, &recoding->group);
			recoding->to_group = group_code_of(to->groups, &recoding->group);
			recoding->from_group = group;
			recoding->started = true;
		}
		if (!pair_place_is_marker(from, place))
			place += shift;
		codes[i] = pair_code(to, recoding->to_group, place);
	}
}

void
pair_recode_end(PairRecoding *recoding)
{
	group_values_free(&recoding->group);
}

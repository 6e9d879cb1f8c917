/*
 * text_conditions.c
 *		Conditions of texts that are decided by their bytes (see text_conditions.h).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "pg/values/text_conditions.h"
#include "sort/kernels/kernels.h"

/* The functions of =, <>, <, <=, > and >= of a type. */
#define COMPARISONS(eq, ne, lt, le, gt, ge, is_collated, is_padded, length) \
	{eq, is_collated, {.equal = true,.padded = is_padded,.typlen = length}}, \
	{ne, is_collated, {.equal = true,.negated = true,.padded = is_padded,.typlen = length}}, \
	{lt, is_collated, {.order = BTLessStrategyNumber,.padded = is_padded,.typlen = length}}, \
	{le, is_collated, {.order = BTLessEqualStrategyNumber,.padded = is_padded,.typlen = length}}, \
	{gt, is_collated, {.order = BTGreaterStrategyNumber,.padded = is_padded,.typlen = length}}, \
	{ge, is_collated, {.order = BTGreaterEqualStrategyNumber,.padded = is_padded,.typlen = length}}

static const struct
{
	Oid			function;
	bool		collated;
	TextOperator op;
}			comparisons[] =

{
	COMPARISONS(F_TEXTEQ, F_TEXTNE, F_TEXT_LT, F_TEXT_LE, F_TEXT_GT, F_TEXT_GE, true, false, -1),
	COMPARISONS(F_BPCHAREQ, F_BPCHARNE, F_BPCHARLT, F_BPCHARLE, F_BPCHARGT, F_BPCHARGE, true, true,
				-1),
	COMPARISONS(F_BYTEAEQ, F_BYTEANE, F_BYTEALT, F_BYTEALE, F_BYTEAGT, F_BYTEAGE, false, false, -1),
	COMPARISONS(F_UUID_EQ, F_UUID_NE, F_UUID_LT, F_UUID_LE, F_UUID_GT, F_UUID_GE, false, false,
				UUID_LEN)
};

bool
text_operator_find(Oid function, Oid collation, TextOperator *op)
{
	*op = (TextOperator)
	{
		.typlen = -1
	};
	for (size_t i = 0; i < lengthof(comparisons); i++)
		if (comparisons[i].function == function)
		{
			*op = comparisons[i].op;
			/* Without a collation core raises an error. */
			return !comparisons[i].collated ||
				(OidIsValid(collation) && (op->order ? compat_collation_is_c(collation) :
										   get_collation_isdeterministic(collation)));
		}
	switch (function)
	{
		case F_TEXTLIKE:
		case F_TEXTNLIKE:
		case F_BPCHARLIKE:
		case F_BPCHARNLIKE:
			op->like = true;
			op->negated = function == F_TEXTNLIKE || function == F_BPCHARNLIKE;
			break;
		case F_STARTS_WITH:
			break;
		default:
			return false;
	}
	return OidIsValid(collation) && get_collation_isdeterministic(collation);
}

/* --- making one */

static int
compare_texts(const void *a, const void *b)
{
	const TextBytes *x = (const TextBytes *) a;
	const TextBytes *y = (const TextBytes *) b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->length);
}

static int
length_without_blanks(const char *bytes, int length)
{
	while (length > 0 && bytes[length - 1] == ' ')
		length--;
	return length;
}

/*
 * Divides a pattern of LIKE at each %, in its own memory: into one part if it has none.  Returns
 * false if there is more to the pattern, or less than a whole one.
 */
static bool
divide_pattern(TextCondition *condition, char *pattern)
{
	TextBytes  *part;
	char	   *to = pattern;

	condition->parts = palloc_array(TextBytes, strlen(pattern) + 1);
	part = condition->parts;
	part->bytes = to;
	for (const char *from = pattern; *from; from++)
	{
		if (*from == '%')
		{
			part->length = to - part->bytes;
			(++part)->bytes = to;
			continue;
		}
		if (*from == '_' || (*from == '\\' && *++from == '\0'))
			return false;
		*to++ = *from;
	}
	part->length = to - part->bytes;
	condition->nparts = part - condition->parts + 1;
	return true;
}

/*
 * Whether places where bytes are found are between characters, in the database's encoding, so that
 * parts may be looked for anywhere.
 */
static bool
bytes_divide_texts(void)
{
	return pg_database_encoding_max_length() == 1 || GetDatabaseEncoding() == PG_UTF8;
}

/*
 * Makes the parts of a condition, whose only text is bytes; none if it is equality after all.
 * Returns false if bytes do not decide it.
 */
static bool
find_parts(TextCondition *condition, char *bytes)
{
	if (!condition->op.like)
	{
		/* What a text begins with. */
		condition->parts = palloc0_array(TextBytes, 2);
		condition->parts[0] = condition->texts[0];
		condition->parts[1].bytes = bytes;
		condition->nparts = 2;
	}
	else if (!divide_pattern(condition, bytes))
		return false;
	condition->texts[0] = condition->parts[0];
	if (condition->nparts == 1)
	{
		condition->nparts = 0;
		return true;
	}
	condition->n = 0;
	for (int i = 0; i < condition->nparts; i++)
	{
		if (i > 0 && condition->parts[i].length > 0 && !bytes_divide_texts())
			return false;
		condition->shortest += condition->parts[i].length;
	}
	return true;
}

TextCondition *
text_condition_make(const TextOperator *op, const Datum *texts, int n)
{
	TextCondition *condition = palloc0_object(TextCondition);

	condition->op = *op;
	condition->n = n;
	condition->texts = palloc_array(TextBytes, Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		TextBytes  *wanted = &condition->texts[i];
		const char *given = DatumGetPointer(texts[i]);
		char	   *bytes;

		if (op->typlen < 0)
			given = (const char *) PG_DETOAST_DATUM_PACKED(texts[i]);
		wanted->length = op->typlen < 0 ? VARSIZE_ANY_EXHDR(given) : op->typlen;
		bytes = palloc0(wanted->length + 1);
		memcpy(bytes, op->typlen < 0 ? VARDATA_ANY(given) : given, wanted->length);
		wanted->bytes = bytes;
		if (op->padded)
			wanted->length = length_without_blanks(bytes, wanted->length);
		if (!op->equal && !op->order && !find_parts(condition, bytes))
			return NULL;
	}
	qsort(condition->texts, condition->n, sizeof(TextBytes), compare_texts);
	if (condition->n > 0 && op->equal)
		condition->shortest = condition->texts[0].length;
	return condition;
}

/* --- testing texts */

/* Whether a text of at least the shortest length matches a pattern. */
static bool
matches_parts(const TextCondition *condition, const char *bytes, int length)
{
	const TextBytes *part = condition->parts;
	const TextBytes *last = &condition->parts[condition->nparts - 1];
	const char *end = bytes + length - last->length;

	if (memcmp(bytes, part->bytes, part->length) != 0 ||
		memcmp(end, last->bytes, last->length) != 0)
		return false;
	/* What is found first leaves the most for the parts behind it. */
	for (bytes += part->length; ++part != last; bytes += part->length)
	{
		size_t		room = end - bytes;
		size_t		place;

		if (part->length == 0)
			continue;
		if (room < part->length)
			return false;
		place = kernel_find_bytes(bytes, room, part->bytes, part->length);
		if (place == room)
			return false;
		bytes += place;
	}
	return true;
}

/* Whether a text is on the side of the only text that a condition wants. */
static bool
is_beside(const TextCondition *condition, const TextBytes *given)
{
	const TextBytes *text = condition->texts;
	int			order = memcmp(given->bytes, text->bytes, Min(given->length, text->length));

	if (order == 0)
		order = given->length - text->length;

	switch (condition->op.order)
	{
		case BTLessStrategyNumber:
			return order < 0;
		case BTLessEqualStrategyNumber:
			return order <= 0;
		case BTGreaterStrategyNumber:
			return order > 0;
		default:
			return order >= 0;
	}
}

bool
text_condition_accepts(const TextCondition *condition, const char *bytes, int length)
{
	TextBytes	given = {bytes, length};
	bool		found;

	if (condition->op.padded)
		given.length = length_without_blanks(bytes, length);
	if (condition->op.order)
		return is_beside(condition, &given);
	if (condition->nparts > 0)
		found = length >= condition->shortest && matches_parts(condition, bytes, length);
	else if (condition->n == 1)
		found = compare_texts(&given, condition->texts) == 0;
	else
		found = bsearch(&given, condition->texts, condition->n, sizeof(TextBytes),
						compare_texts) != NULL;
	return found != condition->op.negated;
}

bool
text_condition_accepts_stored(const TextCondition *condition, const char *stored)
{
	struct varlena *value = unconstify(struct varlena *, (const struct varlena *) stored);
	bool		begins = condition->nparts == 2 && condition->parts[1].length == 0;
	int			first = begins ? condition->shortest : -1;
	Size		length;
	bool		accepted;

	if (!VARATT_IS_EXTENDED(value))
		return text_condition_accepts(condition, VARDATA(value), VARSIZE(value) - VARHDRSZ);

	/* Its length is known without its bytes: often that is enough, or the first ones are. */
	length = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
	if (condition->op.order)
		first = condition->op.padded ? -1 : condition->texts[0].length + 1;
	else if (!condition->op.padded &&
			 (length < condition->shortest ||
			  (condition->nparts == 0 && length > condition->texts[condition->n - 1].length)))
		return condition->op.negated;
	CHECK_FOR_INTERRUPTS();
	value = first >= 0 ? detoast_attr_slice(value, 0, first) : detoast_attr(value);
	accepted = text_condition_accepts(condition, VARDATA(value), VARSIZE(value) - VARHDRSZ);
	pfree(value);
	return accepted;
}

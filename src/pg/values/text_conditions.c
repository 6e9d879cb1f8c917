/*
 * text_conditions.c
 *		Conditions of texts that are decided by their bytes (see text_conditions.h).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/values/text_conditions.h"

bool
text_operator_find(Oid function, Oid collation, TextOperator *op)
{
	*op = (TextOperator)
	{
		0
	};
	switch (function)
	{
		case F_TEXTEQ:
		case F_TEXTNE:
		case F_BPCHAREQ:
		case F_BPCHARNE:
			op->equal = true;
			op->negated = function == F_TEXTNE || function == F_BPCHARNE;
			op->padded = function == F_BPCHAREQ || function == F_BPCHARNE;
			break;
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
	/* Without a collation core raises an error. */
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
 * Makes a pattern of LIKE the text that it stands for, in its own memory, and sets *prefix to
 * whether anything may follow.  Returns false if there is more to the pattern, or less than a
 * whole one.
 */
static bool
pattern_to_text(TextBytes *pattern, char *bytes, bool *prefix)
{
	int			length = 0;
	int			i;

	*prefix = false;
	for (i = 0; i < pattern->length; i++)
	{
		char		c = bytes[i];

		if (c == '%')
		{
			*prefix = true;
			continue;
		}
		if (*prefix || c == '_' || (c == '\\' && ++i == pattern->length))
			return false;
		bytes[length++] = bytes[i];
	}
	pattern->length = length;
	return true;
}

TextCondition *
text_condition_make(const TextOperator *op, const Datum *texts, int n)
{
	TextCondition *condition = palloc0_object(TextCondition);
	int			i;

	condition->op = *op;
	condition->n = n;
	condition->texts = palloc_array(TextBytes, Max(n, 1));
	condition->prefix = !op->equal;
	for (i = 0; i < n; i++)
	{
		TextBytes  *wanted = &condition->texts[i];
		char	   *bytes = TextDatumGetCString(texts[i]);

		wanted->bytes = bytes;
		wanted->length = strlen(bytes);
		if (op->padded)
			wanted->length = length_without_blanks(bytes, wanted->length);
		if (op->like && !pattern_to_text(wanted, bytes, &condition->prefix))
			return NULL;
	}
	qsort(condition->texts, n, sizeof(TextBytes), compare_texts);
	return condition;
}

/* --- testing texts */

bool
text_condition_accepts(const TextCondition *condition, const char *bytes, int length)
{
	TextBytes	given = {bytes, length};
	bool		found;

	if (condition->op.padded)
		given.length = length_without_blanks(bytes, length);
	if (condition->prefix)
		found = length >= condition->texts[0].length &&
			memcmp(bytes, condition->texts[0].bytes, condition->texts[0].length) == 0;
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
	Size		length;
	bool		accepted;

	if (!VARATT_IS_EXTENDED(value))
		return text_condition_accepts(condition, VARDATA(value), VARSIZE(value) - VARHDRSZ);

	/* Its length is known without its bytes: often that is enough, or the first ones are. */
	length = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
	if (!condition->op.padded &&
		(condition->prefix ? length < condition->texts[0].length :
		 length < condition->texts[0].length || length > condition->texts[condition->n - 1].length))
		return condition->op.negated;
	CHECK_FOR_INTERRUPTS();
	value = condition->prefix ? detoast_attr_slice(value, 0, condition->texts[0].length) :
		detoast_attr(value);
	accepted = text_condition_accepts(condition, VARDATA(value), VARSIZE(value) - VARHDRSZ);
	pfree(value);
	return accepted;
}

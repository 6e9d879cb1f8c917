/*
 * io.c
 *		int4multiset as text and as bytes of the protocol.
 *
 * Text is {key:count, key, ...}, keys ascending, a count of 1 left out.  Input takes
 * keys in any order, and adds up the counts of equal ones.  In binary form a multiset
 * is sent as it is stored, and every byte that is received is checked.
 */
#include "postgres.h"

#include "common/int.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/builtins.h"

#include "pg/compat.h"
#include "pg/multiset/run_levels.h"
#include "pg/multiset/value.h"

PG_FUNCTION_INFO_V1(hpsort_support_multiset_in);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_out);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_recv);
PG_FUNCTION_INFO_V1(hpsort_support_multiset_send);

/* How many runs are read between two looks for interrupts. */
#define CHECK_EVERY 65536

/* The longest run in text: "-2147483648:9223372036854775807, ". */
#define RUN_TEXT_MAX 34

typedef struct Parser
{
	const char *text;			/* all of it, for messages */
	const char *at;				/* what is read next */
	Node	   *escontext;		/* for soft errors, or NULL: errors are raised */
} Parser;

/* Skips white space. */
static void
skip_blanks(Parser *parser)
{
	while (scanner_isspace(*parser->at))
		parser->at++;
}

/* Raises the error, hard or soft, that the text is no multiset, and why.  Returns false. */
static bool
malformed(Parser *parser, const char *detail)
{
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed multiset literal: \"%s\"", parser->text),
			 errdetail("%s", detail)));
}

/* Raises the error that what comes is not expected.  Returns false. */
static bool
unexpected(Parser *parser)
{
	int			length;

	if (*parser->at == '\0')
		return malformed(parser, "Unexpected end of input.");
	length = Min(pg_encoding_mblen(GetDatabaseEncoding(), parser->at), (int) strlen(parser->at));
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("malformed multiset literal: \"%s\"", parser->text),
			 errdetail("Unexpected \"%.*s\" character.", length, parser->at)));
}

/* Raises the error that a number is out of the range of a type.  Returns false. */
static bool
out_of_range(Parser *parser, const char *number, const char *type)
{
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value \"%.*s\" is out of range for type %s",
					(int) (parser->at - number), number, type)));
}

/*
 * Reads an integer with an optional sign, from least to most.  Any other number is an error,
 * which names the type.  Returns false after a soft error.
 */
static bool
read_number(Parser *parser, const char *type, int64 least, int64 most, int64 *result)
{
	const char *number = parser->at;
	bool		negative = *number == '-';
	bool		fits = true;
	int64		value = 0;

	if (*parser->at == '-' || *parser->at == '+')
		parser->at++;
	if (!isdigit((unsigned char) *parser->at))
		return unexpected(parser);
	/* The value is made negative: there is one more negative number than positive ones. */
	for (; isdigit((unsigned char) *parser->at); parser->at++)
		fits = fits && !pg_mul_s64_overflow(value, 10, &value) &&
			!pg_sub_s64_overflow(value, *parser->at - '0', &value);
	if (!negative)
		fits = fits && value != PG_INT64_MIN;
	if (fits && !negative)
		value = -value;
	if (!fits || value < least || value > most)
		return out_of_range(parser, number, type);
	*result = value;
	return true;
}

/* Reads a key and its count, which is 1 if it is not given.  Returns false after a soft error. */
static bool
read_run(Parser *parser, int64 *key, int64 *count)
{
	if (!read_number(parser, "integer", PG_INT32_MIN, PG_INT32_MAX, key))
		return false;
	skip_blanks(parser);
	*count = 1;
	if (*parser->at != ':')
		return true;
	parser->at++;
	skip_blanks(parser);
	if (!read_number(parser, "bigint", PG_INT64_MIN, PG_INT64_MAX, count))
		return false;
	if (*count <= 0)
		return malformed(parser, "Counts must be greater than zero.");
	skip_blanks(parser);
	return true;
}

/* Reads all runs of a text into levels.  Returns false after a soft error. */
static bool
read_runs(Parser *parser, RunLevels *levels)
{
	int64		key;
	int64		count;
	int			n = 0;

	skip_blanks(parser);
	if (*parser->at != '{')
		return malformed(parser, "A multiset must start with \"{\".");
	parser->at++;
	skip_blanks(parser);
	while (*parser->at != '}')
	{
		if (n++ > 0)
		{
			if (*parser->at != ',')
				return unexpected(parser);
			parser->at++;
			skip_blanks(parser);
		}
		if (!read_run(parser, &key, &count))
			return false;
		if ((uint64) count > PG_INT64_MAX - levels->total)
			ereturn(parser->escontext, false,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("bigint out of range")));
		run_levels_put(levels, (int32) key, (uint64) count);
		if (n % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	parser->at++;
	skip_blanks(parser);
	if (*parser->at != '\0')
		return malformed(parser, "Junk after closing right brace.");
	return true;
}

/*
 * (cstring) returns int4multiset: the input function.  A text that is no multiset is an error, a
 * soft one where the caller takes it: then the result is NULL.
 */
Datum
hpsort_support_multiset_in(PG_FUNCTION_ARGS)
{
	Parser		parser;
	SortContext context;
	RunLevels  *levels;
	bytea	   *value;

	parser.text = PG_GETARG_CSTRING(0);
	parser.at = parser.text;
	parser.escontext = fcinfo->context;
	pg_sort_context(&context, CurrentMemoryContext);
	levels = run_levels_make(&context.allocator);
	if (!read_runs(&parser, levels))
		PG_RETURN_NULL();
	value = run_levels_flat(levels);
	run_levels_empty(levels);
	PG_RETURN_BYTEA_P(value);
}

/* (int4multiset) returns cstring: the output function */
Datum
hpsort_support_multiset_out(PG_FUNCTION_ARGS)
{
	MultisetReader reader;
	StringInfoData text;

	multiset_reader_open(&reader, PG_GETARG_DATUM(0));
	initStringInfo(&text);
	appendStringInfoChar(&text, '{');
	while (multiset_reader_next(&reader))
	{
		const MultisetBlock *block = &reader.block;
		char	   *end;

		enlargeStringInfo(&text, block->n * RUN_TEXT_MAX);
		end = text. data + text.len;

		for (uint32 i = 0; i < block->n; i++)
		{
			if (block->number > 0 || i > 0)
			{
				*end++ = ',';
				*end++ = ' ';
			}
			end += pg_ltoa(block->keys[i], end);
			if (block->counts[i] > 1)
			{
				*end++ = ':';
				end += pg_lltoa((int64) block->counts[i], end);
			}
		}
		text.		len = (int) (end - text.data);
	}
	appendStringInfoChar(&text, '}');
	PG_RETURN_CSTRING(text.data);
}

/* Returns the bytes of a multiset, all of which are in memory, as a new datum. */
static bytea *
copy_bytes(const Multiset *m)
{
	Size		size = VARHDRSZ + m->bytes.size;
	bytea	   *result = (bytea *) palloc(size);

	SET_VARSIZE(result, size);
	memcpy(VARDATA(result), m->bytes.data, m->bytes.size);
	return result;
}

/*
 * (internal) returns int4multiset: the receive function.  All bytes that are left in the message
 * are checked; bytes that no multiset has are an error.
 */
Datum
hpsort_support_multiset_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			size = buffer->len - buffer->cursor;
	MultisetBytes bytes = {0};
	Multiset	m;
	SortContext context;
	SortStatus	status;
	SortError	err;

	bytes.data = (const unsigned char *) pq_getmsgbytes(buffer, size);
	bytes.size = size;
	pg_sort_context(&context, CurrentMemoryContext);
	status = multiset_open(&m, &bytes, &err);
	if (status == SORT_OK)
		status = multiset_check(&m, &context, &err);
	if (status == SORT_CORRUPT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of a multiset"),
				 errdetail("Found: %s.", err.message)));
	pg_sort_check(status, &err);
	PG_RETURN_BYTEA_P(copy_bytes(&m));
}

/* (int4multiset) returns bytea: the send function */
Datum
hpsort_support_multiset_send(PG_FUNCTION_ARGS)
{
	Multiset	m;

	multiset_value_open(PG_GETARG_DATUM(0), &m);
	PG_RETURN_BYTEA_P(copy_bytes(&m));
}

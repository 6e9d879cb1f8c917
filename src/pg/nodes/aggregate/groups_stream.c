/*
 * groups_stream.c
 *		The groups that one process has written (see groups_stream.h).
 */
#include "postgres.h"

#include "pg/nodes/aggregate/groups_stream.h"

/* The beginning of an item of runs. */
typedef struct RunItem
{
	int			source;
	size_t		n;
	int64		base;
	RunsOutline outline;		/* unless values are derived */
} RunItem;

/* --- items */

static int64
take_int64(GroupsStream *stream)
{
	if (stream->at >= stream->end)
		elog(ERROR, "HpSort Aggregate received too few bytes");
	return *stream->at++;
}

/* So many words, which stay where they are while the block is loaded. */
static const int64 *
take_words(GroupsStream *stream, size_t n)
{
	const int64 *words = stream->at;

	if ((size_t) (stream->end - words) < n)
		elog(ERROR, "HpSort Aggregate received too few bytes");
	stream->at += n;
	return words;
}

static void
load_block(GroupsStream *stream, uint64 block)
{
	stream->block = block;
	stream->at = groups_exchange_block(stream->exchange, stream->process, block, &stream->buffer,
									   &stream->end);
}

/* Sees to it that there is an item; false at the end of the stream. */
static bool
has_item(GroupsStream *stream)
{
	if (stream->at < stream->end)
		return true;
	if (stream->block + 1 >= groups_exchange_nblocks(stream->exchange, stream->process))
		return false;
	load_block(stream, stream->block + 1);
	return true;
}

/* Words of a group's item that say how many rows it has, and what is known of its sources. */
static size_t
known_words(const GroupsDescription *description)
{
	size_t		n = 1;
	int			s;

	for (s = 0; s < description->nsources; s++)
	{
		n += 2;
		if (!description->sources[s].runs && description->sources[s].column >= 0)
			n += 2 + sizeof(ValueSum) / sizeof(int64);
	}
	return n;
}

/* Takes the item of a group if it is the same group, which begins again where a block begins. */
static bool
take_group_again(GroupsStream *stream)
{
	const GroupsDescription *description = stream->description;
	GroupValues again;
	bool		same;

	if (!stream->merged)
		return false;
	again = group_values_make(description->ngroups);
	groups_hear(description, stream->at + 1, &again);
	same = group_values_compare(description->groups, description->ngroups, &again,
								&stream->group) == 0;
	group_values_free(&again);
	if (same)
		take_words(stream, 1 + description->ngroups + groups_null_words(description) +
				   known_words(description));
	return same;
}

/* --- items of runs */

static RunItem
take_run_item(GroupsStream *stream)
{
	RunItem		item;

	take_int64(stream);			/* its kind */
	item.source = (int) take_int64(stream);
	item.n = (size_t) take_int64(stream);
	item.outline.rows = take_int64(stream);
	item.outline.last = take_int64(stream);
	item.outline.first = item.base = take_int64(stream);
	if (item.n > ITEM_RUNS_MAX)
		elog(ERROR, "HpSort Aggregate received too many runs");
	return item;
}

/* Takes n numbers; returns the bytes of each, 0 if there are none, which means that all are 1. */
static int
take_numbers(GroupsStream *stream, size_t n, const int64 **words)
{
	int			width = (int) take_int64(stream);

	*words = take_words(stream, MAXALIGN(n * width) / sizeof(int64));
	return width;
}

/* Takes the numbers of an item whose beginning has been taken, and forgets them. */
static void
pass_runs(GroupsStream *stream, const RunItem *item)
{
	const int64 *words;

	take_numbers(stream, item->n, &words);
	take_numbers(stream, item->n, &words);
}

/* Takes n numbers and adds base to each. */
static void
read_numbers(GroupsStream *stream, size_t n, int64 base, int64 *numbers)
{
	const int64 *words;
	int			width = take_numbers(stream, n, &words);
	size_t		i;

	if (width == 2)
		for (i = 0; i < n; i++)
			numbers[i] = base + ((const uint16 *) words)[i];
	else if (width == 4)
		for (i = 0; i < n; i++)
			numbers[i] = base + ((const uint32 *) words)[i];
	else if (width == 8)
		for (i = 0; i < n; i++)
			numbers[i] = (int64) ((uint64) base + (uint64) words[i]);
	else
		for (i = 0; i < n; i++)
			numbers[i] = 1;
}

/* Takes the numbers of an item whose beginning has been taken: they are the stream's runs. */
static void
read_runs(GroupsStream *stream, const RunItem *item)
{
	DerivedColumn *derived = stream->description->source_derived[item->source];
	size_t		i;

	if (stream->values == NULL)
	{
		stream->values = MemoryContextAlloc(stream->memory, ITEM_RUNS_MAX * sizeof(int64));
		stream->counts = MemoryContextAlloc(stream->memory, ITEM_RUNS_MAX * sizeof(int64));
	}
	stream->source = item->source;
	stream->n = item->n;
	stream->first = 0;
	read_numbers(stream, item->n, item->base, stream->values);
	read_numbers(stream, item->n, 0, stream->counts);
	for (i = 0; derived && i < item->n; i++)
		stream->values[i] = derived_hear(derived, stream->values[i]);
}

static bool
is_wanted(const RunsOutline *outline, WantedValues wanted)
{
	return outline->last >= wanted.lo && outline->first <= wanted.hi;
}

bool
groups_stream_has_runs(GroupsStream *stream, int source, WantedValues wanted)
{
	while (stream->n == 0 && has_item(stream))
	{
		RunItem		item;

		if (*stream->at == ITEM_GROUP)
		{
			if (!take_group_again(stream))
				return false;
			continue;
		}
		item = take_run_item(stream);
		if (item.source == source && !is_wanted(&item.outline, wanted))
			pass_runs(stream, &item);
		else
			read_runs(stream, &item);
	}
	return stream->n > 0 && stream->source == source;
}

/* Runs that have been read, and not taken. */
static RunsOutline
outline_of_runs(const GroupsStream *stream)
{
	RunsOutline outline = {.first = stream->values[stream->first],.rows = 0};
	size_t		i;

	outline.last = stream->values[stream->first + stream->n - 1];
	for (i = 0; i < stream->n; i++)
		outline.rows += stream->counts[stream->first + i];
	return outline;
}

void
groups_stream_drop(GroupsStream *stream, int source, WantedValues wanted)
{
	if (stream->merged && stream->n > 0 && stream->source == source)
	{
		RunsOutline outline = outline_of_runs(stream);

		if (!is_wanted(&outline, wanted))
			stream->n = 0;
	}
}

void
groups_stream_outline(GroupsStream *stream, int source,
					  void (*take) (void *arg, const RunsOutline *outline), void *arg)
{
	uint64		block = stream->block;
	size_t		left = stream->end - stream->at;

	Assert(stream->description->source_derived[source] == NULL);
	if (stream->n > 0)
	{
		RunsOutline outline;

		if (stream->source != source)
			return;
		outline = outline_of_runs(stream);
		take(arg, &outline);
	}
	while (has_item(stream))
	{
		RunItem		item;

		if (*stream->at == ITEM_GROUP)
		{
			if (!take_group_again(stream))
				break;
			continue;
		}
		item = take_run_item(stream);
		if (item.source != source)
			break;
		take(arg, &item.outline);
		pass_runs(stream, &item);
	}
	if (stream->block != block)
		load_block(stream, block);
	stream->at = stream->end - left;
}

/* --- groups */

void
groups_stream_init(GroupsStream *stream, GroupsExchange *exchange, int process)
{
	stream->exchange = exchange;
	stream->description = groups_exchange_description(exchange);
	stream->memory = CurrentMemoryContext;
	stream->process = process;
	stream->group = group_values_make(stream->description->ngroups);
}

void
groups_stream_next(GroupsStream *stream)
{
	const GroupsDescription *description = stream->description;

	stream->n = 0;
	while (has_item(stream))
	{
		RunItem		item;

		if (*stream->at == ITEM_GROUP)
		{
			take_int64(stream);
			groups_hear(description,
						take_words(stream, description->ngroups + groups_null_words(description)),
						&stream->group);
			stream->known = take_words(stream, known_words(description));
			return;
		}
		item = take_run_item(stream);
		pass_runs(stream, &item);
	}
	stream->ended = true;
}

static bool
is_before(const GroupsDescription *description, const GroupValues *a, const GroupValues *b)
{
	return group_values_compare(description->groups, description->ngroups, a, b) < 0;
}

/* The last block that begins before a group; 0 if none does. */
static uint64
find_block(GroupsStream *stream, const GroupValues *group)
{
	const GroupsDescription *description = stream->description;
	GroupValues first = group_values_make(description->ngroups);
	uint64		lo = 0;
	uint64		hi = groups_exchange_nblocks(stream->exchange, stream->process) - 1;

	while (lo < hi)
	{
		uint64		middle = lo + (hi - lo + 1) / 2;

		groups_hear(description, groups_exchange_first(stream->exchange, stream->process, middle),
					&first);
		if (is_before(description, &first, group))
			lo = middle;
		else
			hi = middle - 1;
	}
	group_values_free(&first);
	return lo;
}

void
groups_stream_seek(GroupsStream *stream, const GroupValues *first)
{
	uint64		block;

	if (groups_exchange_nblocks(stream->exchange, stream->process) == 0)
	{
		stream->ended = true;
		return;
	}
	block = first ? find_block(stream, first) : 0;
	if (stream->end == NULL || block > stream->block)
	{
		stream->ended = false;
		load_block(stream, block);
		groups_stream_next(stream);
	}
	while (first && !stream->ended && is_before(stream->description, &stream->group, first))
		groups_stream_next(stream);
}

/*
 * groups_exchange.c
 *		What a process knows of its groups, as bytes (see groups_exchange.h).
 *
 * A bytea is the number of the process and a sequence of items, in native byte order.  An item begins with what it is,
 * and with the group's values; then come the group's counts, or some of the runs of
 * one of its sources.  The counts of a group may not have the values of its first
 * source, whose runs come later: then a flag says so, and the receiver adds them.  Such
 * a group begins again in each bytea.
 *
 * Values of derived columns are told in the words of DerivedMessage.  Those of a
 * source, ranks of an enum's labels, are in the same order for both sides.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "pg/compat.h"
#include "pg/nodes/aggregate/groups_exchange.h"

typedef enum ItemKind
{
	ITEM_GROUP,
	ITEM_RUNS,
	ITEM_ONES					/* runs whose counts are all 1 */
} ItemKind;

/* The bytes are full from this size on; an item may take some more. */
#define FULL_BYTES (128 * 1024)

struct GroupsSender
{
	Aggregation *aggregation;
	int			ngroups;
	const ValueSource *sources;
	int			nsources;
	DerivedColumn *const *group_derived;
	DerivedColumn *const *source_derived;
	StringInfoData bytes;
	const GroupValues *group;	/* being sent; NULL: none */
	int			source;			/* whose runs are sent next */
	bool		add_runs;		/* the group's rows are those of its first source's runs, too */
	SourceCounts *counts;
};

struct GroupsReceiver
{
	int			process;		/* whose bytes are being received, from 0 on */
	Aggregation *aggregation;
	int			ngroups;
	int			nsources;
	DerivedColumn *const *group_derived;
	DerivedColumn *const *source_derived;
	GroupValues group;
	SourceCounts *counts;
	int64	   *rows;			/* to which the runs of the first source are to be added; or NULL */
	int64	   *values;			/* of runs */
	int64	   *run_counts;
	size_t		room;
	const char *at;
	const char *end;
};

/* --- sending */

GroupsSender *
groups_sender_make(Aggregation *aggregation, int ngroups, const ValueSource *sources, int nsources,
				   DerivedColumn *const *group_derived, DerivedColumn *const *source_derived)
{
	GroupsSender *sender = palloc0_object(GroupsSender);

	sender->aggregation = aggregation;
	sender->ngroups = ngroups;
	sender->sources = sources;
	sender->nsources = nsources;
	sender->group_derived = group_derived;
	sender->source_derived = source_derived;
	sender->counts = palloc0_array(SourceCounts, Max(nsources, 1));
	initStringInfo(&sender->bytes);
	enlargeStringInfo(&sender->bytes, FULL_BYTES + FULL_BYTES / 4);
	return sender;
}

static void
put(GroupsSender *sender, const void *data, size_t size)
{
	appendBinaryStringInfo(&sender->bytes, data, (int) size);
}

static void
put_int64(GroupsSender *sender, int64 value)
{
	put(sender, &value, sizeof(value));
}

static void
put_group(GroupsSender *sender, ItemKind kind)
{
	int			g;

	put_int64(sender, kind);
	for (g = 0; g < sender->ngroups; g++)
	{
		DerivedMessage message = {.value = sender->group->values[g], .null = sender->group->nulls[g]};

		if (sender->group_derived[g])
			message = derived_tell(sender->group_derived[g], message.value, message.null != 0);
		put_int64(sender, message.value);
		put_int64(sender, message.null);
	}
}

/* A value of a source's derived column, which is not NULL, as it is told. */
static int64
told_value(const DerivedColumn *derived, int64 value)
{
	return derived_tell(derived, value, false).value;
}

/* Sends the counts of the next group; false if there is none. */
static bool
send_group(GroupsSender *sender)
{
	Aggregation *aggregation = sender->aggregation;
	bool		add_runs = false;
	int			s;

	if (!aggregation_next(aggregation, &sender->group))
		return false;
	/* Sources without runs first, which tell how many rows there are. */
	for (s = sender->nsources - 1; s >= 0; s--)
		if (sender->sources[s].runs)
		{
			aggregation_start_runs(aggregation, s, &sender->counts[s]);
			/* The receiver makes the summary from the runs; this one knows no values. */
			memset(&sender->counts[s].summary, 0, sizeof(ValueSummary));
		}
	if (!aggregation_rows_known(aggregation) && sender->nsources > 0)
		add_runs = sender->sources[0].runs;
	for (s = sender->nsources - 1; s >= 0; s--)
		if (!sender->sources[s].runs)
		{
			aggregation_read(aggregation, s, &sender->counts[s], NULL, NULL);
			add_runs = false;
			if (sender->source_derived[s] && sender->counts[s].summary.n > 0)
			{
				ValueSummary *summary = &sender->counts[s].summary;

				summary->min = told_value(sender->source_derived[s], summary->min);
				summary->max = told_value(sender->source_derived[s], summary->max);
			}
		}
	put_group(sender, ITEM_GROUP);
	put_int64(sender, aggregation_rows(aggregation));
	put_int64(sender, add_runs);
	put(sender, sender->counts, sender->nsources * sizeof(SourceCounts));
	sender->source = 0;
	sender->add_runs = add_runs;
	return true;
}

/*
 * Begins the group being sent again, with nothing.  Between two byteas the receiver may
 * get one of another process, and must not add runs to that one's last group.
 */
static void
resume_group(GroupsSender *sender)
{
	put_group(sender, ITEM_GROUP);
	put_int64(sender, 0);
	put_int64(sender, true);
	memset(sender->counts, 0, sender->nsources * sizeof(SourceCounts));
	put(sender, sender->counts, sender->nsources * sizeof(SourceCounts));
}

/* Sends some runs of the group; false if there are none left. */
static bool
send_runs(GroupsSender *sender)
{
	const int64 *values;
	const int64 *counts;
	bool		ones = true;
	size_t		n = 0;
	size_t		i;

	for (; sender->source < sender->nsources; sender->source++)
		if (sender->sources[sender->source].runs &&
			(n = aggregation_next_runs(sender->aggregation, sender->source, &values, &counts)) > 0)
			break;
	if (sender->source == sender->nsources)
		return false;
	for (i = 0; i < n && ones; i++)
		ones = counts[i] == 1;
	put_group(sender, ones ? ITEM_ONES : ITEM_RUNS);
	put_int64(sender, sender->source);
	put_int64(sender, (int64) n);
	if (sender->source_derived[sender->source])
		for (i = 0; i < n; i++)
			put_int64(sender, told_value(sender->source_derived[sender->source], values[i]));
	else
		put(sender, values, n * sizeof(int64));
	if (!ones)
		put(sender, counts, n * sizeof(int64));
	return true;
}

bool
groups_send(GroupsSender *sender, Datum *bytes, int64 *groups)
{
	StringInfo	buffer = &sender->bytes;

	resetStringInfo(buffer);
	buffer->len = VARHDRSZ;
	put_int64(sender, ParallelWorkerNumber + 1);
	if (sender->group && sender->add_runs)
		resume_group(sender);
	while (buffer->len < FULL_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		if (sender->group && send_runs(sender))
			continue;
		sender->group = NULL;
		if (!send_group(sender))
			break;
		(*groups)++;
	}
	if (buffer->len == VARHDRSZ + sizeof(int64))
		return false;
	SET_VARSIZE(buffer->data, buffer->len);
	*bytes = PointerGetDatum(buffer->data);
	return true;
}

/* --- receiving */

GroupsReceiver *
groups_receiver_make(Aggregation *aggregation, int ngroups, int nsources,
					 DerivedColumn *const *group_derived, DerivedColumn *const *source_derived)
{
	GroupsReceiver *receiver = palloc0_object(GroupsReceiver);

	receiver->aggregation = aggregation;
	receiver->ngroups = ngroups;
	receiver->nsources = nsources;
	receiver->group_derived = group_derived;
	receiver->source_derived = source_derived;
	receiver->group = group_values_make(ngroups);
	receiver->counts = palloc0_array(SourceCounts, Max(nsources, 1));
	return receiver;
}

static void
take(GroupsReceiver *receiver, void *data, size_t size)
{
	if ((size_t) (receiver->end - receiver->at) < size)
		elog(ERROR, "HpSort Aggregate received too few bytes");
	memcpy(data, receiver->at, size);
	receiver->at += size;
}

static int64
take_int64(GroupsReceiver *receiver)
{
	int64		value;

	take(receiver, &value, sizeof(value));
	return value;
}

/* A value that a sender has told, as a derived column here has it. */
static int64
heard_value(DerivedColumn *derived, int64 value)
{
	DerivedMessage message = {.value = value, .null = 0};
	bool		isnull;

	derived_hear(derived, &message, &value, &isnull);
	return value;
}

/* A group's values. */
static void
take_group(GroupsReceiver *receiver)
{
	GroupValues *group = &receiver->group;
	int			g;

	for (g = 0; g < receiver->ngroups; g++)
	{
		DerivedMessage message;

		message.value = take_int64(receiver);
		message.null = take_int64(receiver);
		if (receiver->group_derived[g])
			derived_hear(receiver->group_derived[g], &message, &group->values[g], &group->nulls[g]);
		else
		{
			group->values[g] = message.value;
			group->nulls[g] = message.null != 0;
		}
	}
}

static void
take_runs(GroupsReceiver *receiver, ItemKind kind)
{
	int			source = (int) take_int64(receiver);
	size_t		n = (size_t) take_int64(receiver);
	size_t		i;

	if (n > receiver->room)
	{
		if (receiver->room > 0)
		{
			pfree(receiver->values);
			pfree(receiver->run_counts);
		}
		receiver->values = palloc_array(int64, n);
		receiver->run_counts = palloc_array(int64, n);
		receiver->room = n;
	}
	take(receiver, receiver->values, n * sizeof(int64));
	if (receiver->source_derived[source])
		for (i = 0; i < n; i++)
			receiver->values[i] = heard_value(receiver->source_derived[source],
											  receiver->values[i]);
	if (kind == ITEM_RUNS)
		take(receiver, receiver->run_counts, n * sizeof(int64));
	else
		for (i = 0; i < n; i++)
			receiver->run_counts[i] = 1;
	for (i = 0; i < n && source == 0 && receiver->rows; i++)
		*receiver->rows += receiver->run_counts[i];
	aggregation_add_runs(receiver->aggregation, receiver->process, &receiver->group, source, receiver->values,
						 receiver->run_counts, n);
}

/* Those of derived columns are as they were told. */
static void
hear_summaries(GroupsReceiver *receiver)
{
	int			s;

	for (s = 0; s < receiver->nsources; s++)
	{
		ValueSummary *summary = &receiver->counts[s].summary;

		if (receiver->source_derived[s] == NULL || summary->n == 0)
			continue;
		summary->min = heard_value(receiver->source_derived[s], summary->min);
		summary->max = heard_value(receiver->source_derived[s], summary->max);
	}
}

void
groups_receive(GroupsReceiver *receiver, const bytea *bytes)
{
	receiver->at = VARDATA_ANY(bytes);
	receiver->end = receiver->at + VARSIZE_ANY_EXHDR(bytes);
	receiver->process = (int) take_int64(receiver);
	while (receiver->at < receiver->end)
	{
		ItemKind	kind = (ItemKind) take_int64(receiver);

		take_group(receiver);
		if (kind == ITEM_GROUP)
		{
			int64		rows = take_int64(receiver);
			bool		add_runs = take_int64(receiver) != 0;

			take(receiver, receiver->counts, receiver->nsources * sizeof(SourceCounts));
			hear_summaries(receiver);
			receiver->rows = aggregation_add_group(receiver->aggregation, &receiver->group, rows,
												   receiver->counts);
			if (!add_runs)
				receiver->rows = NULL;
		}
		else
			take_runs(receiver, kind);
	}
}

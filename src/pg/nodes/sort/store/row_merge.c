/*
 * row_merge.c
 *		The merge of segments (see row_segment.h).
 *
 * A tree of losers, by Knuth (volume 3, 5.4.1): the leaves are the next rows of the segments, each
 * inner node has the row that has lost there, and the row that has lost nowhere is the next one.
 * Another row of the same segment then meets only the losers on its way up, one on each level.
 * The nodes have a code of the first key, so that most rows need not be looked at.
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/row_segment.h"

/*
 * The code of a segment that has no more rows, which comes after all others.  A row may have this
 * code, too: where codes are equal, rows are compared.
 */
#define CODE_AT_END PG_UINT64_MAX

/*
 * A row at a node of the tree, by its segment.  Its code is the image of its first key; of a NULL
 * it is the lowest or the highest code.
 */
typedef struct MergeNode
{
	uint64		code;
	int64		head;			/* number of the segment; -1: none yet */
} MergeNode;

/* The value of a key that is left to core, in the tuple of a row. */
typedef struct RestValue
{
	Datum		value;
	bool		isnull;
} RestValue;

typedef struct MergeHead
{
	RowSegment	segment;
	SegmentRow	row;
	RestValue  *values;			/* of the row's tuple, by key left to core ... */
	int			nvalues;		/* ... of the first keys, as far as they have been compared */
	RowBuffer	buffer;
	bool		at_end;
} MergeHead;

struct RowMerge
{
	RowStore   *store;
	int			n;
	MergeHead  *heads;
	RestValue  *values;			/* of all heads */
	MergeNode  *losers;			/* of inner nodes 1 to n - 1 */
	MergeNode	winner;
	bool		begun;			/* the winner has been returned */
};

/*
 * Returns the value of key i left to core of a head's row.  It is taken out of the tuple once for
 * all comparisons of the row.
 */
static inline Datum
rest_value(const RowStore *store, MergeHead *head, int i, bool *isnull)
{
	const RowElsewhere *elsewhere = store->elsewhere;

	if (elsewhere)
		return elsewhere->value(elsewhere->arg, head->row.ref, i, isnull);
	for (; head->nvalues <= i; head->nvalues++)
	{
		RestValue  *next = &head->values[head->nvalues];

		next->value = row_tuple_value(head->row.tuple, store->tupdesc,
									  store->keys->rest[head->nvalues].ssup_attno, &next->isnull);
	}
	*isnull = head->values[i].isnull;
	return head->values[i].value;
}

/* Returns the order of two rows of equal mapped keys by the keys left to core: < 0, 0 or > 0. */
static int
compare_rest(const RowStore *store, MergeHead *left, MergeHead *right)
{
	const KeyColumns *keys = store->keys;
	const RowKey *key = &left->row.key;
	int			last = keys->nmapped - 1;
	int			result = 0;

	if (key_columns_are_known_equal(keys, (key->nulls >> last) & 1, key->images[last]))
		return 0;
	for (int i = 0; result == 0 && i < keys->nrest; i++)
	{
		bool		left_isnull;
		bool		right_isnull;
		Datum		left_value = rest_value(store, left, i, &left_isnull);
		Datum		right_value = rest_value(store, right, i, &right_isnull);

		result = ApplySortComparator(left_value, left_isnull, right_value, right_isnull,
									 &keys->rest[i]);
	}
	if (store->elsewhere)
		store->elsewhere->forget(store->elsewhere->arg);
	return result;
}

/* Whether the row of one segment comes before that of another one, where codes are equal. */
static bool
equal_code_is_before(const RowMerge *merge, int64 a, int64 b)
{
	const RowStore *store = merge->store;
	MergeHead  *left = &merge->heads[a];
	MergeHead  *right = &merge->heads[b];
	int			result = 0;

	if (left->at_end || right->at_end)
		return right->at_end && !left->at_end;

	/* Of a single key, equal codes say all but which of the rows is NULL. */
	if (store->keys->nmapped > 1 || left->row.key.nulls != right->row.key.nulls)
		result = row_key_compare(store->keys, &left->row.key, &right->row.key);
	if (result == 0 && store->keys->nrest > 0)
		result = compare_rest(store, left, right);
	return result == 0 ? a < b : result < 0;
}

/* Reads the next row of a segment; returns its code. */
static inline uint64
advance(const RowMerge *merge, int64 number)
{
	MergeHead  *head = &merge->heads[number];

	if (unlikely(!row_segment_get(&head->segment, merge->store, &head->row, &head->buffer)))
	{
		head->at_end = true;
		return CODE_AT_END;
	}
	head->nvalues = 0;
	if (merge->store->keys->numbered && merge->store->elsewhere)
		row_key_translate(merge->store->keys, &head->row.key, true);
	if (unlikely(head->row.key.nulls & 1))
		return merge->store->keys->keys[0].nulls_first ? 0 : CODE_AT_END;
	return head->row.key.images[0];
}

/*
 * Lets a new row of a segment go up the tree until it has lost, or has won: then it becomes the
 * winner.
 */
static inline void
replay(RowMerge *merge, uint64 code, int64 head)
{
	MergeNode	node = {code, head};
	MergeNode  *losers = merge->losers;

	for (uint64 at = (uint64) (merge->n + node.head) / 2; at > 0; at /= 2)
	{
		MergeNode	other = losers[at];
		bool		loses = other.code < node.code;

		if (unlikely(other.head < 0))
		{
			losers[at] = node;
			return;
		}
		if (unlikely(other.code == node.code))
			loses = equal_code_is_before(merge, other.head, node.head);

		/* Exchanges them without a branch: which row loses is hard to predict. */
		code = (other.code ^ node.code) & (0 - (uint64) loses);
		head = (other.head ^ node.head) & (0 - (int64) loses);
		losers[at].code = other.code ^ code;
		losers[at].head = other.head ^ head;
		node.code ^= code;
		node.head ^= head;
	}
	merge->winner = node;
}

RowMerge *
row_merge_begin(RowStore *store, const RowSegment *segments, int n)
{
	RowMerge   *merge = palloc0_object(RowMerge);

	merge->store = store;
	merge->n = n;
	merge->heads = palloc0_array(MergeHead, n);
	merge->values = palloc_array(RestValue, n * Max(store->keys->nrest, 1));
	merge->losers = palloc_array(MergeNode, n);
	for (int i = 0; i < n; i++)
	{
		merge->heads[i].segment = segments[i];
		merge->heads[i].values = merge->values + i * store->keys->nrest;
		row_buffer_init(&merge->heads[i].buffer, CurrentMemoryContext);
		merge->losers[i].head = -1;
	}

	/* The buffers of tapes are made when their first rows are read. */
	for (int i = 0; i < n; i++)
		replay(merge, advance(merge, i), i);
	return merge;
}

/*
 * Whether the next row of the segment that has won is known to be equal to its last one, which
 * had this code and these NULLs: it wins then, too.
 */
static inline bool
wins_again(const RowMerge *merge, const MergeHead *head, uint64 code, uint8 nulls)
{
	const KeyColumns *keys = merge->store->keys;

	if (head->at_end)
		return false;
	if (head->row.repeats)
		return true;
	return code == merge->winner.code && keys->nmapped == 1 && nulls == head->row.key.nulls &&
		(keys->nrest == 0 || key_columns_are_known_equal(keys, nulls != 0,
														 head->row.key.images[0]));
}

const SegmentRow *
row_merge_next(RowMerge *merge)
{
	const MergeHead *head = &merge->heads[merge->winner.head];

	if (likely(merge->begun))
	{
		uint8		nulls = head->row.key.nulls;
		uint64		code = advance(merge, merge->winner.head);

		if (!wins_again(merge, head, code, nulls))
			replay(merge, code, merge->winner.head);
	}
	merge->begun = true;
	head = &merge->heads[merge->winner.head];
	return head->at_end ? NULL : &head->row;
}

void
row_merge_end(RowMerge *merge)
{
	for (int i = 0; i < merge->n; i++)
	{
		row_segment_close(&merge->heads[i].segment);
		if (merge->heads[i].buffer.tuple)
			pfree(merge->heads[i].buffer.tuple);
	}
	pfree(merge->heads);
	pfree(merge->values);
	pfree(merge->losers);
	pfree(merge);
}

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

#include "miscadmin.h"

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

typedef struct MergeHead
{
	RowSegment	segment;
	SegmentRow	row;
	Datum		value;			/* of a tuple: of the first key left to core, in the tuple */
	bool		isnull;
	RowBuffer	buffer;
	bool		at_end;
} MergeHead;

struct RowMerge
{
	RowStore   *store;
	int			n;
	MergeHead  *heads;
	MergeNode  *losers;			/* of inner nodes 1 to n - 1 */
	MergeNode	winner;
	bool		begun;			/* the winner has been returned */
};

/* The order of two rows of equal mapped keys by those left to core. */
static int
compare_rest(const RowStore *store, const MergeHead *left, const MergeHead *right)
{
	const KeyColumns *keys = store->keys;
	const RowElsewhere *elsewhere = store->elsewhere;
	const SegmentRow *a = &left->row;
	const SegmentRow *b = &right->row;
	int			last = keys->nmapped - 1;
	int			result = 0;
	int			i;

	if (key_columns_are_known_equal(keys, (a->key.nulls >> last) & 1, a->key.images[last]))
		return 0;
	if (elsewhere == NULL)
	{
		result = ApplySortComparator(left->value, left->isnull, right->value, right->isnull,
									 &keys->rest[0]);
		return result != 0 || keys->nrest == 1 ? result :
			row_tuple_compare(keys, store->tupdesc, a->tuple, b->tuple);
	}
	for (i = 0; result == 0 && i < keys->nrest; i++)
	{
		bool		a_isnull;
		bool		b_isnull;
		Datum		a_value = elsewhere->value(elsewhere->arg, a->ref, i, &a_isnull);
		Datum		b_value = elsewhere->value(elsewhere->arg, b->ref, i, &b_isnull);

		result = ApplySortComparator(a_value, a_isnull, b_value, b_isnull, &keys->rest[i]);
	}
	elsewhere->forget(elsewhere->arg);
	return result;
}

/* Whether the row of one segment comes before that of another one, where codes are equal. */
static bool
equal_code_is_before(const RowMerge *merge, int64 a, int64 b)
{
	const RowStore *store = merge->store;
	const MergeHead *left = &merge->heads[a];
	const MergeHead *right = &merge->heads[b];
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
	if (head->row.tuple && merge->store->keys->nrest > 0)
		head->value = row_tuple_value(head->row.tuple, merge->store->tupdesc,
									  merge->store->keys->rest[0].ssup_attno, &head->isnull);
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
	uint64		at;

	for (at = (uint64) (merge->n + node.head) / 2; at > 0; at /= 2)
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
	int			i;

	merge->store = store;
	merge->n = n;
	merge->heads = palloc0_array(MergeHead, n);
	merge->losers = palloc_array(MergeNode, n);
	for (i = 0; i < n; i++)
	{
		merge->heads[i].segment = segments[i];
		row_buffer_init(&merge->heads[i].buffer, CurrentMemoryContext);
		merge->losers[i].head = -1;
	}

	/* The buffers of tapes are made when their first rows are read. */
	for (i = 0; i < n; i++)
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
	int			i;

	for (i = 0; i < merge->n; i++)
	{
		row_segment_close(&merge->heads[i].segment);
		if (merge->heads[i].buffer.tuple)
			pfree(merge->heads[i].buffer.tuple);
	}
	pfree(merge->heads);
	pfree(merge->losers);
	pfree(merge);
}

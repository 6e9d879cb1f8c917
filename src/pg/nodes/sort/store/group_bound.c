/*
 * group_bound.c
 *		The first rows of each group (see group_bound.h).
 *
 * A cut sorts the store and walks over it in order.  Each group has a row at
 * least that stays, so the bounds of the group keys in the store are those of
 * all rows that have come, and a row beyond them is one of a new group.
 *
 * When the store is written, images of first rows take the place of cutoffs.  They are of rows that
 * come from then on; the rows before, about as many as the store has room for, count for nothing.
 * Groups are numbered by the ranges of the last cut, and rows beyond these are not refused.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/group_bound.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/sort_context.h"
#include "sort/kernels/wide.h"

/* Rows handled between two looks at interrupts. */
#define CHECK_EVERY 4096

/* Rows beyond GROUP_BOUND_FACTOR times the wanted ones before the store is cut. */
#define CUT_SLACK 1024

/* The part of the memory that the cutoffs may take. */
#define CUTOFFS_PART 4

/* The part of the memory that images of first rows may take, and that of hashed places taken. */
#define FIRSTS_PART 2
#define FIRSTS_FILL 0.75

/*
 * Cutoffs are in arrays by code if there are at most SPARSE_FACTOR codes for each group, and
 * SPARSE_SLACK more; else they are hashed.
 */
#define SPARSE_FACTOR 8
#define SPARSE_SLACK 1024

/* The lower half of a kept row's entry, unless it is a cutoff. */
#define NO_CUTOFF PG_UINT32_MAX

/* The cutoff of a group, before it has a place. */
typedef struct NewCutoff
{
	uint64		code;			/* later the place */
	uint64		image;
} NewCutoff;

/* What a cut finds. */
typedef struct Cut
{
	uint64	   *kept;			/* reference above, index of the cutoff below */
	uint64		nkept;
	NewCutoff  *cutoffs;
	uint64		ncutoffs;
	uint64		room;
	uint64		groups;
} Cut;

/* Where the walk over the rows of a group is. */
typedef struct GroupWalk
{
	uint64		rows;			/* of the group so far */
	uint64		rank;
	uint64		dense_rank;
	uint64		number;			/* by which the last row was counted */
	RowKey		key;			/* of the row before */
	MinimalTuple tuple;
	RowKey		last;			/* of the last row that stays */
} GroupWalk;

GroupBound *
group_bound_create(RowStore *store, const GroupBoundSpec *spec)
{
	MemoryContext parent = MemoryContextGetParent(store->memory);
	GroupBound *bound = (GroupBound *) MemoryContextAllocZero(parent, sizeof(GroupBound));

	bound->spec = *spec;
	bound->store = store;
	bound->each = 1;
	bound->memory = store->limit / CUTOFFS_PART;
	store->limit -= bound->memory;
	return bound;
}

void
group_bound_count(GroupBound *bound)
{
	GroupBoundSpec *spec = &bound->spec;
	double		expected;

	spec->wanted = spec->count(spec->arg);
	expected = ((double) spec->wanted + spec->next) * spec->expected_groups * GROUP_BOUND_FACTOR;
	bound->cut_at = (uint64) Min(expected, 1e15) + CUT_SLACK;
	bound->counted = true;
}

/* Whether a row that is equal to its group's cutoff is not wanted. */
static inline bool
refuses_peers(const GroupBound *bound)
{
	return bound->spec.kind == GROUP_BOUND_ROWS || bound->spec.next;
}

/*
 * Frees the cutoffs.  Without them no row is refused, unless none is wanted of any group.  If rows
 * are not cut any more, the store gets the memory.
 */
static void
free_cutoffs(GroupBound *bound)
{
	if (bound->frozen)
		bound->store->limit += bound->used;
	if (bound->images)
		pfree(bound->images);
	if (bound->refs)
		pfree(bound->refs);
	if (bound->codes)
		pfree(bound->codes);
	bound->images = NULL;
	bound->refs = NULL;
	bound->codes = NULL;
	bound->used = 0;
}

/* Numbers the groups; false if they do not fit into 64 bits. */
static bool
number_groups(GroupBound *bound)
{
	bound->code.ncolumns = bound->spec.ngroup;
	bound->code.columns = bound->columns;
	row_store_key_ranges(bound->store, &bound->code);
	return key_code_number(&bound->code, PG_UINT64_MAX);
}

/* The code of a row in the store. */
static uint64
code_of(const GroupBound *bound, const RowKey *key)
{
	uint64		code = 0;

	for (int i = 0; i < bound->spec.ngroup; i++)
		code += key_code_place(&bound->columns[i], key->images[i], (key->nulls >> i) & 1) *
			bound->columns[i].stride;
	return code;
}

/* The group_bound_image of a row's first key after the group's; 0 if that key is left to core. */
static uint64
cutoff_image(const GroupBound *bound, const RowKey *key)
{
	const KeyColumns *keys = bound->store->keys;
	int			i = bound->spec.ngroup;

	if (i >= keys->nexact)
		return 0;
	return group_bound_image(&keys->keys[i], key->images[i], (key->nulls >> i) & 1);
}

/* Whether two rows have the same values of the keys from .. to - 1, which are mapped. */
static inline bool
same_keys(const RowKey *a, const RowKey *b, int from, int to)
{
	for (int i = from; i < to; i++)
		if (a->images[i] != b->images[i] || ((a->nulls ^ b->nulls) >> i & 1))
			return false;
	return true;
}

/* Counts a row that comes after the walk's row in order; returns its number in the group. */
static uint64
count_row(GroupBound *bound, GroupWalk *walk, const RowKey *key, MinimalTuple tuple)
{
	const RowStore *store = bound->store;
	const KeyColumns *keys = store->keys;

	walk->rows++;
	if (bound->spec.kind == GROUP_BOUND_ROWS)
		return walk->rows;
	if (walk->rows == 1)
		walk->rank = walk->dense_rank = 1;
	else if (!same_keys(&walk->key, key, bound->spec.ngroup, keys->nexact) ||
			 (keys->rest && row_tuple_compare(keys, store->tupdesc, walk->tuple, tuple) != 0))
	{
		walk->rank = walk->rows;
		walk->dense_rank++;
	}
	return bound->spec.kind == GROUP_BOUND_RANKS ? walk->rank : walk->dense_rank;
}

/*
 * A group ends: if it has enough rows, or ranks, and the row after these if it is to stay, its
 * last kept row is its cutoff.
 */
static void
end_group(GroupBound *bound, Cut *cut, const GroupWalk *walk)
{
	uint64		have = bound->spec.kind == GROUP_BOUND_DENSE_RANKS ? walk->dense_rank : walk->rows;
	NewCutoff  *cutoff;

	cut->groups++;
	if (bound->spec.next ? walk->number <= bound->spec.wanted : have < bound->spec.wanted)
		return;
	if (cut->ncutoffs == cut->room)
	{
		Size		room = cut->room * 2 + 256;

		if (cut->cutoffs == NULL)
			cut->cutoffs = MemoryContextAllocHuge(bound->store->memory, room * sizeof(NewCutoff));
		else
			cut->cutoffs = repalloc_huge(cut->cutoffs, room * sizeof(NewCutoff));
		cut->room = room;
	}
	cutoff = &cut->cutoffs[cut->ncutoffs];
	cutoff->code = code_of(bound, &walk->last);
	cutoff->image = cutoff_image(bound, &walk->last);
	cut->kept[cut->nkept - 1] = ROWS_PAIR(ROWS_PAIR_KEY(cut->kept[cut->nkept - 1]),
										  (uint32) cut->ncutoffs);
	cut->ncutoffs++;
}

/* Walks over the sorted store, and finds which rows stay. */
static void
walk_groups(GroupBound *bound, Cut *cut)
{
	RowStore   *store = bound->store;
	uint64		n = store->rows;
	GroupWalk	walk = {0};

	cut->kept = MemoryContextAllocHuge(store->memory, n * sizeof(uint64));
	for (uint64 i = 0; i < n; i++)
	{
		MinimalTuple tuple = row_store_fetch(store, i);
		RowKey		key;
		uint64		number;

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		row_tuple_key(store->keys, store->slot, tuple, &key);
		if (i > 0 && !same_keys(&walk.key, &key, 0, bound->spec.ngroup))
		{
			end_group(bound, cut, &walk);
			walk.rows = walk.number = 0;
		}
		number = count_row(bound, &walk, &key, tuple);
		if (number <= bound->spec.wanted || (bound->spec.next && walk.number <= bound->spec.wanted))
		{
			cut->kept[cut->nkept++] = ROWS_PAIR(row_store_ref(store, i), NO_CUTOFF);
			walk.last = key;
		}
		walk.number = number;
		walk.key = key;
		walk.tuple = tuple;
	}
	end_group(bound, cut, &walk);
}

/*
 * Makes the arrays of cutoffs, without cutoffs, in place of those before: by code if there are few
 * codes for each of ngroups groups, otherwise hashed, for nhashed groups of which at most a part of
 * the places is taken.  False if they would take more than limit bytes.
 */
static bool
make_places(GroupBound *bound, uint64 ngroups, uint64 nhashed, double part, Size limit)
{
	MemoryContext memory = MemoryContextGetParent(bound->store->memory);
	bool		hashed = bound->code.ncodes > ngroups * SPARSE_FACTOR + SPARSE_SLACK;
	bool		refs = hashed || !bound->frozen;
	Size		width = bound->each * sizeof(uint64) + (refs ? sizeof(uint32) : 0);
	uint64		places = bound->code.ncodes + 1;	/* for rows of groups that have no code: it
													 * refuses nothing */

	if (hashed)
	{
		int			bits = Max(pg_ceil_log2_64((uint64) (nhashed / part) + 1), 4);

		width += sizeof(uint64);
		places = UINT64_C(1) << bits;
		bound->shift = 64 - bits;
		bound->vacant = (uint64) (places * part);
	}
	free_cutoffs(bound);
	if (places > limit / width)
		return false;
	bound->used = places * width;
	bound->images = MemoryContextAllocHuge(memory, places * bound->each * sizeof(uint64));
	memset(bound->images, 0xFF, places * bound->each * sizeof(uint64));
	if (refs)
	{
		bound->refs = MemoryContextAllocHuge(memory, places * sizeof(uint32));
		memset(bound->refs, 0xFF, places * sizeof(uint32));
	}
	if (hashed)
		bound->codes = MemoryContextAllocHuge(memory, places * sizeof(uint64));
	return true;
}

/* Returns the free place for a code that has none; places are hashed. */
static uint64
free_place(const GroupBound *bound, uint64 code)
{
	uint64		mask = (UINT64_C(1) << (64 - bound->shift)) - 1;
	uint64		at = (code * UINT64CONST(0x9E3779B97F4A7C15)) >> bound->shift;

	while (bound->refs[at] != CUTOFF_NONE)
		at = (at + 1) & mask;
	return at;
}

/* Makes the arrays of cutoffs; false if they would take too much memory. */
static bool
place_cutoffs(GroupBound *bound, Cut *cut)
{
	/* At most half of hashed places are taken, so that look-ups are short. */
	if (!make_places(bound, cut->groups, cut->ncutoffs, 0.5, bound->memory))
		return false;
	for (uint64 i = 0; i < cut->ncutoffs; i++)
	{
		NewCutoff  *cutoff = &cut->cutoffs[i];
		uint64		at = cutoff->code;

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (bound->codes)
		{
			at = free_place(bound, at);
			bound->codes[at] = cutoff->code;
		}
		bound->images[at] = cutoff->image;
		bound->refs[at] = 0;	/* taken; the reference comes when the row has moved */
		cutoff->code = at;
	}
	return true;
}

void
group_bound_refuse_behind(GroupBound *bound, const RowKey *keys, size_t n)
{
	if (bound->images || bound->frozen)
		return;
	bound->code.ncolumns = bound->spec.ngroup;
	bound->code.columns = bound->columns;
	memset(bound->columns, 0, sizeof(bound->columns));
	for (int k = 0; k < bound->spec.ngroup; k++)
	{
		KeyRange   *range = &bound->columns[k].range;

		*range = EMPTY_KEY_RANGE;
		for (size_t i = 0; i < n; i++)
			if ((keys[i].nulls >> k) & 1)
				range->nulls = true;
			else
				key_range_put(range, keys[i].images[k]);
	}
	if (!key_code_number(&bound->code, n * SPARSE_FACTOR + SPARSE_SLACK) ||
		!make_places(bound, n, n, 1, bound->memory))
	{
		bound->code.ncodes = 0;
		return;
	}
	for (size_t i = 0; i < n; i++)
	{
		uint64		image = cutoff_image(bound, &keys[i]);

		/* Its peers are wanted, and no row is there to be compared with. */
		if (image < PG_UINT64_MAX)
			bound->images[code_of(bound, &keys[i])] = image + 1;
	}
}

/* Keeps the rows of a cut: puts them into the store again, as they lay. */
static void
keep_rows(GroupBound *bound, Cut *cut, const SortContext *context)
{
	RowStore   *store = bound->store;

	if (!wide_sort_pairs(cut->kept, cut->nkept, context))
		row_store_cancelled();
	row_store_restart(store);
	for (uint64 i = 0; i < cut->nkept; i++)
	{
		uint32		cutoff = ROWS_PAIR_REF(cut->kept[i]);
		RowKey		key;
		uint32		moved;

		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		row_store_put_again(store, ROWS_PAIR_KEY(cut->kept[i]), &key, &moved);
		if (cutoff != NO_CUTOFF && bound->images)
			bound->refs[cut->cutoffs[cutoff].code] = moved;
	}
}

/* Stops cutting.  The store gets what memory the cutoffs do not take. */
static void
freeze(GroupBound *bound)
{
	bound->cut_at = PG_UINT64_MAX;
	bound->frozen = true;
	bound->store->limit += bound->memory - bound->used;
}

/* Stops cutting.  The cutoffs stay if they have refused a good part of taken rows. */
static void
give_up(GroupBound *bound, uint64 taken)
{
	if (bound->images && bound->refused < taken / 3)
		free_cutoffs(bound);
	freeze(bound);
}

/* Drops rows; returns how many were dropped. */
static uint64
cut_rows(GroupBound *bound)
{
	RowStore   *store = bound->store;
	uint64		before = store->rows;
	Cut			cut = {0};
	SortContext context;

	Assert(before > 0 && bound->counted && !group_bound_refuses_all(bound) && !bound->frozen);
	pg_sort_context_partial(&context, store->memory);
	if (!number_groups(bound))
	{
		free_cutoffs(bound);
		bound->code.ncodes = 0;
		return 0;
	}
	row_store_sort(store, &context);
	walk_groups(bound, &cut);
	bound->groups = cut.groups;
	if (!place_cutoffs(bound, &cut))
		free_cutoffs(bound);
	keep_rows(bound, &cut, &context);
	pfree(cut.kept);
	if (cut.cutoffs)
		pfree(cut.cutoffs);
	return before - store->rows;
}

bool
group_bound_cut(GroupBound *bound, bool needed)
{
	uint64		before = bound->store->rows;
	uint64		dropped;

	if (bound->frozen)
		return false;
	dropped = before > 0 ? cut_rows(bound) : 0;
	bound->cut_at = bound->store->rows * GROUP_BOUND_FACTOR + CUT_SLACK;

	/* Most rows stay: there are more groups than expected, or too few rows of each yet. */
	if (bound->images == NULL || before == 0 ||
		(dropped < before / 4 && (needed || bound->cut_at > bound->spec.expected_rows / 2)))
		give_up(bound, before);
	bound->refused = 0;
	return true;
}

/*
 * Makes places for images of first rows, whose rows have not come, if there is memory for them and
 * if the first key after the group's says something.  The store gives up what memory they take.
 */
static void
begin_firsts(GroupBound *bound)
{
	RowStore   *store = bound->store;
	double		groups = Max(bound->spec.expected_groups, (double) bound->groups);
	double		most;
	Size		limit;

	free_cutoffs(bound);
	limit = store->limit / FIRSTS_PART;
	bound->each = bound->spec.wanted + bound->spec.next;
	if (bound->code.ncodes == 0 || bound->each == 0 || bound->each > limit / sizeof(uint64) ||
		(bound->spec.ngroup >= store->keys->nexact && bound->spec.ngroup < store->keys->nkeys))
		return;
	bound->firsts = true;
	bound->refused = bound->written = 0;
	/* Of more groups than there is memory for, those that come first have places. */
	most = limit / (2 * ((bound->each + 1) * sizeof(uint64) + sizeof(uint32))) * FIRSTS_FILL;
	row_store_reset(store);
	bound->firsts = make_places(bound, (uint64) groups, (uint64) Min(groups, most), FIRSTS_FILL,
								limit);
	store->limit -= bound->used;
}

/* Whether rows are counted by the different images of their first keys after the group's. */
static bool
counts_different(const GroupBoundSpec *spec)
{
	return spec->kind == GROUP_BOUND_DENSE_RANKS ||
		(spec->kind == GROUP_BOUND_RANKS && spec->next);
}

void
group_bound_written(GroupBound *bound, uint64 rows)
{
	uint64		came;

	if (!bound->frozen)
		freeze(bound);
	if (!bound->firsts)
	{
		if (bound->code.ncodes > 0)
			begin_firsts(bound);
		if (!bound->firsts)
			bound->code.ncodes = 0;
		return;
	}
	bound->written += rows;
	came = bound->written + bound->refused;
	if (came < bound->used / sizeof(uint64) * GROUP_BOUND_FACTOR)
		return;
	/* Of so many rows of each group most are behind the first ones, unless they come in order. */
	if (bound->refused < came / 3)
	{
		bound->firsts = false;
		bound->code.ncodes = 0;
		free_cutoffs(bound);
	}
	bound->refused = bound->written = 0;
}

void
group_bound_note(GroupBound *bound, uint64 code, uint64 at, uint64 image)
{
	uint64	   *images;
	Size		i;

	if (at == PG_UINT64_MAX)
	{
		if (bound->vacant == 0)
			return;
		bound->vacant--;
		at = free_place(bound, code);
		bound->codes[at] = code;
		bound->refs[at] = 0;
	}
	images = bound->images + at * bound->each;
	for (i = 1; i < bound->each && images[i] > image; i++)
		;
	if (i < bound->each && images[i] == image && counts_different(&bound->spec))
		return;
	memmove(images, images + 1, (i - 1) * sizeof(uint64));
	images[i - 1] = image;
}

void
group_bound_finish(GroupBound *bound)
{
	if (bound->frozen)
		free_cutoffs(bound);
	else if (bound->store->rows > 0)
		cut_rows(bound);
}

/*
 * Adds to the codes what key k contributes to them, and marks rows of groups that have
 * no code.
 */
static void
add_to_codes(const GroupBound *bound, int k, const GroupBoundKeys *keys, uint64 *codes,
			 uint8 *unknown)
{
	const uint64 *images = keys->images[k];
	const uint8 *nulls = keys->nulls[k];
	KeyCodeColumn column = bound->columns[k];

	for (int i = 0; i < keys->n; i++)
	{
		bool		isnull = nulls && nulls[i];

		unknown[i] |= !key_code_holds(&column, images[i], isnull);
		codes[i] += key_code_place(&column, images[i], isnull) * column.stride;
	}
}

/* The image of each row's first key after the group's, as group_bound_image. */
static const uint64 *
order_images(const GroupBound *bound, const GroupBoundKeys *keys, uint64 *images)
{
	int			k = bound->spec.ngroup;
	const KeyColumn *key = &bound->store->keys->keys[k];

	if (k >= bound->store->keys->nexact)
	{
		memset(images, 0, keys->n * sizeof(uint64));
		return images;
	}
	if (column_kind_is_wide(key->kind) && keys->nulls[k] == NULL)
		return keys->images[k];
	for (int i = 0; i < keys->n; i++)
		images[i] = group_bound_image(key, keys->images[k][i], keys->nulls[k] && keys->nulls[k][i]);
	return images;
}

/* Whether a row, by this image, may be before a cutoff, or be its peer unless peers are refused. */
static inline bool
may_be_first(uint64 image, uint64 cutoff, bool peers)
{
	/* Without a jump, which would be mispredicted. */
	return (image < cutoff) | (peers & (image == cutoff)) | (cutoff == PG_UINT64_MAX);
}

/* Whether rows whose image is the cutoff's may be wanted. */
static bool
wants_peers(const GroupBound *bound)
{
	const KeyColumns *keys = bound->store->keys;
	int			k = bound->spec.ngroup;

	if (!refuses_peers(bound))
		return true;
	return k < keys->nkeys &&
		(k + 1 < keys->nkeys || k >= keys->nexact || column_kind_is_wide(keys->keys[k].kind));
}

int
group_bound_candidates(GroupBound *bound, const GroupBoundKeys *keys, uint16 *rows)
{
	uint64		codes[MaxHeapTuplesPerPage];
	uint64		images[MaxHeapTuplesPerPage];
	uint8		unknown[MaxHeapTuplesPerPage];
	const uint64 *order;
	const uint64 *cutoffs = bound->images;
	const Size	each = bound->each;
	bool		peers = wants_peers(bound);
	int			n = 0;

	if (cutoffs == NULL)
	{
		for (int i = 0; i < keys->n && !group_bound_refuses_all(bound); i++)
			rows[n++] = i;
		return n;
	}
	memset(codes, 0, keys->n * sizeof(uint64));
	memset(unknown, 0, keys->n);
	for (int i = 0; i < bound->spec.ngroup; i++)
		add_to_codes(bound, i, keys, codes, unknown);
	order = order_images(bound, keys, images);
	if (bound->codes == NULL)
		for (int i = 0; i < keys->n; i++)
		{
			uint64		at = unknown[i] ? bound->code.ncodes : codes[i];

			rows[n] = i;
			n += may_be_first(order[i], cutoffs[at * each], peers);
		}
	else
		for (int i = 0; i < keys->n; i++)
		{
			uint64		at = unknown[i] ? PG_UINT64_MAX : group_bound_find(bound, codes[i]);

			rows[n] = i;
			n += at == PG_UINT64_MAX ||
				may_be_first(order[i], cutoffs[at * each], peers);
		}
	bound->refused += keys->n - n;
	return n;
}

bool
group_bound_refuses_equal(const GroupBound *bound, TupleTableSlot *slot, uint64 image, uint32 ref)
{
	const RowStore *store = bound->store;
	const KeyColumns *keys = store->keys;
	int			i = bound->spec.ngroup;
	bool		compared = i < keys->nexact && (!column_kind_is_wide(keys->keys[i].kind) ||
												(image != 0 && image != PG_UINT64_MAX));
	MinimalTuple tuple;
	int			result = 0;

	if (ref == CUTOFF_NONE || (bound->firsts && image == PG_UINT64_MAX))
		return false;
	if (compared)
		i++;
	if (i == keys->nkeys)
		return refuses_peers(bound);

	/* The cutoff's row is needed, which is in memory only as long as rows are cut. */
	if (bound->frozen)
		return false;
	tuple = row_store_tuple(store, ref);
	for (; result == 0 && i < keys->nkeys; i++)
	{
		KeyColumn  *key = &keys->keys[i];
		bool		isnull;
		bool		last_isnull;
		Datum		value = slot_getattr(slot, key->attno, &isnull);
		Datum		last = row_tuple_value(tuple, store->tupdesc, key->attno, &last_isnull);

		if (i >= keys->nexact)
			result = ApplySortComparator(value, isnull, last, last_isnull,
										 &keys->rest[i - keys->nexact]);
		else
			result = key_compare(key, isnull, isnull ? 0 : key_image(key, value),
								 last_isnull, last_isnull ? 0 : key_image(key, last));
	}
	return result > 0 || (result == 0 && refuses_peers(bound));
}

/*
 * group_bound.h
 *		The first rows of each group: a store that keeps only rows that can be
 *		among the first of their group.
 *
 * The leading keys of a row are its group, the keys after them its place there.
 * Of each group that has as many rows as are wanted, or ranks, the last wanted
 * row is known, the group's cutoff, with which later rows are compared before
 * they are copied.  As bound.c does for LIMIT, the store takes rows until it has
 * some times as many as are wanted; then group_bound_cut drops the others, and
 * moves the cutoffs down.
 *
 * Where next is set, the first row of a group that is not wanted stays as well, and is the cutoff.
 *
 * If rows have to be written to files, there is no room for the first rows of all groups.  Then
 * only the images of their first keys after the group's are known, as many for each group as rows
 * are wanted: the last of these is the cutoff (group_bound_written).
 *
 * More rows than these may be kept.  Whoever asked for a bound looks at
 * the rows itself: a WindowAgg or a Unique stays above the sort.
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_GROUP_BOUND_H
#define HPSORT_PG_NODES_SORT_STORE_GROUP_BOUND_H

#include "pg/nodes/sort/store/row_store.h"
#include "sort/key_code.h"

/* What is counted in a group.  Rows are peers if all keys after the group's are equal. */
typedef enum GroupBoundKind
{
	GROUP_BOUND_NONE = 0,
	GROUP_BOUND_ROWS,			/* rows: row_number(), DISTINCT ON */
	GROUP_BOUND_RANKS,			/* rows before the first peer: rank() */
	GROUP_BOUND_DENSE_RANKS		/* different keys: dense_rank() */
} GroupBoundKind;

/*
 * The store is cut when it has GROUP_BOUND_FACTOR times the rows that are wanted of all groups that
 * are expected, and later of the rows that the last cut has kept; and some more (group_bound.c).
 */
#define GROUP_BOUND_FACTOR 4

/* What is wanted, and what is expected. */
typedef struct GroupBoundSpec
{
	GroupBoundKind kind;
	int			ngroup;			/* leading keys that are the group, all of them mapped */
	bool		next;			/* of each group the row after the wanted ones stays, too */
	uint64		(*count) (void *arg);	/* sets wanted, when the first row has come */
	void	   *arg;
	bool		constant;		/* count is called in vain without rows: nothing is computed */
	uint64		wanted;			/* rows, or ranks, of each group; may be 0 */
	double		expected_groups;
	double		expected_rows;	/* rows that will come */
} GroupBoundSpec;

/* The reference of a group that has no cutoff. */
#define CUTOFF_NONE PG_UINT32_MAX

/* A bound by group on a store, with the cutoffs of the groups that have enough rows. */
typedef struct GroupBound
{
	GroupBoundSpec spec;
	RowStore   *store;
	bool		counted;		/* spec.wanted is set */
	Size		memory;			/* bytes that the cutoffs may take */
	Size		used;			/* bytes they take */
	uint64		cut_at;			/* rows in the store that call for a cut */
	bool		frozen;			/* no rows are cut any more, and those of cutoffs are gone */
	uint64		refused;		/* rows since the last cut, or review */
	uint64		written;		/* rows that were not refused, with firsts, since then */
	uint64		groups;			/* found by the last cut */

	/* The numbers of groups: by the ranges of all keys in the store at the last cut. */
	KeyCode		code;
	KeyCodeColumn columns[KEY_COLUMNS_MAX_MAPPED];

	/*
	 * The cutoffs: arrays by code, and one that refuses nothing; or hashed.  With firsts a place
	 * has the images of each first rows that have come, the last one first; before, each is 1.
	 */
	bool		firsts;
	Size		each;
	uint64	   *images;			/* of the first key after the group; NULL: no cutoffs */
	uint32	   *refs;			/* the row; CUTOFF_NONE; NULL: firsts by code */
	uint64	   *codes;			/* hashed: whose cutoff this is; NULL: by code */
	uint64		vacant;			/* hashed, with firsts: places for more groups */
	int			shift;			/* hashed: for 2^(64 - shift) places */
} GroupBound;

/*
 * Some rows by the images of their keys: those of the group, and the first after it if it is
 * mapped.
 */
typedef struct GroupBoundKeys
{
	int			n;
	uint64	   *images[KEY_COLUMNS_MAX_MAPPED];
	const uint8 *nulls[KEY_COLUMNS_MAX_MAPPED]; /* 1: NULL; NULL: no key of these rows is */
} GroupBoundKeys;

/*
 * Starts a bound on an empty store, of which it takes a part of the memory.  spec->count is called
 * when the first row comes: what is wanted may be computed then, and not without rows.
 */
extern GroupBound *group_bound_create(RowStore *store, const GroupBoundSpec *spec);

/*
 * Drops the rows that cannot be among the first of their group.  If these are too few
 * to be worth it, the bound is given up: all later rows are kept that the cutoffs, if
 * they are of use, do not refuse, and the store gets the memory of the cutoffs that go.
 * needed: the store has no room; else rows may be few as long as not half of those that are
 * expected have come.  Returns false if the bound was given up before.
 */
extern bool group_bound_cut(GroupBound *bound, bool needed);

/* The last cut, when all rows are there; or the end of cutoffs, if rows have been written. */
extern void group_bound_finish(GroupBound *bound);

/*
 * The rows of the store have been written to a file, and the store is empty.  From the first time
 * on rows are refused by the images of those that have come since then, as long as these are of
 * use.
 */
extern void group_bound_written(GroupBound *bound, uint64 rows);

/* Sets what is wanted of each group. */
extern void group_bound_count(GroupBound *bound);

/*
 * The slow step of group_bound_refuses: whether a row whose first key is the cutoff's is refused.
 */
extern bool group_bound_refuses_equal(const GroupBound *bound, TupleTableSlot *slot,
									  uint64 image, uint32 ref);

/*
 * With firsts, notes a row that is not refused: its code, its place or PG_UINT64_MAX, its image.
 */
extern void group_bound_note(GroupBound *bound, uint64 code, uint64 at, uint64 image);

/*
 * Sets rows to the numbers, in ascending order, of the rows that may be among the first of their
 * group, and returns how many they are: of these group_bound_refuses must be asked.  The others are
 * refused.
 */
extern int	group_bound_candidates(GroupBound *bound, const GroupBoundKeys *keys, uint16 *rows);

/*
 * Has rows refused that come behind keys of n groups, each of another one: the mapped keys of the
 * last row that can be among its first.  Without effect where there are cutoffs already, or groups
 * are few beside their codes.
 */
extern void group_bound_refuse_behind(GroupBound *bound, const RowKey *keys, size_t n);

/* Whether no row is wanted of any group.  There is a row. */
static inline bool
group_bound_refuses_all(GroupBound *bound)
{
	if (unlikely(!bound->counted))
		group_bound_count(bound);
	return bound->spec.wanted == 0 && !bound->spec.next;
}

/* Whether it is time for a cut. */
static inline bool
group_bound_is_full(const GroupBound *bound)
{
	return bound->store->rows >= bound->cut_at;
}

/* Where the cutoff of a code is; PG_UINT64_MAX if it has none. */
static inline uint64
group_bound_find(const GroupBound *bound, uint64 code)
{
	uint64		mask;
	uint64		at;

	if (bound->codes == NULL)
		return code;
	mask = (UINT64_C(1) << (64 - bound->shift)) - 1;
	for (at = (code * UINT64CONST(0x9E3779B97F4A7C15)) >> bound->shift;; at = (at + 1) & mask)
	{
		if (bound->refs[at] == CUTOFF_NONE)
			return PG_UINT64_MAX;
		if (bound->codes[at] == code)
			return at;
	}
}

/*
 * The image of a key as one number in its order, NULL included.  Of narrow keys
 * different numbers are different keys; of others NULL shares its number with one
 * end of the range.
 */
static inline uint64
group_bound_image(const KeyColumn *key, uint64 image, bool isnull)
{
	if (unlikely(isnull))
		return key->nulls_first ? 0 : PG_UINT64_MAX;
	return image + (column_kind_is_wide(key->kind) ? 0 : 1);
}

/* Whether a row cannot be among the first of its group. */
static inline bool
group_bound_refuses(GroupBound *bound, TupleTableSlot *slot)
{
	KeyColumns *keys = bound->store->keys;
	int			ngroup = bound->spec.ngroup;
	uint64		image = 0;
	uint64		code = 0;
	uint64		cutoff;
	uint64		at;
	bool		isnull;
	Datum		value;

	if (bound->images == NULL)
		return group_bound_refuses_all(bound);
	for (int i = 0; i < ngroup; i++)
	{
		const KeyCodeColumn *column = &bound->columns[i];
		uint64		group;

		value = slot_getattr(slot, keys->keys[i].attno, &isnull);
		group = isnull ? 0 : key_image(&keys->keys[i], value);
		if (!key_code_holds(column, group, isnull))
			return false;
		code += key_code_place(column, group, isnull) * column->stride;
	}
	at = group_bound_find(bound, code);
	if (at == PG_UINT64_MAX && !bound->firsts)
		return false;
	if (ngroup < keys->nexact)
	{
		KeyColumn  *key = &keys->keys[ngroup];

		value = slot_getattr(slot, key->attno, &isnull);
		image = group_bound_image(key, isnull ? 0 : key_image(key, value), isnull);
	}
	cutoff = at == PG_UINT64_MAX ? at : bound->images[at * bound->each];
	if (image < cutoff ||
		(image == cutoff && (at == PG_UINT64_MAX ||
							 !group_bound_refuses_equal(bound, slot, image,
														bound->refs ? bound->refs[at] : 0))))
	{
		if (bound->firsts)
			group_bound_note(bound, code, at, image);
		return false;
	}
	bound->refused++;
	return true;
}

#endif							/* HPSORT_PG_NODES_SORT_STORE_GROUP_BOUND_H */

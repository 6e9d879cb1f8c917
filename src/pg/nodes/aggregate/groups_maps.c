/*
 * groups_maps.c
 *		The lookups of a star join as maps of the fact's keys (see groups_maps.h).
 *
 * Rows of the fact that have each value once, and NULL in all other columns, go through the node's
 * own lookups and derived columns.  Only plain columns of lookups are grouped by: an expression
 * might raise an error for a value that no row has.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/guc.h"
#include "pg/nodes/aggregate/groups_maps.h"

/* Returns the map of a column, which may be a new one. */
static GroupsMap *
find_map(GroupsMaps *maps, int column)
{
	int			m;

	for (m = 0; m < maps->nmaps; m++)
		if (maps->maps[m].column == column)
			return &maps->maps[m];
	maps->maps[m].column = column;
	maps->nmaps++;
	return &maps->maps[m];
}

/* Whether a grouping column is one of the scan, or a plain one of a lookup, whose map it gets. */
static bool
find_field(GroupsMaps *maps, const GroupsState *node, int g)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	Expr	   *expression = list_nth_node(TargetEntry, scan->custom_scan_tlist, g)->expr;
	const Var  *column = plain_column(expression);
	RowInput	input = {.column = column};

	if (column == NULL)
		return node->derived.of_groups[g] == NULL;
	if (groups_star_input(node, column, &input))
		maps->fields[g].map = find_map(maps, groups_star_key(node, input.batch - node->nread));
	return true;
}

GroupsMaps *
groups_maps_make(GroupsState *node)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	GroupsMaps *maps = palloc0_object(GroupsMaps);
	int			l;
	int			g;

	/* The scan tests no keys then, which takes the CPU more time. */
	if (hpsort_device_setting == SORT_DEVICE_CPU || node->star.conditions != NIL ||
		!boolVal(list_nth(scan->custom_private, GROUPS_PLAN_GPU)))
		return NULL;
	maps->maps = palloc0_array(GroupsMap, node->star.n);
	maps->fields = palloc0_array(MappedField, node->ngroups + 1);
	for (l = 0; l < node->star.n; l++)
	{
		int			column = groups_star_key(node, l);

		if (column < 0)
			return NULL;
		find_map(maps, column);
	}
	for (g = 0; g < node->ngroups; g++)
		if (!find_field(maps, node, g))
			return NULL;
	return maps;
}

int
groups_maps_columns(const GroupsMaps *maps, int ngroups)
{
	int			n = ngroups;
	int			g;

	for (g = 0; g < ngroups; g++)
		n -= groups_maps_have(maps, g);
	return n + (maps ? maps->nmaps : 0);
}

/* --- what values become */

/* Finds the bounds of a column's values, and makes the arrays; false if there are too many. */
static bool
begin_map(GroupsMap *map, const ResidentRows *rows, const LookupNotes *notes)
{
	int32		lo;
	int32		hi;
	bool		nulls;
	size_t		i;

	if (resident_rows_have_numbers(rows, map->column))
		return false;
	resident_rows_all_bounds(rows, map->column, &lo, &hi, &nulls);
	for (i = 0; i < notes->n; i++)
		if (!notes->columns[map->column].nulls[i])
		{
			lo = Min(lo, notes->columns[map->column].keys[i]);
			hi = Max(hi, notes->columns[map->column].keys[i]);
		}
	map->lo = lo <= hi ? lo : 0;
	map->n = 0;
	if (lo <= hi && (int64) hi - lo >= RESIDENT_MAP_MOST)
		return false;
	if (lo <= hi)
		map->n = (size_t) ((int64) hi - lo + 1);
	map->joined = palloc_array(uint8, map->n + COLUMN_BATCH_KEYS);
	return true;
}

/*
 * Makes rows of the fact with the values of a map from number at on, and returns how many; origin
 * is what the GPU has as 0.
 */
static size_t
make_rows(const GroupsState *node, const GroupsMap *map, int64 origin, size_t at,
		  ColumnBatch *batches)
{
	size_t		n = Min(map->n + 1 - at, COLUMN_BATCH_KEYS);
	size_t		i;
	int			b;

	for (b = 0; b < node->nread; b++)
	{
		BatchSpace	space;

		column_batch_empty(&batches[b]);
		space = column_batch_space(&batches[b], n);
		for (i = 0; i < n; i++)
		{
			int64		value = b == map->column ? origin + map->lo + (int64) (at + i) : 0;

			space.nulls[i] = b != map->column || at + i == map->n;
			if (space.keys)
				space.keys[i] = space.nulls[i] ? 0 : (int32) value;
			else
				space.wide[i] = space.nulls[i] ? 0 : value;
		}
		column_batch_add(&batches[b], n, b != map->column ? n : at + n > map->n);
	}
	return n;
}

/*
 * Sets values to those that n rows in node->derived.batches have in a grouping column, and places
 * to -1 where they are NULL; false if one of them has no number.
 */
static bool
read_field(GroupsState *node, int g, const uint8 *joined, size_t n, int64 *values, int32 *places)
{
	DerivedColumn *derived = node->derived.of_groups[g];
	const ColumnBatch *batch = derived_batch(derived, node->derived.batches);
	Dictionary *dictionary = node->group_domains[g].dictionary;
	const OutsizedValue *outsized;
	bool		known = derived_outsized(derived, &outsized) == 0;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		values[i] = batch->keys ? batch->keys[i] : batch->wide[i];
		places[i] = batch->nulls[i] || !joined[i] ? -1 : 0;
		known &= dictionary == NULL || places[i] < 0 || values[i] >= 0;
	}
	if (dictionary && dictionary_nrefused(dictionary) > 0)
		dictionary_forget_refused(dictionary);
	return known;
}

static int
compare_values(const void *a, const void *b)
{
	int64		left = *(const int64 *) a;
	int64		right = *(const int64 *) b;

	return left < right ? -1 : left > right;
}

/* Finds the different values, among those by number, and gives each value its place. */
static void
place_values(MappedField *field, const int64 *values)
{
	const GroupsMap *map = field->map;
	size_t		n = 0;
	size_t		i;

	field->values = palloc_array(int64, map->n + 1);
	field->nulls = false;
	for (i = 0; i <= map->n; i++)
	{
		field->nulls |= map->joined[i] && field->places[i] < 0;
		if (field->places[i] >= 0)
			field->values[n++] = values[i];
	}
	qsort(field->values, n, sizeof(int64), compare_values);
	field->nvalues = Min(n, 1);
	for (i = 1; i < n; i++)
		if (field->values[i] != field->values[field->nvalues - 1])
			field->values[field->nvalues++] = field->values[i];
	for (i = 0; i <= map->n; i++)
		if (field->places[i] >= 0)
			field->places[i] = (int32) ((const int64 *) bsearch(&values[i], field->values,
																field->nvalues, sizeof(int64),
																compare_values) -
										field->values);
}

/* Finds what rows become by a map; batches are for rows of the fact. */
static bool
fill_map(GroupsMaps *maps, GroupsMap *map, GroupsState *node, int64 origin, ColumnBatch *batches)
{
	int64	  **values = palloc0_array(int64 *, node->ngroups + 1);
	bool		known = true;
	size_t		at;
	size_t		n;
	int			g;

	for (g = 0; g < node->ngroups; g++)
	{
		if (maps->fields[g].map != map)
			continue;
		values[g] = palloc_array(int64, map->n + COLUMN_BATCH_KEYS);
		maps->fields[g].places = palloc_array(int32, map->n + COLUMN_BATCH_KEYS);
	}
	for (at = 0; at <= map->n && known; at += n)
	{
		CHECK_FOR_INTERRUPTS();
		n = make_rows(node, map, origin, at, batches);
		groups_star_place(node, map->column, batches, map->joined + at);
		for (g = 0; g < node->ngroups && known; g++)
			if (values[g])
				known = read_field(node, g, map->joined + at, n, values[g] + at,
								   maps->fields[g].places + at);
	}
	for (g = 0; g < node->ngroups; g++)
	{
		if (values[g] == NULL)
			continue;
		if (known)
			place_values(&maps->fields[g], values[g]);
		pfree(values[g]);
	}
	return known;
}

bool
groups_maps_find(GroupsMaps *maps, GroupsState *node, const ResidentRows *rows,
				 const LookupNotes *notes)
{
	ColumnBatch *batches = groups_star_make_batches(node);
	bool		known = true;
	size_t		size = 0;
	int			m;
	int			b;

	for (m = 0; m < maps->nmaps && known; m++)
	{
		known = begin_map(&maps->maps[m], rows, notes);
		size += known ? maps->maps[m].n : 0;
	}
	/* By value: its places and values, and once more while these are sorted. */
	known = known &&
		size <= notes->limit / (sizeof(int32) + 3 * sizeof(int64)) / (node->ngroups + 1);
	for (m = 0; m < maps->nmaps && known; m++)
		known = fill_map(maps, &maps->maps[m], node,
						 resident_rows_origin(rows, maps->maps[m].column), batches);
	for (b = 0; b < node->nread; b++)
		column_batch_free(&batches[b]);
	pfree(batches);
	return known;
}

KeyRange
groups_maps_range(const GroupsMaps *maps, int g)
{
	const MappedField *field = &maps->fields[g];
	KeyRange	range = EMPTY_KEY_RANGE;

	if (field->nvalues > 0)
	{
		range.lo = field_image(0);
		range.hi = field_image((int64) field->nvalues - 1);
	}
	range.nulls = field->nulls;
	return range;
}

void
groups_maps_fill(const GroupsMaps *maps, int ngroups, const ColumnBatch *noted,
				 ColumnBatch *batches, uint8 *joined)
{
	size_t		n = noted[maps->maps[0].column].n;
	size_t		i;
	int			m;
	int			g;

	for (m = 0; m < maps->nmaps; m++)
	{
		const GroupsMap *map = &maps->maps[m];
		const ColumnBatch *keys = &noted[map->column];

		for (i = 0; i < n; i++)
			joined[i] &= map->joined[keys->nulls[i] ? map->n : (size_t) (keys->keys[i] - map->lo)];
	}
	for (g = 0; g < ngroups; g++)
	{
		const MappedField *field = &maps->fields[g];
		const ColumnBatch *keys;
		BatchSpace	space;
		size_t		nnulls = 0;

		if (field->map == NULL)
			continue;
		keys = &noted[field->map->column];
		column_batch_make(&batches[g], BATCH_KEYS | BATCH_NULLS, COLUMN_BATCH_KEYS);
		space = column_batch_space(&batches[g], n);
		for (i = 0; i < n; i++)
		{
			int32		place = field->places[keys->nulls[i] ? field->map->n :
											  (size_t) (keys->keys[i] - field->map->lo)];

			/* A row that is not joined may be of any group. */
			space.nulls[i] = field->nulls && (place < 0 || !joined[i]);
			space.keys[i] = Max(place, 0);
			nnulls += space.nulls[i];
		}
		column_batch_add(&batches[g], n, nnulls);
	}
}

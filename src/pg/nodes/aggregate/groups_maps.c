/*
 * groups_maps.c
 *		Grouping expressions and lookups as maps of columns (see groups_maps.h).
 *
 * Rows that have each value once, and NULL in all other columns, go through the node's own lookups
 * and derived columns.  Rows with values that conditions refuse have NULL, and are not joined.  An
 * expression may still raise an error for a value that no row has: then there is no map, and rows
 * are read, as far as there are some.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "pg/guarded_call.h"
#include "pg/guc.h"
#include "pg/nodes/aggregate/groups_maps.h"

/* Rows that have values of a column in a map, made at once. */
#define MADE_AT_ONCE 256

/*
 * Microseconds that making a map may take in all, and for each value: some 100 times as long as is
 * usual.  Expressions that take longer are better computed for values that occur (a factorial, say,
 * of each number up to the largest one).
 */
#define MADE_MOST_US 100000
#define MADE_MOST_EACH_US 50

/* Returns the map of a column; NULL if it has none. */
static GroupsMap *
find_map(const GroupsMaps *maps, int column)
{
	for (int m = 0; m < maps->nmaps; m++)
		if (maps->maps[m].column == column)
			return &maps->maps[m];
	return NULL;
}

static void
add_map(GroupsMaps *maps, int column)
{
	if (find_map(maps, column) == NULL)
		maps->maps[maps->nmaps++].column = column;
}

/*
 * Returns the index of the only column of the scan of which a batch is computed, by lookups
 * perhaps; -1 if there are several, or if it has values that cannot be made.
 */
static int
find_base(const GroupsState *node, int batch)
{
	int			d = batch - node->nread;
	const RowInput *inputs;
	int			base;
	int			n;

	if (d < 0)
		return batch;
	if (d < node->star.n)
		return groups_star_key(node, d);
	inputs = derived_inputs(node->derived.columns[d], &n);
	base = find_base(node, inputs[0].batch);
	for (int i = 0; i < n; i++)
		if (find_base(node, inputs[i].batch) != base || inputs[i].domain.datums ||
			inputs[i].domain.kind == COLUMN_KIND_ENUM)
			return -1;
	return base;
}

/* Whether a grouping column is one of the scan, an enum perhaps in the order of its labels. */
static bool
is_of_scan(const GroupsState *node, int g, const Expr *expression)
{
	const DerivedColumn *derived = node->derived.of_groups[g];

	return derived == NULL || (derived_domain(derived)->labels &&
							   column_is_read(plain_column(expression), node->star.fact));
}

/* Adds the map of a grouping column that is not of the scan; false if it cannot have one. */
static bool
add_field(GroupsMaps *maps, const GroupsState *node, int g)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	Expr	   *expression = list_nth_node(TargetEntry, scan->custom_scan_tlist, g)->expr;
	int			base;

	if (is_of_scan(node, g, expression))
		return true;
	base = find_base(node, node->groups[g].column);
	if (base < 0 || (plain_column(expression) == NULL && !expression_may_be_tried(expression)))
		return false;
	add_map(maps, base);
	return true;
}

bool
groups_maps_make(const GroupsState *node, GroupsMaps **maps)
{
	const CustomScan *scan = (const CustomScan *) node->css.ss.ps.plan;
	GroupsMaps *made = palloc0_object(GroupsMaps);

	*maps = NULL;
	/* The scan tests no keys then, which takes the CPU more time. */
	if (node->star.conditions != NIL ||
		(node->star.n > 0 && (hpsort_device_setting == SORT_DEVICE_CPU ||
							  !boolVal(list_nth(scan->custom_private, GROUPS_PLAN_GPU)))))
		return false;
	made->maps = palloc0_array(GroupsMap, node->star.n + node->ngroups + 1);
	made->fields = palloc0_array(MappedField, node->ngroups + 1);
	for (int l = 0; l < node->star.n; l++)
	{
		int			column = groups_star_key(node, l);

		if (column < 0)
			return false;
		add_map(made, column);
	}
	for (int g = 0; g < node->ngroups; g++)
		if (!add_field(made, node, g))
			return false;
	/* A column beside expressions of it, or by which rows are joined, is in the key by its map. */
	for (int g = 0; g < node->ngroups; g++)
		made->fields[g].map = find_map(made, find_base(node, node->groups[g].column));
	if (made->nmaps > 0)
		*maps = made;
	return true;
}

int
groups_maps_columns(const GroupsMaps *maps, int ngroups)
{
	int			n = ngroups;

	for (int g = 0; g < ngroups; g++)
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

	resident_rows_all_bounds(rows, map->column, &lo, &hi, &nulls);
	for (size_t i = 0; i < notes->n; i++)
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

/* Rows with values of a map, which become what they become by it. */
typedef struct MadeRows
{
	GroupsState *node;
	const GroupsMap *map;
	const ResidentRows *rows;
	GroupsNumbers *numbers;		/* of the column, if extents have some */
	ColumnBatch *batches;
	size_t		n;
	uint8		refused[MADE_AT_ONCE];	/* by row: conditions refuse its value */
	uint8	   *joined;			/* by row: whether it is joined */
} MadeRows;

/* Makes rows with the values of a map from number at on; false if a value has no number. */
static bool
make_rows(MadeRows *rows, size_t at)
{
	const GroupsMap *map = rows->map;
	int64		origin = resident_rows_origin(rows->rows, map->column);
	bool		known = true;

	rows->n = Min(map->n + 1 - at, MADE_AT_ONCE);
	for (int b = 0; b < rows->node->nread; b++)
	{
		BatchSpace	space;
		size_t		nnulls = 0;

		column_batch_empty(&rows->batches[b]);
		space = column_batch_space(&rows->batches[b], rows->n);
		for (size_t i = 0; i < rows->n; i++)
		{
			int32		key = (int32) (map->lo + (int64) (at + i));
			int64		value = 0;

			if (b == map->column)
				rows->refused[i] = at + i < map->n &&
					!resident_rows_accept(rows->rows, b, key);
			space.nulls[i] = b != map->column || at + i == map->n || rows->refused[i];
			if (!space.nulls[i])
				value = rows->numbers->rows ? groups_numbers_find(rows->numbers, key) :
					origin + key;
			known &= value >= 0 || rows->numbers->rows == NULL;
			batch_space_set(&space, i, value);
			nnulls += space.nulls[i];
		}
		column_batch_add(&rows->batches[b], rows->n, nnulls);
	}
	return known;
}

/* For guarded_call: finds the places of rows, and computes the derived columns of the map. */
static void
derive_rows(void *arg)
{
	const MadeRows *rows = (const MadeRows *) arg;
	GroupsState *node = rows->node;

	groups_star_place(node, rows->map->column, rows->batches, rows->joined);
	for (size_t i = 0; i < rows->n; i++)
		rows->joined[i] &= !rows->refused[i];
	for (int d = node->star.n; d < node->derived.n; d++)
		if (find_base(node, node->nread + d) == rows->map->column)
			node->derived.batches[node->nread + d] = *derived_batch(node->derived.columns[d],
																	node->derived.batches);
}

/* Whether an error is none of an expression: memory is short, or a cancel or a conflict. */
static bool
ends_query(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_INSUFFICIENT_RESOURCES ||
		category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_TRANSACTION_ROLLBACK;
}

/* Does so; false if an expression has failed. */
static bool
derive_rows_guarded(MadeRows *rows)
{
	ErrorData  *error = NULL;
	bool		derived;

	derived = guarded_call(derive_rows, rows, &error);
	if (error && ends_query(error))
		ReThrowError(error);
	return derived;
}

/*
 * Sets values to those that n rows in node->derived.batches have in a grouping column, and places
 * to -1 where they are NULL; false if one of them has no number.
 */
static bool
read_field(GroupsState *node, int g, const uint8 *joined, size_t n, int64 *values, int32 *places)
{
	const DerivedColumn *derived = node->derived.of_groups[g];
	const ColumnBatch *batch = &node->derived.batches[node->groups[g].column];
	Dictionary *dictionary = node->group_domains[g].dictionary;
	const OutsizedValue *outsized;
	bool		known = derived == NULL || derived_outsized(derived, &outsized) == 0;

	for (size_t i = 0; i < n; i++)
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

	field->values = palloc_array(int64, map->n + 1);
	field->nulls = false;
	for (size_t i = 0; i <= map->n; i++)
	{
		field->nulls |= map->joined[i] && field->places[i] < 0;
		if (field->places[i] >= 0)
			field->values[n++] = values[i];
	}
	qsort(field->values, n, sizeof(int64), compare_values);
	field->nvalues = Min(n, 1);
	for (size_t i = 1; i < n; i++)
		if (field->values[i] != field->values[field->nvalues - 1])
			field->values[field->nvalues++] = field->values[i];
	for (size_t i = 0; i <= map->n; i++)
		if (field->places[i] >= 0)
			field->places[i] = (int32) ((const int64 *) bsearch(&values[i], field->values,
																field->nvalues, sizeof(int64),
																compare_values) -
										field->values);
}

/* Finds what rows become by a map. */
static bool
fill_map(GroupsMaps *maps, GroupsMap *map, MadeRows *rows)
{
	GroupsState *node = rows->node;
	int64	  **values = palloc0_array(int64 *, node->ngroups + 1);
	bool		known = true;
	instr_time	start;
	instr_time	now;

	INSTR_TIME_SET_CURRENT(start);
	for (int g = 0; g < node->ngroups; g++)
	{
		if (maps->fields[g].map != map)
			continue;
		values[g] = palloc_array(int64, map->n + COLUMN_BATCH_KEYS);
		maps->fields[g].places = palloc_array(int32, map->n + COLUMN_BATCH_KEYS);
	}
	rows->map = map;
	for (size_t at = 0; at <= map->n && known; at += rows->n)
	{
		CHECK_FOR_INTERRUPTS();
		rows->joined = map->joined + at;
		known = make_rows(rows, at) && derive_rows_guarded(rows);
		for (int g = 0; g < node->ngroups && known; g++)
			if (values[g])
				known = read_field(node, g, rows->joined, rows->n, values[g] + at,
								   maps->fields[g].places + at);
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
		known &= INSTR_TIME_GET_MICROSEC(now) <= MADE_MOST_US + MADE_MOST_EACH_US * (at + rows->n);
	}
	for (int g = 0; g < node->ngroups; g++)
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
				 GroupsNumbers *numbers, const LookupNotes *notes)
{
	MadeRows	made = {.node = node,.rows = rows};
	bool		known = true;
	size_t		size = 0;

	if (maps == NULL)
		return true;
	made.batches = groups_star_make_batches(node);
	for (int m = 0; m < maps->nmaps && known; m++)
	{
		known = begin_map(&maps->maps[m], rows, notes);
		size += known ? maps->maps[m].n : 0;
	}
	/* By value: its places and values, and once more while these are sorted. */
	known = known &&
		size <= notes->limit / (sizeof(int32) + 3 * sizeof(int64)) / (node->ngroups + 1);
	for (int m = 0; m < maps->nmaps && known; m++)
	{
		made.numbers = &numbers[maps->maps[m].column];
		known = fill_map(maps, &maps->maps[m], &made);
	}
	for (int b = 0; b < node->nread; b++)
		column_batch_free(&made.batches[b]);
	pfree(made.batches);
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

	for (int m = 0; m < maps->nmaps; m++)
	{
		const GroupsMap *map = &maps->maps[m];
		const ColumnBatch *keys = &noted[map->column];

		for (size_t i = 0; i < n; i++)
			joined[i] &= map->joined[keys->nulls[i] ? map->n : (size_t) (keys->keys[i] - map->lo)];
	}
	for (int g = 0; g < ngroups; g++)
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
		for (size_t i = 0; i < n; i++)
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

/*
 * abbreviation.c
 *		Abbreviated keys of core's sort support as unsigned integers (see
 *		abbreviation.h).
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/nodes/sort/store/abbreviation.h"

/* The bits of a Datum, and its sign. */
#define DATUM_MASK ((uint64) ~(Datum) 0)
#define DATUM_SIGN (DATUM_MASK ^ (DATUM_MASK >> 1))

/* What abbreviation_find_out has found out. */
typedef struct KnownKey
{
	Oid			opfamily;
	Oid			type;
	Oid			collation;
} KnownKey;

/* An answer of abbreviation_find_out.  It is valid until operator classes or collations change. */
typedef struct Known
{
	KnownKey	key;			/* must be first */
	bool		valid;
	bool		exists;
} Known;

static HTAB *known = NULL;
AbbreviationAnswer abbreviation_last_answer;

/*
 * Whether a comparison function compares Datums as signed integers of their size,
 * the larger before the smaller: at the ends of their range and around 0.
 */
static bool
compares_downward(SortSupport ssup)
{
	const Datum ascending[] = {(Datum) DATUM_SIGN, (Datum) DATUM_SIGN + 1, (Datum) -1, 0, 1,
	(Datum) (DATUM_MASK >> 1) - 1, (Datum) (DATUM_MASK >> 1)};

	for (int i = 0; i < lengthof(ascending); i++)
		for (int j = 0; j < lengthof(ascending); j++)
		{
			int			result = ssup->comparator(ascending[i], ascending[j], ssup);

			if ((result < 0) != (i > j) || (result > 0) != (i < j))
				return false;
		}
	return true;
}

/*
 * How the abbreviations of a prepared sort support become unsigned integers in
 * ascending order; false if that is not known, or if there are none.
 *
 * A comparison function is known by its address, and that of numeric, which is
 * private, by the function that has set it.  Its abbreviations are those of the
 * negated values: the comparison is backward, which is tested here nevertheless.
 */
static bool
find_order(Abbreviation *abbreviation, SortSupport ssup, Oid opfamily, Oid opcintype)
{
	Oid			support = get_opfamily_proc(opfamily, opcintype, opcintype, BTSORTSUPPORT_PROC);

	/* A function of an extension may have let go of what it needs when it refuses. */
	abbreviation->from_core = support < FirstNormalObjectId;
	if (ssup->abbrev_converter == NULL || ssup->abbrev_abort == NULL)
		return false;
	abbreviation->mask = DATUM_MASK;
	if (ssup->comparator == ssup_datum_unsigned_cmp)
		abbreviation->flip = 0;
#if SIZEOF_DATUM >= 8
	else if (ssup->comparator == ssup_datum_signed_cmp)
		abbreviation->flip = DATUM_SIGN;
#endif
	else if (ssup->comparator == ssup_datum_int32_cmp)
	{
		abbreviation->mask = PG_UINT32_MAX;
		abbreviation->flip = UINT64CONST(1) << 31;
	}
	else if (support == F_NUMERIC_SORTSUPPORT && compares_downward(ssup))
		abbreviation->flip = DATUM_MASK ^ DATUM_SIGN;
	else
		return false;
	return true;
}

/* Which values' first bytes their abbreviations are, as these functions of core make them. */
static AbbreviationBytes
find_bytes(Oid support, Oid collation)
{
#if SIZEOF_DATUM >= 8
	switch (support)
	{
		case F_BTTEXTSORTSUPPORT:
			if (compat_collation_is_c(collation))
				return ABBREVIATION_BYTES_VARLENA;
			break;
		case F_BTTEXT_PATTERN_SORTSUPPORT:
		case F_BYTEA_SORTSUPPORT:
			return ABBREVIATION_BYTES_VARLENA;
		case F_UUID_SORTSUPPORT:
			return ABBREVIATION_BYTES_UUID;
	}
#endif
	return ABBREVIATION_BYTES_OTHERS;
}

bool
abbreviation_is_first_bytes(Oid sortop, Oid collation)
{
	Oid			opfamily;
	Oid			opcintype;
	bool		descending;

	return compat_ordering_op(sortop, &opfamily, &opcintype, &descending) &&
		find_bytes(get_opfamily_proc(opfamily, opcintype, opcintype, BTSORTSUPPORT_PROC),
				   collation) !=
		ABBREVIATION_BYTES_OTHERS;
}

void
abbreviation_start(Abbreviation *abbreviation, Oid sortop, Oid collation, MemoryContext memory)
{
	MemoryContext old = MemoryContextSwitchTo(memory);
	SortSupport ssup = (SortSupport) palloc0(sizeof(SortSupportData));
	Oid			opfamily;
	Oid			opcintype;
	bool		descending;

	abbreviation_stop(abbreviation);
	ssup->ssup_cxt = memory;
	ssup->ssup_collation = collation;
	ssup->abbreviate = true;
	PrepareSortSupportFromOrderingOp(sortop, ssup);
	if (compat_ordering_op(sortop, &opfamily, &opcintype, &descending) &&
		find_order(abbreviation, ssup, opfamily, opcintype))
	{
		abbreviation->ssup = ssup;
		abbreviation->bytes = find_bytes(get_opfamily_proc(opfamily, opcintype, opcintype,
														   BTSORTSUPPORT_PROC),
										 collation);
		abbreviation->values = (uint64 *) palloc0(sizeof(uint64));
	}
	MemoryContextSwitchTo(old);
}

bool
abbreviation_is_refused(const Abbreviation *abbreviation, uint64 rows)
{
	SortSupport ssup = abbreviation->ssup;

	return ssup != NULL && ssup->abbrev_abort((int) Min(rows, PG_INT32_MAX), ssup);
}

void
abbreviation_watch(Abbreviation *abbreviation, int16 typlen)
{
	Repeats    *repeats = MemoryContextAlloc(abbreviation->ssup->ssup_cxt, sizeof(Repeats));

	repeats->typlen = typlen;
	repeats->seen = repeats->repeated = 0;
	repeats->next_look = REPEATS_FIRST;
	memset(repeats->states, REPEATS_FREE, sizeof(repeats->states));
	abbreviation->repeats = repeats;
}

/*
 * Bytes by which a value is known; 0 if it is not, as what it points to may change, or if these
 * are too many.
 */
static Size
value_size(const Repeats *repeats, const char *value)
{
	Size		size;

	if (repeats->typlen > 0)
		size = repeats->typlen;
	else if (repeats->typlen == -2)
		size = strlen(value) + 1;
	else if (VARATT_IS_EXTERNAL(value))
		return 0;
	else
		size = VARSIZE_ANY(value);
	return size <= REPEATS_VALUE_MAX ? size : 0;
}

bool
repeats_see(Repeats *repeats, uint64 image, Datum datum)
{
	const char *value = DatumGetPointer(datum);
	uint32		slot = repeats_slot(image);
	Size		size;

	if (unlikely(++repeats->seen > repeats->next_look))
	{
		uint64		wanted = repeats->next_look / (repeats->next_look == REPEATS_FIRST ?
												   REPEATS_FIRST_PART : REPEATS_PART);

		if (repeats->repeated < wanted)
			return false;
		repeats->next_look *= 4;
	}
	if (repeats->states[slot] == REPEATS_FREE)
	{
		/* No value of this abbreviation has been seen: an earlier one would have taken the slot. */
		size = value_size(repeats, value);
		repeats->images[slot] = image;
		repeats->states[slot] = size > 0 ? REPEATS_ALIKE : REPEATS_DIFFERENT;
		repeats->sizes[slot] = (uint8) size;
		memcpy(repeats->values[slot], value, size);
		return true;
	}
	if (repeats->images[slot] != image)
		return true;
	repeats->repeated++;
	if (repeats->states[slot] == REPEATS_ALIKE)
	{
		size = value_size(repeats, value);
		if (size != repeats->sizes[slot] || memcmp(value, repeats->values[slot], size) != 0)
			repeats->states[slot] = REPEATS_DIFFERENT;
	}
	return true;
}

bool
abbreviation_images(Oid sortop, Oid collation, const Datum *values, int n, uint64 *images)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort sort support",
												 ALLOCSET_SMALL_SIZES);
	Abbreviation abbreviation;
	bool		made;

	abbreviation_start(&abbreviation, sortop, collation, memory);
	made = abbreviation_is_made(&abbreviation);
	for (int i = 0; i < n && made; i++)
		images[i] = abbreviation_image(&abbreviation, values[i]);
	MemoryContextDelete(memory);
	return made;
}

bool
abbreviation_divides(Oid sortop, Oid collation, const Datum *values, int n)
{
	uint64		images[ABBREVIATION_SAMPLE];
	int			different = 0;
	int			j;

	Assert(n <= ABBREVIATION_SAMPLE);
	if (!abbreviation_images(sortop, collation, values, n, images))
		return true;
	for (int i = 0; i < n; i++)
	{
		for (j = 0; j < i && images[j] != images[i]; j++)
			;
		different += j == i;
	}
	return different > n / 2;
}

/* Operator classes or collations have changed. */
static void
forget_known(Datum arg, SysCacheIdentifier cacheid, uint32 hashvalue)
{
	HASH_SEQ_STATUS status;
	Known	   *entry;

	abbreviation_last_answer.opfamily = InvalidOid;
	hash_seq_init(&status, known);
	while ((entry = (Known *) hash_seq_search(&status)) != NULL)
		entry->valid = false;
}

/* Makes the table of answers, and has it told when operator classes or collations change. */
static void
init_known(void)
{
	HASHCTL		control = {.keysize = sizeof(KnownKey),.entrysize = sizeof(Known)};

	known = hash_create("hpsort abbreviations", 16, &control, HASH_ELEM | HASH_BLOBS);
	CacheRegisterSyscacheCallback(AMPROCNUM, forget_known, (Datum) 0);
	CacheRegisterSyscacheCallback(COLLOID, forget_known, (Datum) 0);
}

/*
 * Returns whether an operator class has abbreviations that can be sorted as integers.  Has its sort
 * support prepared, to see what it brings.
 */
static bool
prepare(const KnownKey *key)
{
	Oid			sortop;
	MemoryContext memory;
	Abbreviation abbreviation;

	/* Core would end in an error when it prepares, but not before. */
	if (!OidIsValid(key->collation) && type_is_collatable(key->type))
		return false;
	if (!OidIsValid(get_opfamily_proc(key->opfamily, key->type, key->type, BTSORTSUPPORT_PROC)))
		return false;
	sortop = get_opfamily_member(key->opfamily, key->type, key->type, BTLessStrategyNumber);
	if (!OidIsValid(sortop))
		return false;
	memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort sort support",
								   ALLOCSET_SMALL_SIZES);
	abbreviation_start(&abbreviation, sortop, key->collation, memory);
	MemoryContextDelete(memory);
	return abbreviation_is_made(&abbreviation);
}

bool
abbreviation_find_out(Oid opfamily, Oid type, Oid collation)
{
	KnownKey	key = {.opfamily = opfamily,.type = type,.collation = collation};
	Known	   *entry;

	if (known == NULL)
		init_known();
	entry = (Known *) hash_search(known, &key, HASH_FIND, NULL);
	if (entry == NULL || !entry->valid)
	{
		bool		exists = prepare(&key);

		entry = (Known *) hash_search(known, &key, HASH_ENTER, NULL);
		entry->exists = exists;
		entry->valid = true;
	}
	abbreviation_last_answer = (AbbreviationAnswer)
	{
		opfamily, type, collation, entry->exists
	};
	return entry->exists;
}

/*
 * dictionary.c
 *		Numbers of values of any type (see dictionary.h).
 *
 * There are two hash tables.  One leads from bytes to numbers.  It is all that is needed where
 * equal values have equal bytes, as texts of deterministic collations, uuids and identical values
 * do.  Of other types several bytes may lead to one number: the other table, by the type's own
 * functions, leads to it when bytes are new.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/bytes.h"
#include "pg/values/dictionary.h"

/* Values for which there is room at first. */
#define FIRST_NUMBERS 64

/* Bytes of refused values with which a batch ends. */
#define MOST_REFUSED (128 * 1024)

/* Values after which a dictionary is given up if most were new and it is full or has as many. */
#define TRIAL_VALUES 65536

/* The part of its limit that a dictionary has for itself, whatever others of the pool take. */
#define POOL_OWN_PART 4

/* Places of a table that may be four times as large: its memory is missed nowhere. */
#define SMALL_TABLE 256

/* Bytes of the first block of values, and of the largest, unless a value is larger. */
#define FIRST_BLOCK 1024
#define MOST_BLOCK (32 * 1024)

typedef struct NumberEntry
{
	uint32		number;			/* of a value */
	uint32		hash;			/* of that value */
	char		status;			/* simplehash's */
} NumberEntry;

/* Stands for the value that is looked for. */
#define NUMBER_WANTED PG_UINT32_MAX

/* Bytes of a value, behind the header of a varlena. */
typedef struct Image
{
	const char *bytes;
	uint32		length;
	uint32		hash;
} Image;

/* A place in the table of bytes that have been seen. */
typedef struct ImageEntry
{
	uint32		hash;
	uint32		image;			/* NO_IMAGE: the place is free */
} ImageEntry;

#define NO_IMAGE PG_UINT32_MAX

typedef struct RefusedValue
{
	uint32		hash;			/* equal values have one */
	Datum		value;			/* a copy, toasted if the value was */
} RefusedValue;

struct Dictionary
{
	int16		typlen;			/* of the values' type, as typbyval is */
	bool		typbyval;
	Size		alignment;		/* of values in memory */
	bool		identical;		/* equal values have equal bytes */
	bool		may_give_up;
	Oid			collation;		/* of the functions, which are unused if identical */
	FmgrInfo	hash_function;
	FmgrInfo	equal_function;

	/* of an execution */
	MemoryContext memory;		/* of all that follows */
	size_t		limit;			/* bytes */
	DictionaryPool *pool;		/* has most of the limit; or NULL */
	size_t		lent;			/* bytes of the pool's */
	ImageEntry *table;			/* from bytes to images */
	uint32		table_mask;		/* its room, a power of two, less 1 */
	uint32		nimages;
	uint32		images_room;
	const char **images;		/* by image: its bytes, in a block */
	uint32	   *numbers;		/* by image; NULL: they are those of the images */
	struct numbers_hash *hash;	/* from a value to its number; NULL if identical */
	Datum	   *values;			/* by number; unused where images are the values */
	size_t		n;				/* values that have numbers */
	size_t		room;			/* in values */
	char	   *block;			/* where the next value is kept */
	size_t		block_left;		/* bytes from there on */
	size_t		block_size;		/* of the last one */
	bool		full;			/* no value gets a number any more */
	bool		given_up;		/* and none is looked for any more in batches */
	uint64		looked_for;		/* values of batches, since the last trial ... */
	uint64		missed;			/* ... and how many of these were new */
	Datum		wanted;			/* the value that is looked for */
	const Image *wanted_image;	/* its bytes; of a shared dictionary */
	MemoryContext scratch;		/* of what functions leave behind while a page is read */
	SharedDictionary *shared;	/* has values and numbers; NULL: this dictionary has them */
	dsa_area   *area;			/* of the shared dictionary */

	/* of a batch */
	MemoryContext refused_memory;
	RefusedValue *refused;
	int			nrefused;
	int			refused_room;
	size_t		refused_bytes;	/* of the copies */
};

/* Whether the bytes of images are values, and their numbers those of the values. */
static inline bool
images_are_values(const Dictionary *dictionary)
{
	return dictionary->identical && !dictionary->typbyval && dictionary->shared == NULL;
}

/* For the hash table: whether a number's value is equal to the one that is looked for. */
static bool
number_is_wanted(Dictionary *dictionary, uint32 number)
{
	return DatumGetBool(FunctionCall2Coll(&dictionary->equal_function, dictionary->collation,
										  dictionary->values[number], dictionary->wanted));
}

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE uint32
#define SH_KEY number
#define SH_HASH_KEY(tb, key) 0	/* never called: the hash value is given or stored */
#define SH_EQUAL(tb, a, b) number_is_wanted((tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) (entry)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* --- making */

Dictionary *
dictionary_make_identical(Oid type)
{
	Dictionary *dictionary = palloc0_object(Dictionary);
	char		align;

	get_typlenbyvalalign(type, &dictionary->typlen, &dictionary->typbyval, &align);
	Assert(dictionary->typlen >= -1);
	dictionary->alignment = align == TYPALIGN_DOUBLE ? ALIGNOF_DOUBLE : ALIGNOF_INT;
	dictionary->identical = true;
	return dictionary;
}

Dictionary *
dictionary_make(Oid type, Oid collation)
{
	Dictionary *dictionary = dictionary_make_identical(type);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);
	RegProcedure hash;
	RegProcedure unused;

	if (!get_op_hash_functions(entry->eq_opr, &hash, &unused))
		elog(ERROR, "type %u has no hash function", type);
	dictionary->identical = dictionary_equal_is_identical(type, -1, collation);
	dictionary->collation = collation;
	fmgr_info(hash, &dictionary->hash_function);
	fmgr_info(get_opcode(entry->eq_opr), &dictionary->equal_function);
	return dictionary;
}

static ImageEntry *
make_table(const Dictionary *dictionary, size_t room)
{
	/* Each image is NO_IMAGE. */
	return memset(MemoryContextAllocHuge(dictionary->memory, room * sizeof(ImageEntry)), 0xff,
				  room * sizeof(ImageEntry));
}

void
dictionary_begin(Dictionary *dictionary, size_t limit)
{
	/* Small blocks: what has been allocated is what is used. */
	dictionary->memory = AllocSetContextCreate(CurrentMemoryContext, "hpsort dictionary", 0, 1024,
											   32 * 1024);
	dictionary->scratch = AllocSetContextCreate(dictionary->memory, "hpsort dictionary scratch",
												ALLOCSET_DEFAULT_SIZES);
	dictionary->refused_memory = AllocSetContextCreate(dictionary->memory,
													   "hpsort dictionary batch",
													   ALLOCSET_DEFAULT_SIZES);
	dictionary->limit = limit;
	dictionary->table = make_table(dictionary, 2 * FIRST_NUMBERS);
	dictionary->table_mask = 2 * FIRST_NUMBERS - 1;
	dictionary->lent = dictionary->nimages = dictionary->images_room = 0;
	dictionary->images = NULL;
	dictionary->numbers = NULL;
	dictionary->hash = dictionary->identical ? NULL :
		numbers_create(dictionary->memory, FIRST_NUMBERS, dictionary);
	dictionary->values = NULL;
	dictionary->n = dictionary->room = dictionary->block_left = dictionary->block_size = 0;
	dictionary->full = dictionary->given_up = false;
	dictionary->shared = NULL;
	dictionary->looked_for = dictionary->missed = 0;
	dictionary_forget_refused(dictionary);
}

void
dictionary_use_pool(Dictionary *dictionary, DictionaryPool *pool)
{
	dictionary->pool = pool;
	pool->limit += dictionary->limit - dictionary->limit / POOL_OWN_PART;
}

void
dictionary_share(Dictionary *dictionary, SharedDictionary *shared, dsa_area *area)
{
	dictionary->shared = shared;
	dictionary->area = area;
}

void
dictionary_end(Dictionary *dictionary)
{
	if (dictionary->pool)
		dictionary->pool->lent -= dictionary->lent;
	MemoryContextDelete(dictionary->memory);
}

/* --- bytes */

/* Returns the image of a value that lies at at as in a row, and is not toasted. */
static pg_attribute_always_inline Image
image_at(const Dictionary *dictionary, const char *at)
{
	Image		image = {at, dictionary->typlen};

	if (dictionary->typlen == -1)
	{
		image.bytes = VARDATA_ANY(at);
		image.length = VARSIZE_ANY_EXHDR(at);
	}
	image.hash = hash_of(image.bytes, image.length);
	return image;
}

/* Whether the bytes of a value that is kept are those of an image. */
static pg_attribute_always_inline bool
image_is_at(const Dictionary *dictionary, const Image *image, const char *bytes)
{
	return (dictionary->typlen != -1 ||
			VARSIZE(bytes - VARHDRSZ) - VARHDRSZ == image->length) &&
		bytes_are_equal(bytes, image->bytes, image->length);
}

/* Returns the value whose bytes are kept at bytes. */
static Datum
value_at(const Dictionary *dictionary, const char *bytes)
{
	return fetch_att(dictionary->typlen == -1 ? bytes - VARHDRSZ : bytes, dictionary->typbyval,
					 dictionary->typlen);
}

/* Sets *number to that of an image; false if the bytes are new. */
static pg_attribute_always_inline bool
find_image(const Dictionary *dictionary, const Image *image, uint32 *number)
{
	uint32		at = image->hash;

	for (;; at++)
	{
		const ImageEntry *entry = &dictionary->table[at & dictionary->table_mask];

		if (entry->image == NO_IMAGE)
			return false;
		if (entry->hash == image->hash &&
			image_is_at(dictionary, image, dictionary->images[entry->image]))
		{
			*number = dictionary->numbers ? dictionary->numbers[entry->image] : entry->image;
			return true;
		}
	}
}

/* --- memory */

/* Whether the images fill their table; a quarter of a small one, which saves second looks. */
static bool
table_is_full(const Dictionary *dictionary)
{
	return dictionary->nimages >= dictionary->table_mask / 16 *
		(dictionary->table_mask < SMALL_TABLE ? 4 : 13);
}

/* Whether bytes more can be held beside what is. */
static bool
has_memory(Dictionary *dictionary, Size more)
{
	Size		held = MemoryContextMemAllocated(dictionary->memory, false);
	DictionaryPool *pool = dictionary->pool;
	Size		own = dictionary->limit / (pool ? POOL_OWN_PART : 1);

	if (held + more <= own || pool == NULL)
		return held + more <= own;
	pool->lent += held - Min(held, own) - dictionary->lent;
	dictionary->lent = held - Min(held, own);
	return pool->lent + more <= pool->limit;
}

/* Bytes that a value takes in a block. */
static size_t
kept_size(const Dictionary *dictionary, const Image *image)
{
	return TYPEALIGN(dictionary->alignment,
					 image->length + (dictionary->typlen == -1 ? VARHDRSZ : 0));
}

/* Whether there is memory for another image; and if it is the first of a value, for that. */
static bool
has_room(Dictionary *dictionary, const Image *image, bool first)
{
	Size		size = kept_size(dictionary, image);
	Size		more = 0;

	/* One at least, however large: each pass has to get on. */
	if (dictionary->n == 0 && dictionary->shared == NULL)
		return true;
	if (size > dictionary->block_left)
		more += Max(size, Min(2 * dictionary->block_size, MOST_BLOCK));
	/* A table that grows is beside what it was for a moment. */
	if (table_is_full(dictionary))
		more += 2 * ((size_t) dictionary->table_mask + 1) * sizeof(ImageEntry);
	if (dictionary->nimages == dictionary->images_room)
		more += (size_t) dictionary->images_room *
			(sizeof(char *) + (images_are_values(dictionary) ? 0 : sizeof(uint32)));
	if (first && dictionary->n == dictionary->room)
		more += dictionary->room * sizeof(Datum);
	if (first && dictionary->hash &&
		dictionary->hash->members >= dictionary->hash->grow_threshold)
		more += 2 * dictionary->hash->size * sizeof(NumberEntry);
	return dictionary->n < PG_INT32_MAX && dictionary->nimages < PG_INT32_MAX &&
		has_memory(dictionary, more);
}

/* Copies the bytes of an image; behind a header, if the type has one. */
static const char *
keep_bytes(Dictionary *dictionary, const Image *image)
{
	size_t		size = kept_size(dictionary, image);
	char	   *at;

	if (size > dictionary->block_left)
	{
		dictionary->block_size = Max(size, Min(Max(2 * dictionary->block_size, FIRST_BLOCK),
											   MOST_BLOCK));
		dictionary->block = MemoryContextAllocHuge(dictionary->memory, dictionary->block_size);
		dictionary->block_left = dictionary->block_size;
	}
	at = dictionary->block;
	dictionary->block += size;
	dictionary->block_left -= size;
	if (dictionary->typlen == -1)
	{
		SET_VARSIZE(at, image->length + VARHDRSZ);
		at = VARDATA(at);
	}
	memcpy(at, image->bytes, image->length);
	return at;
}

/* Returns array, NULL at first, with room for n elements of size bytes; what is there stays. */
static void *
enlarge(const Dictionary *dictionary, void *array, size_t n, size_t size)
{
	return array ? repalloc_huge(array, n * size) :
		MemoryContextAlloc(dictionary->memory, n * size);
}

/* Puts an entry where the search for its hash ends. */
static void
put_entry(Dictionary *dictionary, ImageEntry entry)
{
	uint32		at = entry.hash & dictionary->table_mask;

	while (dictionary->table[at].image != NO_IMAGE)
		at = (at + 1) & dictionary->table_mask;
	dictionary->table[at] = entry;
}

/* Has an image, which is new and whose bytes are kept at bytes, lead to a number. */
static void
add_image(Dictionary *dictionary, const Image *image, const char *bytes, uint32 number)
{
	ImageEntry	entry = {image->hash, dictionary->nimages};
	bool		values = images_are_values(dictionary);

	if (table_is_full(dictionary))
	{
		ImageEntry *before = dictionary->table;
		size_t		room = (size_t) dictionary->table_mask + 1;

		dictionary->table = make_table(dictionary, 2 * room);
		dictionary->table_mask = 2 * room - 1;
		for (size_t i = 0; i < room; i++)
			if (before[i].image != NO_IMAGE)
				put_entry(dictionary, before[i]);
		pfree(before);
	}
	if (dictionary->nimages == dictionary->images_room)
	{
		size_t		room = Max(FIRST_NUMBERS, 2 * (size_t) dictionary->images_room);

		dictionary->images_room = (uint32) room;
		dictionary->images = enlarge(dictionary, dictionary->images, room, sizeof(char *));
		if (!values)
			dictionary->numbers = enlarge(dictionary, dictionary->numbers, room, sizeof(uint32));
	}
	Assert(!values || number == dictionary->nimages);
	dictionary->images[dictionary->nimages] = bytes;
	if (!values)
		dictionary->numbers[dictionary->nimages] = number;
	put_entry(dictionary, entry);
	dictionary->nimages++;
}

/* Numbers a value that is new. */
static uint32
number_value(Dictionary *dictionary, const Image *image, Datum value)
{
	const char *bytes = keep_bytes(dictionary, image);

	add_image(dictionary, image, bytes, (uint32) dictionary->n);
	if (images_are_values(dictionary))
		return (uint32) dictionary->n++;
	if (dictionary->n == dictionary->room)
	{
		dictionary->room = Max(FIRST_NUMBERS, 2 * dictionary->room);
		dictionary->values = enlarge(dictionary, dictionary->values, dictionary->room,
									 sizeof(Datum));
	}
	dictionary->values[dictionary->n] = dictionary->typbyval ? value : value_at(dictionary, bytes);
	return (uint32) dictionary->n++;
}

/* --- numbers */

/* A SharedIsValue: whether it is the value that is looked for. */
static bool
wanted_is_at(void *arg, const char *bytes)
{
	Dictionary *dictionary = (Dictionary *) arg;

	if (dictionary->identical)
		return image_is_at(dictionary, dictionary->wanted_image, bytes);
	return DatumGetBool(FunctionCall2Coll(&dictionary->equal_function, dictionary->collation,
										  value_at(dictionary, bytes), dictionary->wanted));
}

/* Does what find_new does where several processes number values; hash is the value's. */
static bool
find_shared(Dictionary *dictionary, const Image *image, uint32 hash, Datum value, uint32 *result)
{
	SharedImage like = {
		image->bytes, image->length, hash, dictionary->typlen == -1 ? VARHDRSZ : 0,
		dictionary->alignment
	};
	const char *bytes;

	dictionary->wanted = value;
	dictionary->wanted_image = image;
	bytes = shared_dictionary_find(dictionary->shared, dictionary->area, dictionary->limit, &like,
								   wanted_is_at, dictionary, result);
	if (bytes == NULL)
	{
		*result = hash;
		return false;
	}
	if (image_is_at(dictionary, image, bytes))
		add_image(dictionary, image, bytes, *result);
	else if (has_room(dictionary, image, false))
		add_image(dictionary, image, keep_bytes(dictionary, image), *result);
	return true;
}

/*
 * Does what dictionary_find does for a value whose bytes are new: image is of value, which is not
 * toasted.
 */
static bool
find_new(Dictionary *dictionary, const Image *image, Datum value, uint32 *result)
{
	uint32		hash = image->hash;
	NumberEntry *entry;
	bool		found;

	if (!dictionary->identical)
		hash = DatumGetUInt32(FunctionCall1Coll(&dictionary->hash_function,
												dictionary->collation, value));
	if (dictionary->shared)
		return find_shared(dictionary, image, hash, value, result);
	if (!dictionary->identical)
	{
		dictionary->wanted = value;
		entry = numbers_lookup_hash(dictionary->hash, NUMBER_WANTED, hash);
		if (entry)
		{
			*result = entry->number;
			if (has_room(dictionary, image, false))
				add_image(dictionary, image, keep_bytes(dictionary, image), entry->number);
			return true;
		}
	}
	if (dictionary->full || !has_room(dictionary, image, true))
	{
		dictionary->full = true;
		*result = hash;
		return false;
	}
	if (!dictionary->identical)
	{
		entry = numbers_insert_hash(dictionary->hash, NUMBER_WANTED, hash, &found);
		entry->hash = hash;
		entry->number = (uint32) dictionary->n;
	}
	*result = number_value(dictionary, image, value);
	return true;
}

bool
dictionary_find(Dictionary *dictionary, Datum value, uint32 *result)
{
	Datum		stored;
	const char *at = (const char *) &stored;
	Image		image;

	if (dictionary->typbyval)
		store_att_byval(&stored, value, dictionary->typlen);
	else
	{
		at = DatumGetPointer(value);
		if (value_is_toasted(dictionary->typlen, at))
			at = (const char *) detoast_attr((struct varlena *) DatumGetPointer(value));
		value = PointerGetDatum(at);
	}
	image = image_at(dictionary, at);
	return find_image(dictionary, &image, result) ||
		find_new(dictionary, &image, value, result);
}

Datum
dictionary_value(const Dictionary *dictionary, uint32 number)
{
	if (unlikely((int32) number < 0))
		return dictionary->refused[~number].value;
	Assert(number < dictionary_size(dictionary));
	if (dictionary->shared)
		return value_at(dictionary,
						shared_dictionary_value(dictionary->shared, dictionary->area, number));
	return images_are_values(dictionary) ? value_at(dictionary, dictionary->images[number]) :
		dictionary->values[number];
}

void
dictionary_prefetch(const Dictionary *dictionary, uint32 number, bool value)
{
	if (images_are_values(dictionary) && number < dictionary->n)
		__builtin_prefetch(value ? (const void *) dictionary->images[number] :
						   &dictionary->images[number]);
}

Datum
dictionary_copy(const Dictionary *dictionary, Datum value)
{
	return dictionary->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, dictionary->typbyval, dictionary->typlen);
}

size_t
dictionary_size(const Dictionary *dictionary)
{
	return dictionary->shared ? shared_dictionary_size(dictionary->shared) : dictionary->n;
}

/* --- columns of a batch */

/* Returns the negative number of a value, which is copied as it is. */
static int32
refuse(Dictionary *dictionary, uint32 hash, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->refused_memory);
	RefusedValue *refused;

	if (dictionary->nrefused == dictionary->refused_room)
	{
		dictionary->refused_room = Max(FIRST_NUMBERS, 2 * dictionary->refused_room);
		dictionary->refused = dictionary->refused ?
			repalloc(dictionary->refused, dictionary->refused_room * sizeof(RefusedValue)) :
			palloc_array(RefusedValue, dictionary->refused_room);
	}
	refused = &dictionary->refused[dictionary->nrefused];
	refused->hash = hash;
	refused->value = datumCopy(value, dictionary->typbyval, dictionary->typlen);
	dictionary->refused_bytes += datumGetSize(refused->value, dictionary->typbyval,
											  dictionary->typlen);
	MemoryContextSwitchTo(old);
	return -1 - dictionary->nrefused++;
}

/* Returns the number of a value; image is that of its bytes if these are new, or NULL. */
static int32
number_or_refuse(Dictionary *dictionary, const Image *image, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(dictionary->scratch);
	uint32		result;
	bool		numbered = image ? find_new(dictionary, image, value, &result) :
	dictionary_find(dictionary, value, &result);

	MemoryContextSwitchTo(old);
	MemoryContextReset(dictionary->scratch);
	return numbered ? (int32) result : refuse(dictionary, result, value);
}

int32
dictionary_number(Dictionary *dictionary, Datum value)
{
	CHECK_FOR_INTERRUPTS();		/* a value may be large, and in another table */
	return dictionary->given_up ? refuse(dictionary, 0, value) :
		number_or_refuse(dictionary, NULL, value);
}

/* How many values are looked for at once: where their numbers are is fetched meanwhile. */
#define READ_AT_ONCE 64

/*
 * Writes the numbers of up to READ_AT_ONCE values.  Returns how many: less than n, if the next one
 * is toasted.  varlena is a constant.
 */
static pg_attribute_always_inline int
read_values(Dictionary *dictionary, const char *const *data, int offset, int n, const char *null,
			int32 *numbers, bool varlena)
{
	Image		images[READ_AT_ONCE];
	int			i;

	for (i = 0; i < n; i++)
	{
		const char *at = data[i] + offset;

		images[i].bytes = NULL;
		if (at == null)
			continue;
		if (varlena && value_is_toasted(dictionary->typlen, at))
			break;
		images[i] = image_at(dictionary, at);
		__builtin_prefetch(&dictionary->table[images[i].hash & dictionary->table_mask]);
	}
	n = i;
	for (i = 0; i < n; i++)
	{
		uint32		number;

		if (images[i].bytes == NULL)
			numbers[i] = 0;
		else if (find_image(dictionary, &images[i], &number))
			numbers[i] = (int32) number;
		else
		{
			dictionary->missed++;
			numbers[i] = number_or_refuse(dictionary, &images[i],
										  fetch_att(data[i] + offset, dictionary->typbyval,
													dictionary->typlen));
		}
	}
	return n;
}

void
dictionary_may_give_up(Dictionary *dictionary, bool may)
{
	dictionary->may_give_up = may;
}

bool
dictionary_is_given_up(const Dictionary *dictionary)
{
	return dictionary->given_up;
}

void
dictionary_give_up(Dictionary *dictionary)
{
	MemoryContextDelete(dictionary->memory);
	dictionary_begin(dictionary, dictionary->limit);
	dictionary->full = dictionary->given_up = true;
}

/* Gives up a dictionary that finds too few values. */
static void
review(Dictionary *dictionary, int n)
{
	dictionary->looked_for += n;
	if (dictionary->looked_for < TRIAL_VALUES || dictionary->n == 0)
		return;
	dictionary->given_up = dictionary->may_give_up &&
		dictionary->missed > dictionary->looked_for / 2 &&
		(dictionary->full || dictionary->n >= TRIAL_VALUES);
	dictionary->looked_for = dictionary->missed = 0;
}

void
dictionary_read(Dictionary *dictionary, const char *const *data, int offset, int n,
				const char *null, int32 *numbers)
{
	int			i = 0;

	for (; dictionary->given_up && i < n; i++)
	{
		const char *at = data[i] + offset;

		numbers[i] = at == null ? 0 :
			refuse(dictionary, 0, fetch_att(at, dictionary->typbyval, dictionary->typlen));
	}
	review(dictionary, n);
	while (i < n)
	{
		int			most = Min(n - i, READ_AT_ONCE);
		int			some = dictionary->typlen == -1 ?
		read_values(dictionary, data + i, offset, most, null, numbers + i, true) :
		read_values(dictionary, data + i, offset, most, null, numbers + i, false);

		i += some;
		if (some < most)
		{
			numbers[i] = dictionary_number(dictionary, PointerGetDatum(data[i] + offset));
			i++;
		}
	}
}

int
dictionary_nrefused(const Dictionary *dictionary)
{
	return dictionary->nrefused;
}

bool
dictionary_ends_batch(const Dictionary *dictionary)
{
	return dictionary->refused_bytes >= MOST_REFUSED;
}

uint32
dictionary_refused_hash(const Dictionary *dictionary, int32 number)
{
	return dictionary->refused[~number].hash;
}

void
dictionary_forget_refused(Dictionary *dictionary)
{
	dictionary->refused = NULL;
	dictionary->nrefused = dictionary->refused_room = dictionary->refused_bytes = 0;
	MemoryContextReset(dictionary->refused_memory);
}

const char *
dictionary_bytes(const Dictionary *dictionary, int32 number, size_t *length)
{
	Datum		value;

	Assert(dictionary->shared == NULL);
	*length = sizeof(Datum);
	if (dictionary->typbyval)
		return (const char *) (number < 0 ? &dictionary->refused[~number].value :
							   &dictionary->values[number]);
	value = dictionary_value(dictionary, (uint32) number);
	*length = dictionary->typlen == -1 ? VARSIZE_ANY(DatumGetPointer(value)) : dictionary->typlen;
	return DatumGetPointer(value);
}

Datum
dictionary_restore(const Dictionary *dictionary, const char *bytes)
{
	return dictionary->typbyval ? *(const Datum *) bytes : PointerGetDatum(bytes);
}

/*
 * bytes.h
 *		Comparing and hashing the bytes of values, where these lie.
 */
#ifndef HPSORT_PG_VALUES_BYTES_H
#define HPSORT_PG_VALUES_BYTES_H

static pg_attribute_always_inline uint64
load8(const char *bytes)
{
	uint64		word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static pg_attribute_always_inline uint32
load4(const char *bytes)
{
	uint32		word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* The last bytes of a value of length bytes, less than 8 of which are left; all of a short one. */
static pg_attribute_always_inline uint64
load_last(const char *bytes, uint32 length)
{
	if (length >= 8)
		return load8(bytes + length - 8);
	if (length >= 4)
		return (uint64) load4(bytes) << 32 | load4(bytes + length - 4);
	if (length == 0)
		return 0;
	return (uint64) (uint8) bytes[0] << 16 | (uint64) (uint8) bytes[length / 2] << 8 |
		(uint8) bytes[length - 1];
}

static pg_attribute_always_inline uint64
mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* A hash of bytes, eight at a time. */
static pg_attribute_always_inline uint32
hash_of(const char *bytes, uint32 length)
{
	uint64		hash = length;

	for (uint32 i = 0; i + 8 < length; i += 8)
		hash = mix(hash, load8(bytes + i));
	hash = mix(mix(hash, load_last(bytes, length)), UINT64CONST(0xC4CEB9FE1A85EC53));
	return (uint32) hash;
}

static pg_attribute_always_inline bool
bytes_are_equal(const char *a, const char *b, uint32 length)
{
	for (uint32 i = 0; i + 8 < length; i += 8)
		if (load8(a + i) != load8(b + i))
			return false;
	return load_last(a, length) == load_last(b, length);
}

/* Whether a value lies somewhere else, or compressed. */
static pg_attribute_always_inline bool
value_is_toasted(int16 typlen, const char *at)
{
	return typlen == -1 && VARATT_IS_EXTENDED(at) &&
		(!VARATT_IS_SHORT(at) || VARATT_IS_EXTERNAL(at));
}

#endif							/* HPSORT_PG_VALUES_BYTES_H */

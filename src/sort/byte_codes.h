/*
 * byte_codes.h
 *		Smaller integers in the order of keys whose bytes take few values each.
 *
 * Bytes of text do: at each of its places a key has a letter, a digit, part of a common
 * prefix.  Each byte is replaced by its rank among the values that occur at its place,
 * and the ranks are the digits of a number, each place with as many as values occur there.
 * So no code is left out that could be needed, and eight hexadecimal digits take 32 bits
 * where they took 62.
 */
#ifndef HPSORT_BYTE_CODES_H
#define HPSORT_BYTE_CODES_H

#include <stddef.h>
#include <stdint.h>

#define BYTE_CODES_PLACES 8

typedef struct ByteCodes
{
	/*
	 * What a byte adds to the code of its key, by place, the most significant first. Before
	 * byte_codes_number: 1 if it has been seen there, else 0.
	 */
	uint64_t	part[BYTE_CODES_PLACES][256];
	uint64_t	last;			/* the largest code */
} ByteCodes;

/* No key has been seen. */
extern void byte_codes_begin(ByteCodes *codes);

/* Sees n keys.  Each key that is to have a code must have been seen. */
extern void byte_codes_see(ByteCodes *codes, const uint64_t *keys, size_t n);

/* Gives codes to all keys that the bytes seen make, at least one, and sets last. */
extern void byte_codes_number(ByteCodes *codes);

/*
 * How many different keys the bytes seen make, at most, if the last bits of the keys' 64, `bits` of
 * them, do not count.  Before byte_codes_number.
 */
extern double byte_codes_leading(const ByteCodes *codes, int bits);

/* The code of a key that was seen: of two keys the larger one has the larger code. */
static inline uint64_t
byte_code(const ByteCodes *codes, uint64_t key)
{
	uint64_t	code = 0;

	for (int place = 0; place < BYTE_CODES_PLACES; place++)
		code += codes->part[place][(uint8_t) (key >> 8 * (BYTE_CODES_PLACES - 1 - place))];
	return code;
}

#endif							/* HPSORT_BYTE_CODES_H */

/*
 * byte_codes.c
 *		Smaller integers in the order of keys whose bytes take few values each (see
 *		byte_codes.h).
 */
#include "sort/byte_codes.h"

#include <string.h>

void
byte_codes_begin(ByteCodes *codes)
{
	memset(codes, 0, sizeof(*codes));
}

void
byte_codes_see(ByteCodes *codes, const uint64_t *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int place = 0; place < BYTE_CODES_PLACES; place++)
			codes->part[place][(uint8_t) (keys[i] >> 8 * (BYTE_CODES_PLACES - 1 - place))] = 1;
}

void
byte_codes_number(ByteCodes *codes)
{
	uint64_t	below = 1;		/* codes of the places after this one; 0: 2^64 */

	codes->last = 0;
	for (int place = BYTE_CODES_PLACES - 1; place >= 0; place--)
	{
		uint64_t	values = 0;

		for (int byte = 0; byte < 256; byte++)
			if (codes->part[place][byte])
				codes->part[place][byte] = values++ * below;
		codes->last += (values - 1) * below;
		below *= values;
	}
}

double
byte_codes_leading(const ByteCodes *codes, int bits)
{
	double		keys = 1;

	for (int place = 0; place < BYTE_CODES_PLACES; place++)
	{
		int			lost = bits - 8 * (BYTE_CODES_PLACES - 1 - place);	/* bits of this byte */
		unsigned	values = 0;
		int			last = -1;

		if (lost >= 8)
			break;
		for (int byte = 0; byte < 256; byte++)
		{
			int			leading = lost > 0 ? byte >> lost : byte;

			if (codes->part[place][byte] && leading != last)
			{
				values++;
				last = leading;
			}
		}
		keys *= values;
	}
	return keys;
}

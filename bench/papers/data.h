/*
 * data.h
 *		The papers' data: the i-th key of a distribution, as a function of i, for
 *		the GPU's benches (papers.cuh) and the CPU's (free_cpu.cpp) alike.
 */
#ifndef HPSORT_BENCH_PAPERS_DATA_H
#define HPSORT_BENCH_PAPERS_DATA_H

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define ANYWHERE __host__ __device__
#else
#define ANYWHERE
#endif

namespace papers
{

enum Shape
{
	PERMUTATION,				/* different values of 0 .. range - 1 */
	UNIFORM_RANGE,				/* uniform over 0 .. range - 1 */
	INTERVAL,					/* uniform over the len largest of them */
	ARBITRARY,					/* uniform over len of them, anywhere */
	ONE_REPEATED,				/* one value for 70 % of the keys, else uniform */
	REVERSED_ORDER,				/* range - 1 downwards, in equal steps */
	NEARLY_SORTED,				/* upwards, each up to 8 places off */
	GAUSSIAN,					/* mean range / 2, deviation range / 8 */
	FLAT,
	FULL_RANGE,					/* 32 random bits */
	FLOAT_UNIFORM,				/* of 0 .. 1 */
	FLOAT_GAUSSIAN,
	FLOAT_NEARLY				/* as NEARLY_SORTED, over 7 */
};

/* lo is added to every integer but those of FULL_RANGE. */
struct Data
{
	Shape		shape;
	uint64_t	n;
	uint64_t	range;
	uint64_t	len;
	int32_t		lo;
};

/* The finalizer of splitmix64. */
ANYWHERE inline uint64_t
scatter(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* A bijection on the low bits of x. */
ANYWHERE inline uint32_t
scramble(uint32_t x, uint32_t mask, uint32_t half)
{
	x = (x * 0x7feb352du) & mask;
	x ^= x >> half;
	x = (x * 0x846ca68bu) & mask;
	x ^= x >> half;
	x = (x * 0x9e3779b1u) & mask;
	x ^= x >> half;
	return x;
}

/* The i-th of a permutation of 0 .. range - 1: scrambled until it is in range. */
ANYWHERE inline uint32_t
permuted(uint64_t i, uint64_t range)
{
	uint32_t	bits = 1;
	uint32_t	mask;
	uint32_t	half;
	uint32_t	x = (uint32_t) i;

	while (((range - 1) >> bits) != 0)
		bits++;
	mask = (uint32_t) (((uint64_t) 1 << bits) - 1);
	half = bits > 1 ? bits / 2 + bits % 2 : 1;
	do
		x = scramble(x, mask, half);
	while (x >= range);
	return x;
}

/* Box and Muller's. */
ANYWHERE inline double
normal(uint64_t h)
{
	const double u = (double) ((h >> 32) + 1) * 0x1p-32;
	const double v = (double) (h & 0xffffffffu) * 0x1p-32;

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

ANYWHERE inline uint32_t
float_bits(float f)
{
	uint32_t	bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

ANYWHERE inline int64_t
within(int64_t v, uint64_t range)
{
	return v < 0 ? 0 : v >= (int64_t) range ? (int64_t) range - 1 : v;
}

ANYWHERE inline uint32_t
datum(const Data &d, uint64_t i)
{
	const uint64_t h = scatter(0x1234567 + i * 2);
	int64_t		v = 0;

	switch (d.shape)
	{
		case PERMUTATION:
			v = permuted(i, d.range);
			break;
		case UNIFORM_RANGE:
			v = (int64_t) (h % d.range);
			break;
		case INTERVAL:
			v = (int64_t) (d.range - d.len + h % d.len);
			break;
		case ARBITRARY:
			v = permuted(h % d.len, d.range);
			break;
		case ONE_REPEATED:
			v = (int64_t) (h % 10 < 7 ? d.range / 2 : (h / 10) % d.range);
			break;
		case REVERSED_ORDER:
			v = (int64_t) ((d.n - 1 - i) * d.range / d.n);
			break;
		case NEARLY_SORTED:
			v = within(((int64_t) i + (int64_t) (h % 17) - 8) * (int64_t) d.range /
					   (int64_t) d.n, d.range);
			break;
		case GAUSSIAN:
			v = within((int64_t) ((double) d.range / 2 + normal(h) * (double) d.range / 8),
					   d.range);
			break;
		case FLAT:
			v = (int64_t) (d.range / 2);
			break;
		case FULL_RANGE:
			return (uint32_t) h;
		case FLOAT_UNIFORM:
			return float_bits((float) ((double) (h >> 40) * 0x1p-24));
		case FLOAT_GAUSSIAN:
			return float_bits((float) normal(h));
		case FLOAT_NEARLY:
			return float_bits((float) ((double) ((int64_t) i + (int64_t) (h % 17) - 8) / 7));
	}
	return (uint32_t) (v + d.lo);
}

} /* namespace papers */

#endif							/* HPSORT_BENCH_PAPERS_DATA_H */

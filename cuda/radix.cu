/*-------------------------------------------------------------------------
 *
 * radix.cu
 *	  Regime RADIX: CUB's radix sort, told as much as is known.
 *
 * For inputs whose bins would be more than their keys.  All instantiations of
 * CUB's radix sort are in this file: they are most of the library's compile
 * time.  Its passes look at 8 bits each, so what counts is ceil(bits / 8):
 *	- bits above the highest one in which lo and hi differ are left out;
 *	- keys are biased by lo first when that saves more than it costs (a range
 *	  that straddles zero differs in bit 31, however narrow it is).
 *
 * Bytes per key: 4 + 8 per pass; rows as well: 4 + 16 per pass.
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_radix_sort.cuh>

#include "device.cuh"

namespace hpsort
{

static constexpr int threads = 256;

static int
blocks_of(uint64_t n)
{
	uint64_t	blocks = (n + threads * 4 - 1) / (threads * 4);

	return static_cast<int>(blocks < 1 ? 1 : blocks > 65535 ? 65535 : blocks);
}

/*
 * How CUB sees a key: as it is; complemented, which reverses the order; or as
 * a bin, when that has fewer bits.  A bin of 32 bits would need its sign bit
 * back, so it is never used then.
 */
struct Disguise
{
	KeyMap		map;
	bool		biased;

	__device__ __forceinline__ int32_t
	put_on(int32_t key) const
	{
		return biased ? static_cast<int32_t>(to_bin(map, key)) :
			static_cast<int32_t>(static_cast<uint32_t>(key) ^ map.flip);
	}
	__device__ __forceinline__ int32_t
	take_off(int32_t key) const
	{
		return biased ? to_key(map, static_cast<uint32_t>(key)) :
			static_cast<int32_t>(static_cast<uint32_t>(key) ^ map.flip);
	}
};

/* Two streams of memory, no arithmetic to speak of: not tuned further. */
__global__ void
put_on_kernel(Disguise disguise, const int32_t *keys, uint64_t n, int32_t *out)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * threads;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
		 i < n; i += step)
		out[i] = disguise.put_on(keys[i]);
}

__global__ void
take_off_kernel(Disguise disguise, const int32_t *keys, uint64_t n, int32_t *out)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * threads;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
		 i < n; i += step)
		out[i] = disguise.take_off(keys[i]);
}

/* CUB cannot make up values on its own, unlike permutation.cu. */
__global__ void
number_rows_kernel(uint32_t *rows, uint64_t n)
{
	const uint64_t step = static_cast<uint64_t>(gridDim.x) * threads;

	for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;
		 i < n; i += step)
		rows[i] = static_cast<uint32_t>(i);
}

/* CUB's digits have 8 bits for 4-byte keys on every device. */
static uint32_t
passes(uint32_t bits)
{
	return (bits + 7) / 8;
}

/* Bits that differ among keys taken as they are: up to where lo and hi agree. */
static uint32_t
plain_bits(const Bounds &bounds)
{
	return regime_bits(static_cast<uint32_t>(bounds.lo) ^
					   static_cast<uint32_t>(bounds.hi));
}

/* Bits of the range, which is all that biased keys differ in. */
static uint32_t
biased_bits(const Bounds &bounds)
{
	return regime_bits(static_cast<uint32_t>(bounds.hi) -
					   static_cast<uint32_t>(bounds.lo));
}

/*
 * CUB with the bits below end_bit, from in to out; in is kept.  Offset is
 * 32-bit where n allows it: CUB's tiles are larger then.
 */
template <typename Offset>
static void
cub_sort_keys(HpsortCuda *context, cudaStream_t stream, bool descending,
			  const int32_t *in, int32_t *out, uint64_t n, uint32_t bits)
{
	auto		call = [&](void *workspace, size_t &bytes) {
		return descending ?
			cub::DeviceRadixSort::SortKeysDescending(
				workspace, bytes, in, out, static_cast<Offset>(n), 0,
				static_cast<int>(bits), stream) :
			cub::DeviceRadixSort::SortKeys(
				workspace, bytes, in, out, static_cast<Offset>(n), 0,
				static_cast<int>(bits), stream);
	};
	size_t		bytes = 0;

	check(call(nullptr, bytes), "size a radix sort");

	DeviceBuffer workspace(context, stream, bytes, "a radix sort");

	check(call(workspace.as<void>(), bytes), "sort by radix");
}

/* 64-bit offsets make CUB's tiles smaller, so only where they must be. */
static void
sort_bits(HpsortCuda *context, cudaStream_t stream, bool descending,
		  const int32_t *in, int32_t *out, uint64_t n, uint32_t bits)
{
	/* with no bit to look at, CUB copies; it wants at least one */
	if (bits == 0)
		bits = 1;
	if (n <= UINT32_MAX)
		cub_sort_keys<uint32_t>(context, stream, descending, in, out, n, bits);
	else
		cub_sort_keys<uint64_t>(context, stream, descending, in, out, n, bits);
}

void
radix_sort(HpsortCuda *context, cudaStream_t stream, const Bounds &bounds,
		   bool descending, const int32_t *keys, uint64_t n, int32_t *out)
{
	const uint32_t plain = plain_bits(bounds);
	const uint32_t biased = biased_bits(bounds);

	/* biasing there and back moves as many bytes as two passes */
	if (passes(biased) + 2 >= passes(plain))
	{
		sort_bits(context, stream, descending, keys, out, n, plain);
		return;
	}

	Disguise	disguise = {make_key_map(bounds.lo, bounds.hi, descending), true};
	DeviceBuffer copy(context, stream, n * sizeof(int32_t), "biased keys");

	put_on_kernel<<<blocks_of(n), threads, 0, stream>>>(disguise, keys, n,
													   copy.as<int32_t>());
	check_launch("bias the keys");
	sort_bits(context, stream, false, copy.as<int32_t>(), out, n, biased);
	take_off_kernel<<<blocks_of(n), threads, 0, stream>>>(disguise, out, n, out);
	check_launch("unbias the keys");
}

/*
 * Pairs of key and row.  Descending order comes from complemented keys, because
 * equal keys keep their order only in an ascending sort; it also saves compiling
 * CUB's descending pair sort for all architectures.
 */
void
radix_permutation(HpsortCuda *context, cudaStream_t stream, const Bounds &bounds,
				  bool descending, const int32_t *keys, uint64_t n,
				  int32_t *sorted_keys, uint32_t *rows)
{
	uint32_t	bits = plain_bits(bounds);
	Disguise	disguise = {make_key_map(bounds.lo, bounds.hi, descending), false};
	DeviceBuffer copy;
	DeviceBuffer sorted;
	const int32_t *in = keys;
	size_t		bytes = 0;

	/* a pass with rows moves twice what biasing does */
	if (passes(biased_bits(bounds)) < passes(bits))
	{
		disguise.biased = true;
		bits = biased_bits(bounds);
	}
	if (bits == 0)
		bits = 1;
	if (descending || disguise.biased)
	{
		copy = DeviceBuffer(context, stream, n * sizeof(int32_t), "biased keys");
		put_on_kernel<<<blocks_of(n), threads, 0, stream>>>(disguise, keys, n,
														   copy.as<int32_t>());
		check_launch("bias the keys");
		in = copy.as<int32_t>();
	}
	if (sorted_keys == nullptr)
		sorted = DeviceBuffer(context, stream, n * sizeof(int32_t), "sorted keys");

	int32_t    *out = sorted_keys ? sorted_keys : sorted.as<int32_t>();
	DeviceBuffer numbers(context, stream, n * sizeof(uint32_t), "row numbers");

	number_rows_kernel<<<blocks_of(n), threads, 0, stream>>>
		(numbers.as<uint32_t>(), n);
	check_launch("number the rows");

	auto		call = [&](void *workspace) {
		return cub::DeviceRadixSort::SortPairs(
			workspace, bytes, in, out, numbers.as<uint32_t>(), rows,
			static_cast<uint32_t>(n), 0, static_cast<int>(bits), stream);
	};

	check(call(nullptr), "size a radix sort");

	DeviceBuffer workspace(context, stream, bytes, "a radix sort");

	check(call(workspace.as<void>()), "sort by radix");
	if (sorted_keys != nullptr && in != keys)
	{
		take_off_kernel<<<blocks_of(n), threads, 0, stream>>>(disguise, out, n,
															 out);
		check_launch("unbias the keys");
	}
}

} /* namespace hpsort */

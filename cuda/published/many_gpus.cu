/*-------------------------------------------------------------------------
 *
 * many_gpus.cu
 *	  bucket_bitonic on several GPUs: from host memory to host memory, and for
 *	  a job, whose keys are on the first of them.
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section VI: one host
 * thread for each device sorts a part of the list.  The parts then go to the
 * first device, which merges them (section V); CUDA takes them over a direct
 * link between the devices where there is one.
 *
 * A job's keys are on the first device when they are sorted: the others get
 * their parts from there, and nothing else differs.
 *
 * Today's hardware (two H200): with 64e6 int4 two GPUs gain 8 % over one, with
 * less than 32e6 they lose.  The way to the device and back is two thirds of the
 * time; two GPUs share the first half of it, the result comes from one.
 *
 *-------------------------------------------------------------------------
 */
#include <memory>
#include <system_error>
#include <thread>

#include "published/bucket_bitonic.cuh"

namespace hpsort
{
namespace published
{

namespace
{

/* What a thread sorts, and where the result stays until it is fetched. */
struct Part
{
	HpsortCuda *context;
	uint64_t	first;
	uint64_t	n;
	std::unique_ptr<Stream> stream;
	DeviceBuffer memory;
	Elements	sorted;
	bool		no_room;		/* of its own device; sorted on the first one after all */
	HpsortCudaCode code;
	HpsortCudaError error;
};

/* n words, from host memory if device is -1. */
void
copy_in(const Part &part, uint32_t *to, const uint32_t *from, int device)
{
	const uint64_t bytes = part.n * sizeof(uint32_t);

	check(device < 0 ?
		  cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, *part.stream) :
		  cudaMemcpyPeerAsync(to, part.context->ordinal, from, device, bytes,
							  *part.stream), "copy a part");
}

/*
 * Keys, payload, and the same sorted.  By the public function, which waits and gives
 * its error as a value: this may be a thread of its own.  The keys' memory goes back
 * at the end; the result stays with the part, for the first device to fetch.
 */
void
sort_part(const HpsortPublishedSpec &spec, const uint32_t *keys,
		  const uint32_t *payload, int device, Part *part)
{
	DeviceScope scope(part->context->ordinal);

	part->stream.reset(new Stream);

	const uint64_t n = part->n;
	const uint64_t bytes = array_bytes(n, 4);
	const int	lists = payload ? 2 : 1;
	DeviceBuffer input(part->context, *part->stream, lists * bytes, "the keys");
	Carver		in(input);
	uint32_t   *in_keys = in.take<uint32_t>(n);
	uint32_t   *in_payload = payload ? in.take<uint32_t>(n) : nullptr;

	part->memory = DeviceBuffer(part->context, *part->stream, lists * bytes,
								"sorted keys");

	Carver		out(part->memory);
	HpsortCudaError error;

	part->sorted.keys = out.take<uint32_t>(n);
	part->sorted.payload = payload ? out.take<uint32_t>(n) : nullptr;
	copy_in(*part, in_keys, keys + part->first, device);
	if (payload)
		copy_in(*part, in_payload, payload + part->first, device);
	if (hpsort_published_sort(part->context, &spec, in_keys, in_payload, n,
							  part->sorted.keys, part->sorted.payload,
							  static_cast<cudaStream_t>(*part->stream), nullptr,
							  nullptr, &error) != HPSORT_CUDA_OK)
		throw Failure{error};
}

/* No part without a key, and the first device has the first. */
std::vector<Part>
cut(HpsortCuda *const *contexts, int count, uint64_t n)
{
	std::vector<Part> parts;
	uint64_t	first = 0;

	for (int i = 0; i < count; i++)
	{
		Part		part = {};

		part.context = contexts[i];
		part.first = first;
		part.n = n / count + (static_cast<uint64_t>(i) < n % count ? 1 : 0);
		if (part.n == 0)
			break;
		first += part.n;
		parts.push_back(std::move(part));
	}
	return parts;
}

/*
 * work(&part) for all, the first in this thread.  All threads are joined before
 * any error is reported.  A thread that cannot be started is done without: its
 * part is sorted here.
 */
template <typename Work>
void
for_each_part(std::vector<Part> *parts, Work work)
{
	std::vector<std::thread> threads;
	auto		guarded_work = [&](Part *part) {
		part->code = guarded(&part->error, [&] { work(part); });
	};

	/* so that no memory is wanting while threads run that nobody would join */
	threads.reserve(parts->size());
	for (size_t i = 1; i < parts->size(); i++)
		try
		{
			threads.emplace_back(guarded_work, &(*parts)[i]);
		}
		catch (const std::system_error &)
		{
			guarded_work(&(*parts)[i]);
		}
	guarded_work(&parts->front());
	for (std::thread &thread : threads)
		thread.join();
	for (const Part &part : *parts)
		if (part.code != HPSORT_CUDA_OK)
			throw Failure{part.error};
}

/* From the part's device to the first one's; on the first one's stream, for the merge
 * that follows there.  The part's thread has waited for its own. */
void
fetch(const Part &first, const Part &part, const Elements &to, cudaStream_t stream)
{
	auto		copy = [&](uint32_t *target, const uint32_t *source) {
		check(cudaMemcpyPeerAsync(target, first.context->ordinal, source,
								  part.context->ordinal, part.n * 4, stream),
			  "copy between devices");
	};

	copy(to.keys, part.sorted.keys);
	if (to.payload)
		copy(to.payload, part.sorted.payload);
}

/* All parts side by side on the first device, merged, back to the host.  Its own part
 * is copied as well: one pair of lists, as long as all parts, serves all merges. */
void
collect(const HpsortPublishedSpec &spec, std::vector<Part> *parts, uint64_t n,
		uint32_t *out, uint32_t *payload_out)
{
	Part	   &first = parts->front();
	HpsortCuda *context = first.context;
	DeviceScope scope(context->ordinal);
	cudaStream_t stream = *first.stream;
	Elements	result = first.sorted;
	DeviceBuffer memory;

	if (parts->size() > 1)
	{
		const uint64_t lists = payload_out ? 4 : 2;
		std::vector<uint64_t> ends;

		memory = DeviceBuffer(context, stream, lists * array_bytes(n, 4),
							  "the parts");

		Carver		carver(memory);
		Elements	one = {carver.take<uint32_t>(n), nullptr};
		Elements	other = {carver.take<uint32_t>(n), nullptr};

		if (payload_out)
		{
			one.payload = carver.take<uint32_t>(n);
			other.payload = carver.take<uint32_t>(n);
		}
		for (const Part &part : *parts)
		{
			fetch(first, part, one.from(part.first), stream);
			ends.push_back(part.first + part.n);
		}
		result = merge_parts(context, stream, order_of(spec), one, other, ends,
							 [] {});
	}
	check(cudaMemcpyAsync(out, result.keys, n * 4, cudaMemcpyDeviceToHost, stream),
		  "copy the result");
	if (payload_out)
		check(cudaMemcpyAsync(payload_out, result.payload, n * 4,
							  cudaMemcpyDeviceToHost, stream), "copy the result");
	check(cudaStreamSynchronize(stream), "merge the parts");
}

/*
 * Memory and streams belong to their own device.  The memory goes back on its stream,
 * which is therefore the last to go.
 */
void
release(std::vector<Part> *parts)
{
	for (Part &part : *parts)
	{
		if (part.stream == nullptr)
			continue;

		DeviceScope scope(part.context->ordinal);

		part.memory.release();
		ignore(cudaStreamSynchronize(*part.stream));
		part.stream.reset();
	}
}

/* Its parts' memory and streams go in any case. */
template <typename Body>
void
with_release(std::vector<Part> *parts, Body body)
{
	try
	{
		body();
	}
	catch (...)
	{
		release(parts);
		throw;
	}
	release(parts);
}

} /* namespace */

/*
 * The first device has the keys, and sorts its own part where they are, and afterwards
 * those of devices that turned out to have no room.  The others cannot be stopped:
 * their parts are waited for.  Returns how many devices have sorted.
 */
size_t
sort_shared(const Task &task, const HpsortPublishedSpec *spec,
			const std::vector<HpsortCuda *> &others)
{
	std::vector<HpsortCuda *> contexts = {task.context};
	HpsortPublishedSpec theirs = *spec;

	/* how short passes must be depends on what is free on a device: this one */
	theirs.pass_keys = 0;
	contexts.insert(contexts.end(), others.begin(), others.end());
	/* the threads' streams do not wait for this one */
	check(cudaStreamSynchronize(task.stream), "get the keys");

	std::vector<Part> parts = cut(contexts.data(), static_cast<int>(contexts.size()),
								  task.n);

	size_t		devices = parts.size();

	with_release(&parts, [&] {
		const Elements out = {task.out, task.payload_out};
		std::vector<uint64_t> ends;
		Task		merging = task;
		/* on the job's stream, where it can be stopped, and where its keys are */
		auto		sort_here = [&](const Part &part) {
			DeviceScope scope(task.context->ordinal);
			HpsortPublishedSpec whole = *spec;
			Task		own = task;

			own.keys += part.first;
			own.out += part.first;
			if (task.payload != nullptr)
			{
				own.payload += part.first;
				own.payload_out += part.first;
			}
			own.n = part.n;
			sort_on(own, &whole);
			check(cudaStreamSynchronize(task.stream), "sort");
		};

		for_each_part(&parts, [&](Part *part) {
			if (part == &parts.front())
			{
				sort_here(*part);
				return;
			}
			try
			{
				sort_part(theirs, task.keys, task.payload, task.context->ordinal, part);
			}
			catch (const Failure &failure)
			{
				if (failure.error.code != HPSORT_CUDA_NO_MEMORY || failure.error.sticky)
					throw;

				/* this may be a thread without a device as yet */
				DeviceScope scope(part->context->ordinal);

				part->no_room = true;
				part->memory.release();
			}
		});
		/* first those that are sorted here, where there may be too little room as well:
		 * nothing is on its way from the others then */
		for (const Part &part : parts)
			if (part.no_room)
			{
				sort_here(part);
				devices--;
			}
		for (const Part &part : parts)
		{
			if (&part != &parts.front() && !part.no_room)
				fetch(parts.front(), part, out.from(part.first), task.stream);
			ends.push_back(part.first + part.n);
		}
		/* all keys are in the output by now, and their old place is the second list */
		merging.spec = spec;
		merge_output(merging, {const_cast<uint32_t *>(task.keys),
							   const_cast<uint32_t *>(task.payload)}, ends);
		/* their memory is read until then */
		check(cudaStreamSynchronize(task.stream), "merge the parts");
	});
	return devices;
}

} /* namespace published */
} /* namespace hpsort */

using namespace hpsort;
using namespace hpsort::published;

extern "C" HpsortCudaCode
hpsort_published_sort_many(HpsortCuda *const *contexts, int count,
						   const HpsortPublishedSpec *spec, const void *keys,
						   const uint32_t *payload, uint64_t n, void *out,
						   uint32_t *payload_out, HpsortCudaError *err)
{
	return guarded(err, [&] {
		HpsortCudaError refused;
		std::vector<Part> parts;

		/* what can be refused, is refused before a thread is started */
		if (count < 1 || contexts == nullptr || spec == nullptr)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no devices or no specification");
		if (spec->algorithm != HPSORT_PUBLISHED_BUCKET_BITONIC)
			fail(HPSORT_CUDA_BAD_ARGUMENT,
				 "of the published algorithms only bucket_bitonic uses several gpus");
		if (hpsort_published_can(spec, n, 0, &refused) != HPSORT_CUDA_OK)
			throw Failure{refused};
		if (n > 0 && (keys == nullptr || out == nullptr ||
					  (spec->payload && (payload == nullptr || payload_out == nullptr))))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no keys or no place for the result");
		if (n == 0)
			return;

		parts = cut(contexts, count, n);
		with_release(&parts, [&] {
			for_each_part(&parts, [&](Part *part) {
				sort_part(*spec, static_cast<const uint32_t *>(keys),
						  spec->payload ? payload : nullptr, -1, part);
			});
			collect(*spec, &parts, n, static_cast<uint32_t *>(out),
					spec->payload ? payload_out : nullptr);
		});
	});
}

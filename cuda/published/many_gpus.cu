/*-------------------------------------------------------------------------
 *
 * many_gpus.cu
 *	  bucket_bitonic on several GPUs: from host memory to host memory, and for a job whose keys
 *	  are on several devices (shares.cu).
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section VI: one host thread for each
 * device sorts a part of the list.  The parts then go to the first device, which merges them
 * (section V); CUDA copies them over a direct link between the devices if there is one.
 *
 * A job's case differs in one thing: each device has pieces from everywhere in the list.  Row
 * numbers say which, and the merge orders equal keys by them.
 *
 * On two H100, with 64e6 int4, two GPUs gain 9 % over one; with less than 32e6 they lose.  The
 * way to the device and back is two thirds of the time.  Two GPUs share the first half of it; the
 * result comes from one.
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
	uint64_t	first;			/* place of the part's first element in the list of all parts
								 * before the merge */
	uint64_t	n;
	std::unique_ptr<Stream> stream;
	DeviceBuffer memory;
	Elements	sorted;
	Share	   *share;			/* a job's share with its keys; null: the first device's keys */
	bool		no_room;		/* its own device has no room; the first device sorts the part */
	HpsortCudaCode code;
	HpsortCudaError error;
};

/*
 * Sorts input into memory that stays with the part, for the first device to fetch.  Calls the
 * public function, which waits and returns its error as a value, because this may be a thread of
 * its own.
 */
void
sort_part(const HpsortPublishedSpec &spec, const Elements &input, Part *part)
{
	const uint64_t n = part->n;
	const int	lists = input.payload ? 2 : 1;
	HpsortCudaError error;

	part->memory = DeviceBuffer(part->context, *part->stream, lists * array_bytes(n, 4),
								"sorted keys");

	Carver		out(part->memory);

	part->sorted.keys = out.take<uint32_t>(n);
	part->sorted.payload = input.payload ? out.take<uint32_t>(n) : nullptr;
	if (hpsort_published_sort(part->context, &spec, input.keys, input.payload, n,
							  part->sorted.keys, part->sorted.payload,
							  static_cast<cudaStream_t>(*part->stream), nullptr,
							  nullptr, &error) != HPSORT_CUDA_OK)
		throw Failure{error};
}

/* Sorts the part's keys and payload of host memory.  The input's memory on the device is given
 * back at the end. */
void
sort_from_host(const HpsortPublishedSpec &spec, const uint32_t *keys,
			   const uint32_t *payload, Part *part)
{
	DeviceScope scope(part->context->ordinal);

	part->stream.reset(new Stream);

	const uint64_t n = part->n;
	DeviceBuffer memory(part->context, *part->stream,
						(payload ? 2 : 1) * array_bytes(n, 4), "the keys");
	Carver		carver(memory);
	auto		copy_in = [&](const uint32_t *from) {
		uint32_t   *to = carver.take<uint32_t>(n);

		check(cudaMemcpyAsync(to, from + part->first, n * 4, cudaMemcpyHostToDevice,
							  *part->stream), "copy a part");
		return to;
	};
	Elements	input = {};

	input.keys = copy_in(keys);
	if (payload)
		input.payload = copy_in(payload);
	sort_part(spec, input, part);
}

/* Sorts a share's keys, which its device has and keeps: if it has no room to sort them, they are
 * fetched unsorted. */
void
sort_share(const HpsortPublishedSpec &spec, Part *part)
{
	const KeptKeys &kept = part->share->kept;

	DeviceScope scope(part->context->ordinal);

	part->stream.reset(new Stream);

	DeviceBuffer rows;
	Elements	input = {reinterpret_cast<uint32_t *>(kept.keys()), nullptr};

	if (spec.payload)
	{
		rows = DeviceBuffer(part->context, *part->stream, part->n * 4, "row numbers");
		input.payload = rows.as<uint32_t>();
		kept.write_rows(*part->stream, input.payload);
	}
	sort_part(spec, input, part);
}

/* Cuts n keys into parts, at most one per context and none without a key.  The first device has
 * the first part. */
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
 * Calls work(&part) for all parts, the first in this thread and each other one in a thread of its
 * own.  All threads are joined before any error is reported.  If a thread cannot be started, its
 * part is sorted in this thread.
 */
template <typename Work>
void
for_each_part(std::vector<Part> *parts, Work work)
{
	std::vector<std::thread> threads;
	auto		guarded_work = [&](Part *part) {
		part->code = guarded(&part->error, [&] { work(part); });
	};

	/* so that memory cannot run out while threads run that nobody would join */
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

/* Copies elements from the part's device to the first device, on the first device's stream, for
 * the merge that follows there.  The part's thread has waited for its own stream. */
void
fetch(const Part &first, const Part &part, const Elements &from, const Elements &to,
	  cudaStream_t stream)
{
	auto		copy = [&](uint32_t *target, const uint32_t *source) {
		check(cudaMemcpyPeerAsync(target, first.context->ordinal, source,
								  part.context->ordinal, part.n * 4, stream),
			  "copy between devices");
	};

	copy(to.keys, from.keys);
	if (from.payload)
		copy(to.payload, from.payload);
}

/* Brings all parts side by side to the first device, merges them, and copies the result to the
 * host.  The first device's own part is copied, too: one pair of lists, as long as all parts,
 * serves all merges. */
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
			fetch(first, part, part.sorted, one.from(part.first), stream);
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

/* Gives memory and streams of all parts back, on their own devices.  The memory is given back on
 * its stream, so the stream is destroyed last. */
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

/* Calls body(), and releases the parts in any case. */
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

uint64_t
share_need(const HpsortPublishedSpec &spec, uint64_t n)
{
	HpsortPublishedSpec theirs = spec;

	theirs.pass_keys = 0;
	return array_bytes(n, 4) * (spec.payload ? 4 : 2) + bucket_bitonic_need(theirs, n);
}

namespace
{

/* Returns the first device's own part, and behind it the parts of the other devices. */
std::vector<Part>
parts_of(const Task &task, uint64_t own, const std::vector<Share *> &others)
{
	std::vector<Part> parts(others.size() + 1);
	uint64_t	first = own;

	parts[0].context = task.context;
	parts[0].n = own;
	for (size_t i = 0; i < others.size(); i++)
	{
		Part	   &part = parts[i + 1];

		part.context = others[i]->context;
		part.share = others[i];
		part.first = first;
		part.n = others[i]->kept.n();
		first += part.n;
	}
	return parts;
}

/* Sorts a share.  Want of memory on its device is no error: the first device sorts the part. */
void
sort_share_if_room(const HpsortPublishedSpec &spec, Part *part)
{
	try
	{
		sort_share(spec, part);
	}
	catch (const Failure &failure)
	{
		if (failure.error.code != HPSORT_CUDA_NO_MEMORY || failure.error.sticky)
			throw;

		/* this may be a thread without a current device */
		DeviceScope scope(part->context->ordinal);

		part->no_room = true;
		part->memory.release();
	}
}

/* Sorts a part that lies on the first device into its place of the output.  This is done on the
 * job's stream, where it can be stopped. */
void
sort_here(const Task &task, const HpsortPublishedSpec &spec, const Part &part)
{
	DeviceScope scope(task.context->ordinal);
	HpsortPublishedSpec own_spec = spec;
	Task		own = task;

	own.keys += part.first;
	own.out += part.first;
	if (task.payload != nullptr)
	{
		own.payload += part.first;
		own.payload_out += part.first;
	}
	own.n = part.n;
	sort_on(own, &own_spec);
	check(cudaStreamSynchronize(task.stream), "sort");
}

/* Copies keys of another device, unsorted, to their place on the first one, with their row
 * numbers. */
void
bring(const Task &task, const Part &first, const Part &part)
{
	const KeptKeys &kept = part.share->kept;
	const Elements from = {reinterpret_cast<uint32_t *>(kept.keys()), nullptr};
	const Elements to = {const_cast<uint32_t *>(task.keys) + part.first, nullptr};

	fetch(first, part, from, to, task.stream);
	if (task.payload != nullptr)
		kept.write_rows(task.stream, const_cast<uint32_t *>(task.payload) + part.first);
}

} /* namespace */

/* The first device sorts its own part where it is, and afterwards the parts of devices that had
 * no room.  The other devices cannot be stopped: their parts are waited for. */
size_t
sort_shared(const Task &task, const HpsortPublishedSpec *spec, uint64_t own,
			const std::vector<Share *> &others)
{
	std::vector<Part> parts = parts_of(task, own, others);
	const Part &first = parts.front();
	size_t		devices = parts.size();
	HpsortPublishedSpec theirs = *spec;

	/* how short passes must be depends on what is free on a device; this number is the first
	 * device's */
	theirs.pass_keys = 0;
	/* the threads' streams do not wait for this one */
	check(cudaStreamSynchronize(task.stream), "get the keys");

	with_release(&parts, [&] {
		const Elements out = {task.out, task.payload_out};
		std::vector<uint64_t> ends;
		Task		merging = task;

		for_each_part(&parts, [&](Part *part) {
			if (part->share == nullptr)
				sort_here(task, *spec, *part);
			else
				sort_share_if_room(theirs, part);
		});
		/* Parts that are sorted here come first, because there may be too little room here, too;
		 * nothing is on its way from other devices then. */
		for (const Part &part : parts)
			if (part.no_room)
			{
				bring(task, first, part);
				sort_here(task, *spec, part);
				devices--;
			}
		for (const Part &part : parts)
		{
			if (part.share != nullptr && !part.no_room)
				fetch(first, part, part.sorted, out.from(part.first), task.stream);
			ends.push_back(part.first + part.n);
		}
		/* all keys are in the output, and their place before is the second list */
		merging.spec = spec;
		merge_output(merging, {const_cast<uint32_t *>(task.keys),
							   const_cast<uint32_t *>(task.payload)}, ends);
		/* the parts' memory is read until then */
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

		/* what can be refused is refused before a thread is started */
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
				sort_from_host(*spec, static_cast<const uint32_t *>(keys),
							   spec->payload ? payload : nullptr, part);
			});
			collect(*spec, &parts, n, static_cast<uint32_t *>(out),
					spec->payload ? payload_out : nullptr);
		});
	});
}

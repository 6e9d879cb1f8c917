/*-------------------------------------------------------------------------
 *
 * test_arguments.cpp
 *	  The command line of published_bench (bench/gpu/arguments.h): what is taken,
 *	  and what is refused and in which words.  No GPU, no CUDA.
 *
 *-------------------------------------------------------------------------
 */
#include <cstdio>
#include <cstring>

#include "gpu/arguments.h"

static int	failures;

static void
check_that(bool holds, const char *what, int line)
{
	if (holds)
		return;
	fprintf(stderr, "test_arguments.cpp:%d: %s\n", line, what);
	failures++;
}

#define CHECK(condition) check_that((condition), #condition, __LINE__)

/* In the engine's place, which needs CUDA. */
static int
by_name(const char *name, HpsortPublished *algorithm)
{
	if (strcmp(name, "hp") == 0)
		*algorithm = HPSORT_PUBLISHED_HP;
	else if (strcmp(name, "bucket_radix") == 0)
		*algorithm = HPSORT_PUBLISHED_BUCKET_RADIX;
	else
		return 0;
	return 1;
}

static std::string
take(const std::vector<std::string> &given, Arguments *arguments)
{
	*arguments = Arguments();
	return take_arguments(given, by_name, arguments);
}

int
main()
{
	Arguments	a;

	CHECK(take({}, &a).empty() && !a.help && a.csv.empty() && a.algorithms.empty());
	CHECK(take({"--help"}, &a).empty() && a.help);
	CHECK(take({"hp", "-h"}, &a).empty() && a.help);
	CHECK(take({"out.csv", "hp", "bucket_radix", "rows=65536"}, &a).empty());
	CHECK(a.csv == "out.csv" && a.algorithms.size() == 2 && a.options.rows == 65536);
	CHECK(a.algorithms[1] == HPSORT_PUBLISHED_BUCKET_RADIX);
	CHECK(take({"/tmp/a=b/out", "hp"}, &a).empty() && a.csv == "/tmp/a=b/out");
	CHECK(take({"hp", "disorder_limit=2.5"}, &a).empty() && a.options.disorder_limit == 2.5);
	for (const auto &option : option_names)
	{
		CHECK(take({option.name + ("=" + std::to_string(option.most))}, &a).empty());
		CHECK(a.options.*option.field == option.most);
		CHECK(!take({option.name + ("=" + std::to_string(option.most + 1))}, &a).empty());
	}

	/* nothing that is mistyped may pass for a file's name, or for the authors' choice */
	CHECK(take({"hpp"}, &a) == "there is no algorithm \"hpp\"");
	CHECK(take({"out.csv", "hpp"}, &a) == "there is no algorithm \"hpp\"");
	CHECK(take({"hp", "out.csv"}, &a) == "there is no algorithm \"out.csv\"");
	CHECK(take({"--rows"}, &a) == "there is no option \"--rows\"");
	CHECK(take({""}, &a) == "there is no option \"\"");
	CHECK(take({"row=5"}, &a) == "there is no option \"row\"");
	for (const char *value : {"", "0", "-1", "x", "5x", "1.5", "99999999999999999999"})
		CHECK(take({std::string("rows=") + value}, &a) ==
			  std::string("\"rows=") + value + "\": not a whole number above 0");
	for (const char *value : {"", "0", "-1", "x", "5x", "nan", "inf"})
		CHECK(take({std::string("disorder_limit=") + value}, &a) ==
			  std::string("\"disorder_limit=") + value + "\": not a number above 0");
	CHECK(take({"rows=48"}, &a) == "\"rows=48\": not a power of two from 32 to 65536");
	CHECK(take({"radix_bits=7"}, &a) == "\"radix_bits=7\": not from 8 to 16");
	printf("arguments: %d failures\n", failures);
	return failures > 0;
}

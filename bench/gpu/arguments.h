/*-------------------------------------------------------------------------
 *
 * arguments.h
 *	  The command line of published_bench: a file, algorithms by name and their
 *	  options.  Knows no CUDA, so that every machine can test it
 *	  (test/cuda/test_arguments.cpp).
 *
 *-------------------------------------------------------------------------
 */
#ifndef HPSORT_BENCH_ARGUMENTS_H
#define HPSORT_BENCH_ARGUMENTS_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "published/spec.h"

struct Arguments
{
	bool		help = false;
	std::string csv;			/* empty: none */
	std::vector<HpsortPublished> algorithms;	/* none: all */
	HpsortPublishedOptions options = {};
};

typedef uint32_t HpsortPublishedOptions::*OptionField;

/* Options that are counts, by name, and their ranges (spec.h); disorder_limit is none. */
static const struct
{
	const char *name;
	OptionField field;
	uint32_t	least;
	uint32_t	most;
	bool		any;			/* else a power of two */
}			option_names[] = {
	{"block_threads", &HpsortPublishedOptions::block_threads, 32, 1024, false},
	{"blocks", &HpsortPublishedOptions::blocks, 1, 65536, false},
	{"radix_bits", &HpsortPublishedOptions::radix_bits, 8, 16, true},
	{"rows", &HpsortPublishedOptions::rows, 32, 65536, false},
	{"bucket_most", &HpsortPublishedOptions::bucket_most, 128, 2048, false},
	{"slice_expected", &HpsortPublishedOptions::slice_expected, 1, 128, true},
};

/* Takes "name=number"; what is wrong with it, or nothing. */
inline std::string
take_option(const std::string &arg, HpsortPublishedOptions *options)
{
	const size_t sign = arg.find('=');
	const std::string name = arg.substr(0, sign);
	const std::string value = arg.substr(sign + 1);
	const bool	digits = !value.empty() && value.size() <= 9 &&
		value.find_first_not_of("0123456789") == std::string::npos;
	char	   *end;

	for (const auto &option : option_names)
		if (name == option.name)
		{
			/* 0 stands for the authors' choice, which is what goes without saying */
			if (!digits || std::stoul(value) == 0)
				return "\"" + arg + "\": not a whole number above 0";

			const uint32_t count = (uint32_t) std::stoul(value);

			if (count < option.least || count > option.most ||
				(!option.any && (count & (count - 1)) != 0))
				return "\"" + arg + "\": not " + (option.any ? "" : "a power of two ") + "from " +
					std::to_string(option.least) + " to " + std::to_string(option.most);
			options->*option.field = count;
			return "";
		}
	if (name != "disorder_limit")
		return "there is no option \"" + name + "\"";

	const double limit = strtod(value.c_str(), &end);

	if (value.empty() || *end != '\0' || !std::isfinite(limit) || limit <= 0)
		return "\"" + arg + "\": not a number above 0";
	options->disorder_limit = limit;
	return "";
}

/*
 * Takes all arguments but the program's name; what is wrong with one of them, or
 * nothing.  by_name is hpsort_published_by_name().  The first that is neither an
 * algorithm nor an option is the file's name; it is not opened here.
 */
inline std::string
take_arguments(const std::vector<std::string> &given,
			   int (*by_name) (const char *name, HpsortPublished *algorithm),
			   Arguments *arguments)
{
	for (size_t i = 0; i < given.size(); i++)
	{
		const std::string &arg = given[i];
		HpsortPublished algorithm;

		if (arg == "--help" || arg == "-h")
			arguments->help = true;
		else if (by_name(arg.c_str(), &algorithm))
			arguments->algorithms.push_back(algorithm);
		else if (arg.find('=') != std::string::npos && arg.find('/') == std::string::npos)
		{
			const std::string wrong = take_option(arg, &arguments->options);

			if (!wrong.empty())
				return wrong;
		}
		else if (arg.empty() || arg[0] == '-')
			return "there is no option \"" + arg + "\"";
		else if (i == 0 && (arg.find('.') != std::string::npos ||
							arg.find('/') != std::string::npos))
			arguments->csv = arg;
		else
			return "there is no algorithm \"" + arg + "\"";
	}
	return "";
}

#endif							/* HPSORT_BENCH_ARGUMENTS_H */

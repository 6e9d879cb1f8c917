/*
 * engine.c
 *		The errors that all engines report (see engine.h).
 */
#include "gpud/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
engine_fail(EngineError *err, GpuFailure failure, const char *format,...)
{
	va_list		args;

	memset(err, 0, sizeof(*err));
	err->failure = failure;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return false;
}

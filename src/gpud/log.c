/*
 * log.c
 *		The service's log (see log.h).
 */
#include "gpud/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

LogLevel	log_level = LOG_DEBUG;

/* A line that is longer than the buffer is cut. */
void
log_line(LogLevel level, const char *format,...)
{
	static const char *const prefix[] = {"DEBUG: ", "LOG: ", "WARNING: ", "ERROR: "};
	char		line[512];
	int			len;
	va_list		args;
	ssize_t		rc;

	if (level < log_level)
		return;
	len = snprintf(line, sizeof(line), "%s", prefix[level]);
	va_start(args, format);
	len += vsnprintf(line + len, sizeof(line) - (size_t) len - 1, format, args);
	va_end(args);
	if (len > (int) sizeof(line) - 2)
		len = (int) sizeof(line) - 2;
	line[len++] = '\n';

	/* One call for the whole line, so that lines of several threads do not mix. */
	rc = write(STDERR_FILENO, line, (size_t) len);
	(void) rc;
}

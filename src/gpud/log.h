/*
 * log.h
 *		The service's log, which is its standard error.
 *
 * The supervisor reads it, and passes each line on to PostgreSQL's log at the
 * level that the line begins with.
 */
#ifndef HPSORT_GPUD_LOG_H
#define HPSORT_GPUD_LOG_H

typedef enum LogLevel
{
	LOG_DEBUG,
	LOG_INFO,
	LOG_WARNING,
	LOG_ERROR
} LogLevel;

/*
 * Lines below this level, which tests set, are not written; PostgreSQL filters them by
 * log_min_messages.
 */
extern LogLevel log_level;

/* Writes one line, without its end in format.  Any thread may call it. */
extern void log_line(LogLevel level, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* HPSORT_GPUD_LOG_H */

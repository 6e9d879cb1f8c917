/*
 * costs.h
 *		What work costs on the service's first device, for the plan.
 */
#ifndef HPSORT_GPUD_COSTS_H
#define HPSORT_GPUD_COSTS_H

#include "gpud/connection.h"

/*
 * Measures costs and fills service->devices.costs, in some 0.6 s; called once,
 * before the service has clients.  What cannot be measured costs so much that no
 * plan chooses the device.
 */
extern void costs_measure(Service *service);

#endif							/* HPSORT_GPUD_COSTS_H */

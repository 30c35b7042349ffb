#pragma once
// Swift's Glibc module leaves these headers out.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static inline int herald_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0); }
static inline int herald_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds); }

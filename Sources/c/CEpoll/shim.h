#pragma once
// Swift's Glibc module leaves these headers out.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timex.h>

static inline int herald_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0); }
static inline int herald_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds); }
// The flags are macros over constants of the same names, which Swift finds or misses by what else a frontend has imported.
static inline int herald_stream_socket(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }
// The same goes for `struct timeval`, which several modules have. 0, or -1 with errno.
static inline int herald_set_socket_limit(int descriptor, long milliseconds) {
    struct timeval limit = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return -1;
    return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}
// Whether something sets the machine's clock: 1, 0, or -1 when the kernel does not say; it is only asked.
static inline int herald_is_clock_set(void) {
    struct timex state = {0};
    return adjtimex(&state) < 0 ? -1 : (state.status & STA_UNSYNC) == 0;
}

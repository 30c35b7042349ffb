#pragma once
// Swift's Glibc module leaves these headers out.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static inline int herald_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds); }

// It is Linux's own, so <sys/socket.h> hides it.
int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

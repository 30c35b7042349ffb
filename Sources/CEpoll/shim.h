#pragma once
// Swift's Glibc module leaves these two headers out.
#include <sys/epoll.h>
#include <sys/eventfd.h>

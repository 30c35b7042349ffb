#pragma once
// Swift's Glibc module leaves these headers out.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

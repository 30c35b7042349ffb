// The backend of the benchmarks where nginx's `return 200` does not suffice: it answers after a set time, or never, and
// measures the ages of notifications on arrival. One thread, epoll.
//
//     backend PORT MICROSECONDS [-o PERMILLE] [-c CALLS [-w]] [-a SECONDS] [-n]
//
// It answers this long after a request has come (-1: never), with 200, or with 429:
//
//     -o PERMILLE   once to this share of the events, whatever the rate; their keys' hashes decide which
//     -c CALLS      to calls beyond this number a second, evenly except for 20 at once
//     -w            the same counted anew in each second of the clock
//     -a SECONDS    with this Retry-After; without one by default
//     -n            a 200 with the header lines of nginx's
//
// GET /ages answers the number of notifications since the last look whose message begins with `at N ` (N:
// CLOCK_MONOTONIC
// in nanoseconds, at publication), and the 50th, 99th and 99.9th percentile and the maximum of their ages in
// microseconds;
// of calls that repeat an event's, recognised by its key's number, the first one counts. GET /status answers the number
// of
// POST requests so far, of refused ones, and of those that repeated such a notification.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 8 * 1024, EVENTS = 256, MAX_DESCRIPTORS = 20000, MAX_AGES = 4 * 1024 * 1024 };
enum { BURST = 20, MAX_REFUSED_EVENTS = 1 << 24 };

struct connection {
    size_t count;
    char *buffer;
    uint32_t generation;
};

struct due {
    int64_t at;
    int descriptor;
    uint32_t generation;
    bool refused;
};

static struct connection connections[MAX_DESCRIPTORS];
// All wait equally long, so the first in is the first out. A connection carries one request at a time.
static struct due waiting[MAX_DESCRIPTORS * 2];
static size_t first_waiting, waiting_count;
static uint32_t ages[MAX_AGES];
static size_t age_count;
static bool has_come[MAX_AGES];
static long long served, refused, repeated;
static int64_t delay;
static int poller;
static uint64_t refused_permille;
static bool was_refused[MAX_REFUSED_EVENTS];
static int64_t capacity;
static bool is_windowed;
static char too_many[100];

static const char *ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
static const char nginx_ok[] =
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 01 Jun 2026 12:00:00 GMT\r\n"
    "Content-Type: application/octet-stream\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n";
static const int64_t second = INT64_C(1000000000);

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void drop(int descriptor) {
    close(descriptor);
    free(connections[descriptor].buffer);
    connections[descriptor].buffer = NULL;
    connections[descriptor].generation++;
}

static void answer(int descriptor, const char *bytes, size_t count) {
    // Answers are small and one at a time, so there is always room.
    if (send(descriptor, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) drop(descriptor);
}

static int by_value(const void *left, const void *right) {
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

static uint32_t percentile(double share) {
    size_t index = (size_t)(share * age_count);
    return age_count == 0 ? 0 : ages[index < age_count ? index : age_count - 1];
}

static void tell(int descriptor, const char *path) {
    char text[200], head[400];
    if (strncmp(path, "/ages", 5) == 0) {
        qsort(ages, age_count, sizeof *ages, by_value);
        snprintf(text, sizeof text, "%zu %u %u %u %u\n", age_count, percentile(.5), percentile(.99), percentile(.999),
                 percentile(1));
        age_count = 0;
        memset(has_come, 0, sizeof has_come);
        repeated = 0;
    } else {
        snprintf(text, sizeof text, "%lld %lld %lld\n", served, refused, repeated);
    }
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(text), text);
    answer(descriptor, head, strlen(head));
}

static void note_age(const char *head, const char *body) {
    if (strncmp(body, "\"at ", 4) != 0 || age_count == MAX_AGES) return;
    // The key is the event's id, which ends with a hyphen and its number, a colon and the push service.
    const char *key = strcasestr(head, "\r\nidempotency-key:"), *number = key ? strchr(key + 18, ':') : NULL;
    while (number != NULL && number > key && *number != '-') number--;
    unsigned long place = number != NULL ? strtoul(number + 1, NULL, 10) : MAX_AGES;
    if (place < MAX_AGES && has_come[place]) {
        repeated++;
        return;
    }
    if (place < MAX_AGES) has_come[place] = true;
    ages[age_count++] = (uint32_t)((now() - strtoll(body + 4, NULL, 10)) / 1000);
}

// Whether the event is one of those that are refused once, and this is its first call.
static bool is_refused_once(const char *head) {
    const char *key = refused_permille > 0 ? strcasestr(head, "\r\nidempotency-key:") : NULL;
    if (key == NULL) return false;
    uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
    for (key += 18; *key != '\r'; key++) hash = (hash ^ (unsigned char)*key) * UINT64_C(1099511628211);
    bool *before = &was_refused[hash / 1000 % MAX_REFUSED_EVENTS];
    if (hash % 1000 >= refused_permille || *before) return false;
    *before = true;
    return true;
}

// Whether this call exceeds the calls of a second; if not, it is one of them.
static bool is_beyond_capacity(void) {
    static int64_t window, taken, next;
    int64_t moment = now();
    if (capacity == 0) return false;
    if (is_windowed) {
        if (moment / second != window) window = moment / second, taken = 0;
        if (taken == capacity) return true;
        taken++;
        return false;
    }
    int64_t interval = second / capacity, earliest = moment - BURST * interval;
    if (next > moment) return true;
    next = (next > earliest ? next : earliest) + interval;
    return false;
}

static void answer_call(int descriptor, bool is_refused) {
    if (is_refused) {
        answer(descriptor, too_many, strlen(too_many));
    } else {
        answer(descriptor, ok, strlen(ok));
    }
}

// Handles a whole request in the buffer, if there is one.
static void take_request(int descriptor) {
    struct connection *connection = &connections[descriptor];
    char *text = connection->buffer;
    text[connection->count] = 0;
    char *end = strstr(text, "\r\n\r\n");
    if (end == NULL) return;
    char *length = strcasestr(text, "\r\ncontent-length:");
    size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
    if (connection->count < (size_t)(end + 4 - text) + body) return;
    connection->count = 0;
    if (strncmp(text, "GET ", 4) == 0) {
        tell(descriptor, text + 4);
        return;
    }
    served++;
    note_age(text, end + 4);
    bool is_refused = is_refused_once(text) || is_beyond_capacity();
    refused += is_refused;
    if (delay == 0) {
        answer_call(descriptor, is_refused);
    } else if (delay > 0) {
        size_t room = sizeof waiting / sizeof *waiting;
        if (waiting_count == room) fail("too many calls");
        waiting[(first_waiting + waiting_count++) % room] =
            (struct due){now() + delay, descriptor, connection->generation, is_refused};
    }
}

static void read_from(int descriptor) {
    struct connection *connection = &connections[descriptor];
    ssize_t count = recv(descriptor, connection->buffer + connection->count, BUFFER - 1 - connection->count, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        drop(descriptor);
        return;
    }
    connection->count += count;
    take_request(descriptor);
}

static void take_connections(int listener) {
    int descriptor;
    while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (descriptor >= MAX_DESCRIPTORS) fail("too many connections");
        int one = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct connection *connection = &connections[descriptor];
        connection->count = 0;
        connection->buffer = malloc(BUFFER);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
        if (connection->buffer == NULL || epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("connection");
    }
}

static void answer_due(void) {
    size_t room = sizeof waiting / sizeof *waiting;
    int64_t moment = now();
    while (waiting_count > 0 && waiting[first_waiting].at <= moment) {
        struct due due = waiting[first_waiting];
        first_waiting = (first_waiting + 1) % room;
        waiting_count--;
        if (connections[due.descriptor].generation == due.generation) answer_call(due.descriptor, due.refused);
    }
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) fail("listen");
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) fail("epoll_ctl");
    return listener;
}

int main(int count, char **arguments) {
    const char *pause = NULL;
    // Options come behind the numbers, one of which may be negative.
    optind = 3;
    for (int option; count >= 3 && (option = getopt(count, arguments, "o:c:wa:n")) != -1;) {
        if (option == 'o') refused_permille = strtoull(optarg, NULL, 10);
        if (option == 'c') capacity = atoll(optarg);
        if (option == 'w') is_windowed = true;
        if (option == 'a') pause = optarg;
        if (option == 'n') ok = nginx_ok;
        if (option == '?') return 2;
    }
    if (count < 3 || optind != count) {
        fprintf(stderr, "usage: backend PORT MICROSECONDS [-o PERMILLE] [-c CALLS [-w]] [-a SECONDS] [-n]\n");
        return 2;
    }
    snprintf(too_many, sizeof too_many, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n%s%s%s\r\n",
             pause ? "Retry-After: " : "", pause ? pause : "", pause ? "\r\n" : "");
    struct rlimit limit = {.rlim_cur = MAX_DESCRIPTORS, .rlim_max = MAX_DESCRIPTORS};
    setrlimit(RLIMIT_NOFILE, &limit);
    poller = epoll_create1(0);
    delay = atoll(arguments[2]) * 1000;
    int listener = listen_on(atoi(arguments[1]));
    struct epoll_event events[EVENTS];
    for (;;) {
        struct timespec wait = {0}, *patience = NULL;
        if (waiting_count > 0) {
            int64_t rest = waiting[first_waiting].at - now();
            if (rest > 0) wait.tv_sec = rest / second, wait.tv_nsec = rest % second;
            patience = &wait;
        }
        int ready = epoll_pwait2(poller, events, EVENTS, patience, NULL);
        if (ready < 0 && errno != EINTR) fail("epoll_pwait2");
        for (int index = 0; index < ready; index++) {
            if (events[index].data.fd == listener) {
                take_connections(listener);
            } else {
                read_from(events[index].data.fd);
            }
        }
        answer_due();
    }
}

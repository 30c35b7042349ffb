#pragma once
#include <microhttpd.h>

// Swift cannot call variadic functions: these wrap the ones of libmicrohttpd that are needed.

struct herald_http_daemon_settings {
    unsigned int flags;
    int listening_socket;
    unsigned int threads;
    unsigned int connection_limit;
    unsigned int idle_timeout_seconds;
    /* PEM texts for TLS, which must outlive the call; NULL: plain HTTP */
    const char *certificate;
    const char *key;
    void *context;
    MHD_AccessHandlerCallback answer;
    void *(*begin)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    /* whether a connection from there is taken */
    MHD_AcceptPolicyCallback accept;
    MHD_NotifyConnectionCallback connection;
};

static inline struct MHD_Daemon *herald_http_daemon_start(const struct herald_http_daemon_settings *settings) {
    struct MHD_OptionItem options[4];
    int count = 0;
    // A pool of one thread is not a pool to libmicrohttpd.
    if (settings->threads > 1) {
        struct MHD_OptionItem pool = {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)settings->threads, NULL};
        options[count++] = pool;
    }
    if (settings->certificate) {
        struct MHD_OptionItem certificate = {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
        struct MHD_OptionItem key = {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
        options[count++] = certificate;
        options[count++] = key;
    }
    struct MHD_OptionItem end = {MHD_OPTION_END, 0, NULL};
    options[count] = end;
    return MHD_start_daemon(
        settings->flags | (settings->certificate ? MHD_USE_TLS : 0), 0, settings->accept, settings->context, settings->answer,
        settings->context,
        MHD_OPTION_LISTEN_SOCKET, settings->listening_socket,
        MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_timeout_seconds,
        MHD_OPTION_URI_LOG_CALLBACK, settings->begin, settings->context,
        MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
        MHD_OPTION_NOTIFY_CONNECTION, settings->connection, settings->context,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_ARRAY, options,
        MHD_OPTION_END);
}

static inline int herald_http_is_opening(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

static inline int herald_http_connection_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *herald_http_connection_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// POLLRDHUP, which <poll.h> hides from Swift because it is Linux's own: the other side has closed.
enum { herald_http_poll_peer_closed = 0x2000 };

#pragma once
#include <curl/curl.h>

// Swift cannot call C's variadic functions: one inline function for each type of argument.

static inline CURLcode herald_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode herald_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode herald_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode herald_curl_get_socket(CURL *handle, curl_socket_t *socket) {
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, socket);
}

static inline CURLcode herald_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode herald_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode herald_curl_multi_set_pointer(CURLM *multi, CURLMoption option, const void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLcode herald_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode herald_curl_multi_set_socket_callback(
    CURLM *multi, curl_socket_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback) : code;
}

static inline CURLMcode herald_curl_multi_set_timer_callback(
    CURLM *multi, curl_multi_timer_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback) : code;
}

static inline CURLcode herald_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

// The context comes back as the last argument of each callback.
static inline CURLcode herald_curl_set_sinks(
    CURL *handle, curl_write_callback body, curl_write_callback header, curl_xferinfo_callback progress,
    void *context) {
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
}

static inline CURLcode herald_curl_set_debug_callback(CURL *handle, curl_debug_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback) : code;
}

static inline CURLcode herald_curl_set_tls_callback(CURL *handle, curl_ssl_ctx_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, context);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, callback) : code;
}

static inline CURLcode herald_curl_set_close_callback(CURL *handle, curl_closesocket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

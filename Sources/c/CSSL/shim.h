#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift cannot call C's macros, nor walk OpenSSL's typed stacks.

static inline int herald_sha256(const void *data, size_t size, unsigned char *digest) {
    return EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL);
}

static inline int herald_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name) == 1;
}

// What the certificate is for, as "DNS:a.example, IP Address:10.0.0.1"; the common name when it says nothing else.
static inline void herald_ssl_names(X509 *certificate, char *text, int size) {
    text[0] = 0;
    int index = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
    if (index < 0) {
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text, size);
        return;
    }
    BIO *memory = BIO_new(BIO_s_mem());
    if (!memory) return;
    if (X509V3_EXT_print(memory, X509_get_ext(certificate, index), 0, 0)) {
        int count = BIO_read(memory, text, size - 1);
        text[count > 0 ? count : 0] = 0;
    }
    BIO_free(memory);
}

// Trusts every authority of a PEM text; how many there were.
static inline int herald_ssl_trust(SSL_CTX *context, const char *pem) {
    BIO *memory = BIO_new_mem_buf(pem, -1);
    if (!memory) return 0;
    int count = 0;
    X509 *authority;
    while ((authority = PEM_read_bio_X509(memory, NULL, NULL, NULL))) {
        count += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
        X509_free(authority);
    }
    ERR_clear_error();
    BIO_free(memory);
    return count;
}

// When the certificate ends, in seconds of Unix time; -1 when that cannot be read.
static inline long long herald_ssl_ends_at(const X509 *certificate) {
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;
    int is_known = epoch && ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate));
    ASN1_TIME_free(epoch);
    return is_known ? days * 86400LL + seconds : -1;
}

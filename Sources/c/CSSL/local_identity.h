#pragma once
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

// A certificate for this machine and the authority that signed it, as PEM texts, each to be freed.
struct herald_ssl_local_identity {
    char *authority;
    char *certificate;
    char *key;
};

static inline int herald_ssl_add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    int is_done = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return is_done;
}

// A certificate with its serial number, name, validity and key; the caller adds extensions and signs it.
static inline X509 *herald_ssl_blank_certificate(const char *name, X509 *issuer, EVP_PKEY *key, int days) {
    X509 *certificate = X509_new();
    BIGNUM *serial = BN_new();
    if (!certificate || !serial) goto failed;
    X509_NAME *subject = X509_get_subject_name(certificate);
    // Clients tell certificates of one issuer apart by the number; an hour back for clocks that are behind.
    if (!BN_rand(serial, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY)
        || !BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate))
        || !X509_set_version(certificate, 2)
        || !X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
        || !X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, NULL)
        || !X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0)
        || !X509_set_issuer_name(certificate, X509_get_subject_name(issuer ? issuer : certificate))
        || !X509_set_pubkey(certificate, key))
        goto failed;
    BN_free(serial);
    return certificate;
failed:
    BN_free(serial);
    X509_free(certificate);
    return NULL;
}

// What was written to the memory, as text that the caller frees.
static inline char *herald_ssl_text(BIO *memory) {
    char *bytes = NULL;
    long count = BIO_get_mem_data(memory, &bytes);
    char *text = malloc((size_t)count + 1);
    if (!text) return NULL;
    for (long index = 0; index < count; index++) text[index] = bytes[index];
    text[count] = 0;
    return text;
}

static inline char *herald_ssl_certificate_text(X509 *certificate) {
    BIO *memory = BIO_new(BIO_s_mem());
    char *text = memory && PEM_write_bio_X509(memory, certificate) ? herald_ssl_text(memory) : NULL;
    BIO_free(memory);
    return text;
}

static inline char *herald_ssl_key_text(EVP_PKEY *key) {
    BIO *memory = BIO_new(BIO_s_mem());
    char *text =
        memory && PEM_write_bio_PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) ? herald_ssl_text(memory) : NULL;
    BIO_free(memory);
    return text;
}

static inline void herald_ssl_local_identity_free(struct herald_ssl_local_identity *identity) {
    free(identity->authority);
    free(identity->certificate);
    free(identity->key);
}

// Makes an authority, whose key is thrown away at once, and a certificate for these names; false when libcrypto fails.
static inline int herald_ssl_local_identity_make(
    const char *name, const char *alternative_names, int days, struct herald_ssl_local_identity *identity
) {
    EVP_PKEY *authority_key = EVP_EC_gen("P-256");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *authority = authority_key ? herald_ssl_blank_certificate("Herald sandbox", NULL, authority_key, days) : NULL;
    X509 *certificate = key && authority ? herald_ssl_blank_certificate(name, authority, key, days) : NULL;
    int is_done = certificate
        && herald_ssl_add_extension(authority, authority, NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
        && herald_ssl_add_extension(authority, authority, NID_key_usage, "critical,keyCertSign")
        && herald_ssl_add_extension(authority, authority, NID_subject_key_identifier, "hash")
        && X509_sign(authority, authority_key, EVP_sha256())
        && herald_ssl_add_extension(certificate, authority, NID_basic_constraints, "critical,CA:FALSE")
        && herald_ssl_add_extension(certificate, authority, NID_key_usage, "critical,digitalSignature")
        && herald_ssl_add_extension(certificate, authority, NID_ext_key_usage, "serverAuth")
        && herald_ssl_add_extension(certificate, authority, NID_subject_alt_name, alternative_names)
        && herald_ssl_add_extension(certificate, authority, NID_authority_key_identifier, "keyid")
        && X509_sign(certificate, authority_key, EVP_sha256());
    identity->authority = is_done ? herald_ssl_certificate_text(authority) : NULL;
    identity->certificate = is_done ? herald_ssl_certificate_text(certificate) : NULL;
    identity->key = is_done ? herald_ssl_key_text(key) : NULL;
    X509_free(certificate);
    X509_free(authority);
    EVP_PKEY_free(key);
    EVP_PKEY_free(authority_key);
    if (identity->authority && identity->certificate && identity->key) return 1;
    herald_ssl_local_identity_free(identity);
    return 0;
}

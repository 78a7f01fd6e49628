// Many of OpenSSL's functions are macros, which Swift can't call: one typed wrapper for each that is used.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>

static inline int snapshot_ssl_reason(unsigned long error) { return ERR_GET_REASON(error); }
static inline long snapshot_ssl_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline int snapshot_ssl_set_minimum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int snapshot_ssl_set_groups(SSL_CTX *context, const char *names) {
  return (int)SSL_CTX_set1_groups_list(context, names);
}
static inline void snapshot_ssl_disable_session_cache(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline int snapshot_ssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline void snapshot_ssl_read_ahead(SSL_CTX *context) { SSL_CTX_set_read_ahead(context, 1); }
static inline void snapshot_ssl_set_server_name_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *), void *argument) {
  SSL_CTX_set_tlsext_servername_callback(context, callback);
  SSL_CTX_set_tlsext_servername_arg(context, argument);
}
static inline int snapshot_ssl_set_ticket_callback(
    SSL_CTX *context,
    int (*callback)(SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int)) {
  return (int)SSL_CTX_set_tlsext_ticket_key_evp_cb(context, callback);
}
static inline int snapshot_ssl_set_host_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline int snapshot_ssl_set_app_data(SSL_CTX *context, void *data) {
  return SSL_CTX_set_ex_data(context, 0, data);
}
static inline void *snapshot_ssl_app_data(SSL *ssl) { return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0); }
static inline BIO *snapshot_ssl_memory(const void *bytes, int count) { return BIO_new_mem_buf(bytes, count); }

static inline int snapshot_ssl_set_status_callback(SSL_CTX *context, int (*callback)(SSL *, void *)) {
  return (int)SSL_CTX_set_tlsext_status_cb(context, callback);
}
// OpenSSL frees the response that it is given, so it gets a copy.
static inline int snapshot_ssl_set_staple(SSL *ssl, const void *bytes, size_t count) {
  void *copy = OPENSSL_memdup(bytes, count);
  if (copy == NULL) return 0;
  if (SSL_set_tlsext_status_ocsp_resp(ssl, copy, (int)count) == 1) return 1;
  OPENSSL_free(copy);
  return 0;
}
static inline long snapshot_ssl_ask_for_staple(SSL *ssl) {
  return SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
}
static inline long snapshot_ssl_staple(SSL *ssl, const unsigned char **start) {
  return SSL_get_tlsext_status_ocsp_resp(ssl, start);
}
static inline const char *snapshot_ssl_cipher_name(SSL *ssl) { return SSL_get_cipher(ssl); }
static inline EVP_PKEY *snapshot_ssl_make_key(void) { return EVP_EC_gen("P-256"); }

// Swift imports no macro that shifts a cast value.
static const uint64_t snapshot_ssl_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t snapshot_ssl_no_tls13 = SSL_OP_NO_TLSv1_3;
static const uint64_t snapshot_ssl_no_compression = SSL_OP_NO_COMPRESSION;
static const uint64_t snapshot_ssl_ignore_unexpected_end = SSL_OP_IGNORE_UNEXPECTED_EOF;

// Prepares a ticket's MAC with HMAC-SHA-256.
static inline int snapshot_ssl_set_ticket_mac(EVP_MAC_CTX *mac, const unsigned char *key, size_t count) {
  OSSL_PARAM parameters[3];
  parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, count);
  parameters[1] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0);
  parameters[2] = OSSL_PARAM_construct_end();
  return EVP_MAC_CTX_set_params(mac, parameters);
}

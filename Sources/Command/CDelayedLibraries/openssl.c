#ifdef __linux__
#include "forwarding.h"
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>

#define LIBSSL "libssl.so.3"
#define LIBCRYPTO "libcrypto.so.3"

#define SSL_FUNCTION(...) FORWARD(LIBSSL, __VA_ARGS__)
SSL_FUNCTION(int, SSL_CTX_add_client_CA, (SSL_CTX *ctx, X509 *x), (ctx, x))
SSL_FUNCTION(long, SSL_CTX_callback_ctrl, (SSL_CTX *a, int b, void (*c)(void)), (a, b, c))
SSL_FUNCTION(long, SSL_CTX_ctrl, (SSL_CTX *ctx, int cmd, long larg, void *parg), (ctx, cmd, larg, parg))
SSL_FUNCTION(void, SSL_CTX_free, (SSL_CTX *a), (a))
SSL_FUNCTION(X509_STORE *, SSL_CTX_get_cert_store, (const SSL_CTX *a), (a))
SSL_FUNCTION(void *, SSL_CTX_get_ex_data, (const SSL_CTX *ssl, int idx), (ssl, idx))
SSL_FUNCTION(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *meth), (meth))
SSL_FUNCTION(
  void, SSL_CTX_set_alpn_select_cb, (SSL_CTX *ctx, SSL_CTX_alpn_select_cb_func cb, void *arg), (ctx, cb, arg))
SSL_FUNCTION(int, SSL_CTX_set_cipher_list, (SSL_CTX *a, const char *str), (a, str))
SSL_FUNCTION(int, SSL_CTX_set_ciphersuites, (SSL_CTX *ctx, const char *str), (ctx, str))
SSL_FUNCTION(void, SSL_CTX_set_default_read_buffer_len, (SSL_CTX *ctx, size_t len), (ctx, len))
SSL_FUNCTION(int, SSL_CTX_set_ex_data, (SSL_CTX *ssl, int idx, void *data), (ssl, idx, data))
SSL_FUNCTION(uint64_t, SSL_CTX_set_options, (SSL_CTX *ctx, uint64_t op), (ctx, op))
SSL_FUNCTION(void, SSL_CTX_set_security_level, (SSL_CTX *ctx, int level), (ctx, level))
SSL_FUNCTION(
  int, SSL_CTX_set_session_id_context, (SSL_CTX *ctx, const unsigned char *sid_ctx, unsigned int sid_ctx_len), (ctx,
   sid_ctx, sid_ctx_len))
SSL_FUNCTION(
  int, SSL_CTX_set_tlsext_ticket_key_evp_cb, (SSL_CTX *ctx, int (*fp)(SSL *, unsigned char *, unsigned char *,
   EVP_CIPHER_CTX *, EVP_MAC_CTX *, int)), (ctx, fp))
SSL_FUNCTION(void, SSL_CTX_set_verify, (SSL_CTX *ctx, int mode, SSL_verify_cb callback), (ctx, mode, callback))
SSL_FUNCTION(int, SSL_CTX_use_PrivateKey, (SSL_CTX *ctx, EVP_PKEY *pkey), (ctx, pkey))
SSL_FUNCTION(int, SSL_CTX_use_certificate, (SSL_CTX *ctx, X509 *x), (ctx, x))
SSL_FUNCTION(long, SSL_ctrl, (SSL *ssl, int cmd, long larg, void *parg), (ssl, cmd, larg, parg))
SSL_FUNCTION(int, SSL_do_handshake, (SSL *s), (s))
SSL_FUNCTION(void, SSL_free, (SSL *ssl), (ssl))
SSL_FUNCTION(X509 *, SSL_get0_peer_certificate, (const SSL *s), (s))
SSL_FUNCTION(SSL_CTX *, SSL_get_SSL_CTX, (const SSL *ssl), (ssl))
SSL_FUNCTION(X509 *, SSL_get_certificate, (const SSL *ssl), (ssl))
SSL_FUNCTION(int, SSL_get_error, (const SSL *s, int ret_code), (s, ret_code))
SSL_FUNCTION(const char *, SSL_get_servername, (const SSL *s, const int type), (s, type))
SSL_FUNCTION(long, SSL_get_verify_result, (const SSL *ssl), (ssl))
SSL_FUNCTION(int, SSL_has_pending, (const SSL *s), (s))
SSL_FUNCTION(int, SSL_is_init_finished, (const SSL *s), (s))
SSL_FUNCTION(SSL *, SSL_new, (SSL_CTX *ctx), (ctx))
SSL_FUNCTION(int, SSL_read, (SSL *ssl, void *buf, int num), (ssl, buf, num))
SSL_FUNCTION(void, SSL_set0_rbio, (SSL *s, BIO *rbio), (s, rbio))
SSL_FUNCTION(SSL_CTX *, SSL_set_SSL_CTX, (SSL *ssl, SSL_CTX *ctx), (ssl, ctx))
SSL_FUNCTION(void, SSL_set_accept_state, (SSL *s), (s))
SSL_FUNCTION(int, SSL_set_fd, (SSL *s, int fd), (s, fd))
SSL_FUNCTION(int, SSL_set_rfd, (SSL *s, int fd), (s, fd))
SSL_FUNCTION(int, SSL_shutdown, (SSL *s), (s))
SSL_FUNCTION(int, SSL_write, (SSL *ssl, const void *buf, int num), (ssl, buf, num))
SSL_FUNCTION(const SSL_METHOD *, TLS_server_method, (void), ())

#define CRYPTO_FUNCTION(...) FORWARD(LIBCRYPTO, __VA_ARGS__)
CRYPTO_FUNCTION(int, ASN1_INTEGER_set_uint64, (ASN1_INTEGER *a, uint64_t r), (a, r))
CRYPTO_FUNCTION(void, ASN1_STRING_free, (ASN1_STRING *a), (a))
CRYPTO_FUNCTION(const unsigned char *, ASN1_STRING_get0_data, (const ASN1_STRING *x), (x))
CRYPTO_FUNCTION(int, ASN1_STRING_length, (const ASN1_STRING *x), (x))
CRYPTO_FUNCTION(int, ASN1_STRING_to_UTF8, (unsigned char **out, const ASN1_STRING *in), (out, in))
CRYPTO_FUNCTION(
  int, ASN1_TIME_diff, (int *pday, int *psec, const ASN1_TIME *from, const ASN1_TIME *to), (pday, psec, from, to))
CRYPTO_FUNCTION(ASN1_TIME *, ASN1_TIME_set, (ASN1_TIME *s, time_t t), (s, t))
CRYPTO_FUNCTION(size_t, BIO_ctrl_pending, (BIO *b), (b))
CRYPTO_FUNCTION(int, BIO_free, (BIO *a), (a))
CRYPTO_FUNCTION(BIO *, BIO_new, (const BIO_METHOD *type), (type))
CRYPTO_FUNCTION(BIO *, BIO_new_mem_buf, (const void *buf, int len), (buf, len))
CRYPTO_FUNCTION(int, BIO_read, (BIO *b, void *data, int dlen), (b, data, dlen))
CRYPTO_FUNCTION(const BIO_METHOD *, BIO_s_mem, (void), ())
CRYPTO_FUNCTION(int, BIO_write, (BIO *b, const void *data, int dlen), (b, data, dlen))
CRYPTO_FUNCTION(void, CRYPTO_free, (void *ptr, const char *file, int line), (ptr, file, line))
CRYPTO_FUNCTION(
  void *, CRYPTO_memdup, (const void *str, size_t siz, const char *file, int line), (str, siz, file, line))
CRYPTO_FUNCTION(void, ERR_clear_error, (void), ())
CRYPTO_FUNCTION(unsigned long, ERR_get_error, (void), ())
CRYPTO_FUNCTION(const char *, ERR_reason_error_string, (unsigned long e), (e))
CRYPTO_FUNCTION(int, EVP_CIPHER_get_iv_length, (const EVP_CIPHER *cipher), (cipher))
CRYPTO_FUNCTION(
  int, EVP_DecryptInit_ex, (EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, ENGINE *impl, const unsigned char *key,
   const unsigned char *iv), (ctx, cipher, impl, key, iv))
CRYPTO_FUNCTION(
  int, EVP_Digest, (const void *data, size_t count, unsigned char *md, unsigned int *size, const EVP_MD *type, ENGINE
   *impl), (data, count, md, size, type, impl))
CRYPTO_FUNCTION(
  int, EVP_EncryptInit_ex, (EVP_CIPHER_CTX *ctx, const EVP_CIPHER *cipher, ENGINE *impl, const unsigned char *key,
   const unsigned char *iv), (ctx, cipher, impl, key, iv))
CRYPTO_FUNCTION(int, EVP_MAC_CTX_set_params, (EVP_MAC_CTX *ctx, const OSSL_PARAM *params), (ctx, params))

// Variadic: the parameters of an elliptic curve are one text, its name.
HIDDEN EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *context, const char *properties, const char *type, ...) {
  va_list values;
  va_start(values, type);
  char *curve = va_arg(values, char *);
  va_end(values);
  return FOUND(LIBCRYPTO, EVP_PKEY_Q_keygen)(context, properties, type, curve);
}

CRYPTO_FUNCTION(void, EVP_PKEY_free, (EVP_PKEY *pkey), (pkey))
CRYPTO_FUNCTION(int, EVP_PKEY_get_base_id, (const EVP_PKEY *pkey), (pkey))
CRYPTO_FUNCTION(int, EVP_PKEY_get_bits, (const EVP_PKEY *pkey), (pkey))
CRYPTO_FUNCTION(const EVP_CIPHER *, EVP_aes_256_cbc, (void), ())
CRYPTO_FUNCTION(const EVP_MD *, EVP_sha256, (void), ())
CRYPTO_FUNCTION(void, GENERAL_NAMES_free, (GENERAL_NAMES *a), (a))
CRYPTO_FUNCTION(void *, GENERAL_NAME_get0_value, (const GENERAL_NAME *a, int *ptype), (a, ptype))
CRYPTO_FUNCTION(void, OCSP_BASICRESP_free, (OCSP_BASICRESP *a), (a))
CRYPTO_FUNCTION(void, OCSP_CERTID_free, (OCSP_CERTID *a), (a))
CRYPTO_FUNCTION(void, OCSP_RESPONSE_free, (OCSP_RESPONSE *a), (a))
CRYPTO_FUNCTION(
  OCSP_CERTID *, OCSP_cert_to_id, (const EVP_MD *dgst, const X509 *subject, const X509 *issuer), (dgst, subject,
   issuer))
CRYPTO_FUNCTION(
  int, OCSP_resp_find_status, (OCSP_BASICRESP *bs, OCSP_CERTID *id, int *status, int *reason, ASN1_GENERALIZEDTIME
   **revtime, ASN1_GENERALIZEDTIME **thisupd, ASN1_GENERALIZEDTIME **nextupd), (bs, id, status, reason, revtime,
   thisupd, nextupd))
CRYPTO_FUNCTION(OCSP_BASICRESP *, OCSP_response_get1_basic, (OCSP_RESPONSE *resp), (resp))
CRYPTO_FUNCTION(int, OCSP_response_status, (OCSP_RESPONSE *resp), (resp))
CRYPTO_FUNCTION(int, OPENSSL_sk_num, (const OPENSSL_STACK *a), (a))
CRYPTO_FUNCTION(void *, OPENSSL_sk_value, (const OPENSSL_STACK *a, int b), (a, b))
CRYPTO_FUNCTION(OSSL_PARAM, OSSL_PARAM_construct_end, (void), ())
CRYPTO_FUNCTION(
  OSSL_PARAM, OSSL_PARAM_construct_octet_string, (const char *key, void *buf, size_t bsize), (key, buf, bsize))
CRYPTO_FUNCTION(
  OSSL_PARAM, OSSL_PARAM_construct_utf8_string, (const char *key, char *buf, size_t bsize), (key, buf, bsize))
CRYPTO_FUNCTION(
  EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO *out, EVP_PKEY **x, pem_password_cb *cb, void *u), (out, x, cb, u))
CRYPTO_FUNCTION(X509 *, PEM_read_bio_X509, (BIO *out, X509 **x, pem_password_cb *cb, void *u), (out, x, cb, u))
CRYPTO_FUNCTION(
  int, PEM_write_bio_PKCS8PrivateKey, (BIO *a, const EVP_PKEY *b, const EVP_CIPHER *c, const char *kstr, int klen,
   pem_password_cb *cb, void *u), (a, b, c, kstr, klen, cb, u))
CRYPTO_FUNCTION(int, PEM_write_bio_X509, (BIO *out, const X509 *x), (out, x))
CRYPTO_FUNCTION(int, RAND_bytes, (unsigned char *buf, int num), (buf, num))
CRYPTO_FUNCTION(int, RAND_priv_bytes, (unsigned char *buf, int num), (buf, num))
CRYPTO_FUNCTION(
  X509_EXTENSION *, X509V3_EXT_conf_nid, (LHASH_OF(CONF_VALUE) *conf, X509V3_CTX *ctx, int ext_nid, const char
   *value), (conf, ctx, ext_nid, value))
CRYPTO_FUNCTION(void, X509_EXTENSION_free, (X509_EXTENSION *a), (a))
CRYPTO_FUNCTION(ASN1_STRING *, X509_NAME_ENTRY_get_data, (const X509_NAME_ENTRY *ne), (ne))
CRYPTO_FUNCTION(
  int, X509_NAME_add_entry_by_NID, (X509_NAME *name, int nid, int type, const unsigned char *bytes, int len, int loc,
   int set), (name, nid, type, bytes, len, loc, set))
CRYPTO_FUNCTION(X509_NAME_ENTRY *, X509_NAME_get_entry, (const X509_NAME *name, int loc), (name, loc))
CRYPTO_FUNCTION(int, X509_NAME_get_index_by_NID, (const X509_NAME *name, int nid, int lastpos), (name, nid, lastpos))
CRYPTO_FUNCTION(int, X509_STORE_add_cert, (X509_STORE *ctx, X509 *x), (ctx, x))
CRYPTO_FUNCTION(int, X509_add_ext, (X509 *x, X509_EXTENSION *ex, int loc), (x, ex, loc))
CRYPTO_FUNCTION(int, X509_check_issued, (X509 *issuer, X509 *subject), (issuer, subject))
CRYPTO_FUNCTION(int, X509_check_private_key, (const X509 *x509, const EVP_PKEY *pkey), (x509, pkey))
CRYPTO_FUNCTION(
  int, X509_digest, (const X509 *data, const EVP_MD *type, unsigned char *md, unsigned int *len), (data, type, md,
   len))
CRYPTO_FUNCTION(void, X509_free, (X509 *a), (a))
CRYPTO_FUNCTION(const ASN1_TIME *, X509_get0_notAfter, (const X509 *x), (x))
CRYPTO_FUNCTION(const ASN1_TIME *, X509_get0_notBefore, (const X509 *x), (x))
CRYPTO_FUNCTION(X509_PUBKEY *, X509_get_X509_PUBKEY, (const X509 *x), (x))
CRYPTO_FUNCTION(void *, X509_get_ext_d2i, (const X509 *x, int nid, int *crit, int *idx), (x, nid, crit, idx))
CRYPTO_FUNCTION(ASN1_INTEGER *, X509_get_serialNumber, (X509 *x), (x))
CRYPTO_FUNCTION(X509_NAME *, X509_get_subject_name, (const X509 *a), (a))
CRYPTO_FUNCTION(ASN1_TIME *, X509_getm_notAfter, (const X509 *x), (x))
CRYPTO_FUNCTION(ASN1_TIME *, X509_getm_notBefore, (const X509 *x), (x))
CRYPTO_FUNCTION(X509 *, X509_new, (void), ())
CRYPTO_FUNCTION(int, X509_set_issuer_name, (X509 *x, const X509_NAME *name), (x, name))
CRYPTO_FUNCTION(int, X509_set_pubkey, (X509 *x, EVP_PKEY *pkey), (x, pkey))
CRYPTO_FUNCTION(int, X509_set_version, (X509 *x, long version), (x, version))
CRYPTO_FUNCTION(int, X509_sign, (X509 *x, EVP_PKEY *pkey, const EVP_MD *md), (x, pkey, md))
CRYPTO_FUNCTION(
  OCSP_RESPONSE *, d2i_OCSP_RESPONSE, (OCSP_RESPONSE **a, const unsigned char **in, long len), (a, in, len))
CRYPTO_FUNCTION(int, i2d_X509_PUBKEY, (const X509_PUBKEY *a, unsigned char **out), (a, out))
#endif

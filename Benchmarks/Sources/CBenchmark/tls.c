#include "benchmark.h"

#include <errno.h>
#include <openssl/ssl.h>

static SSL_CTX *context(void) {
  static SSL_CTX *shared;
  if (shared == NULL) {
    shared = SSL_CTX_new(TLS_client_method());
    if (shared == NULL) return NULL;
    SSL_CTX_set_min_proto_version(shared, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(shared, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set1_groups_list(shared, "X25519");
    SSL_CTX_set_mode(shared, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  }
  return shared;
}

void *benchmark_tls_connect(int descriptor) {
  SSL *session = context() ? SSL_new(context()) : NULL;
  if (session == NULL) return NULL;
  if (SSL_set_fd(session, descriptor) == 1 && SSL_connect(session) == 1) return session;
  SSL_free(session);
  return NULL;
}

static ssize_t failure(SSL *session, int result) {
  int error = SSL_get_error(session, result);
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) errno = EAGAIN;
  else if (error != SSL_ERROR_SYSCALL) errno = EPROTO;
  return -1;
}

ssize_t benchmark_tls_send(void *session, const void *bytes, size_t count) {
  int result = SSL_write(session, bytes, count > 1 << 30 ? 1 << 30 : (int)count);
  return result > 0 ? result : failure(session, result);
}

ssize_t benchmark_tls_receive(void *session, void *room, size_t capacity) {
  size_t received = 0;
  while (received < capacity) {
    size_t rest = capacity - received;
    int result = SSL_read(session, (char *)room + received, rest > 1 << 30 ? 1 << 30 : (int)rest);
    if (result <= 0) {
      ssize_t outcome = failure(session, result);
      return received > 0 ? (ssize_t)received : outcome;
    }
    received += (size_t)result;
  }
  return (ssize_t)received;
}

void benchmark_tls_free(void *session) {
  SSL_shutdown(session);
  SSL_free(session);
}

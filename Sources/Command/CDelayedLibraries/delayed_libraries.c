// The functions of libcurl and libpq that the command uses. The first call of each finds it, and loads its library.
//
// The two libraries need 25 others, which take a third of the time to start the process. Most commands use neither, nor
// does `snapshot serve` with its own storage. Since the functions are defined here, the linker's option --as-needed
// (link.cfg) leaves the libraries out of those that are loaded at the start. Without it, they are loaded then.
#ifdef __linux__
#include <curl/curl.h>
#include <dlfcn.h>
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

// Ends the process as the loader does at the start if a library is missing.
static void *find(const char *library, const char *name) {
  void *loaded = dlopen(library, RTLD_LAZY);
  void *function = loaded ? dlsym(loaded, name) : NULL;
  if (!function) {
    const char *reason = dlerror();
    fprintf(stderr, "snapshot: error while loading shared libraries: %s\n", reason ? reason : name);
    _exit(127);
  }
  return function;
}

#define LIBCURL "libcurl.so.4"
#define LIBPQ "libpq.so.5"

// Hidden, so that the libraries themselves do not call them.
#define HIDDEN __attribute__((visibility("hidden")))

// The function of the library. Threads that find it at the same time find the same.
#define FOUND(library, name)                                                       \
  ({                                                                               \
    static _Atomic(void *) found;                                                  \
    void *function = atomic_load_explicit(&found, memory_order_acquire);           \
    if (!function) {                                                               \
      function = find(library, #name);                                             \
      atomic_store_explicit(&found, function, memory_order_release);               \
    }                                                                              \
    (__typeof__(&name))function;                                                   \
  })

#define FORWARD(library, result, name, parameters, arguments) \
  HIDDEN result name parameters { return FOUND(library, name) arguments; }

// The value of an option is a `long`, a `curl_off_t` or a pointer: all are passed alike.
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "64-bit");

#define FORWARD_OPTION(result, name, object, option)    \
  HIDDEN result name(object *target, option key, ...) { \
    va_list values;                                     \
    va_start(values, key);                              \
    void *value = va_arg(values, void *);               \
    va_end(values);                                     \
    return FOUND(LIBCURL, name)(target, key, value);    \
  }

#undef curl_easy_setopt
#undef curl_multi_setopt
FORWARD_OPTION(CURLcode, curl_easy_setopt, CURL, CURLoption)
FORWARD_OPTION(CURLMcode, curl_multi_setopt, CURLM, CURLMoption)

#define CURL_FUNCTION(...) FORWARD(LIBCURL, __VA_ARGS__)
CURL_FUNCTION(CURLcode, curl_global_init, (long flags), (flags))
CURL_FUNCTION(CURL *, curl_easy_init, (void), ())
CURL_FUNCTION(void, curl_easy_cleanup, (CURL * easy), (easy))
CURL_FUNCTION(const char *, curl_easy_strerror, (CURLcode code), (code))
CURL_FUNCTION(CURLM *, curl_multi_init, (void), ())
CURL_FUNCTION(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))
CURL_FUNCTION(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))
CURL_FUNCTION(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))
CURL_FUNCTION(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))
CURL_FUNCTION(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))
CURL_FUNCTION(CURLMcode, curl_multi_wakeup, (CURLM * multi), (multi))
CURL_FUNCTION(
  CURLMcode, curl_multi_poll,
  (CURLM * multi, struct curl_waitfd waits[], unsigned int count, int milliseconds, int *ready),
  (multi, waits, count, milliseconds, ready))
CURL_FUNCTION(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text), (list, text))
CURL_FUNCTION(void, curl_slist_free_all, (struct curl_slist * list), (list))

#define PQ_FUNCTION(...) FORWARD(LIBPQ, __VA_ARGS__)
PQ_FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *uri, char **error), (uri, error))
PQ_FUNCTION(void, PQconninfoFree, (PQconninfoOption * options), (options))
PQ_FUNCTION(
  PGconn *, PQconnectStartParams, (const char *const *names, const char *const *values, int expand),
  (names, values, expand))
PQ_FUNCTION(PostgresPollingStatusType, PQconnectPoll, (PGconn * connection), (connection))
PQ_FUNCTION(
  PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * connection, PQnoticeProcessor processor, void *context),
  (connection, processor, context))
PQ_FUNCTION(int, PQsetnonblocking, (PGconn * connection, int flag), (connection, flag))
PQ_FUNCTION(void, PQfinish, (PGconn * connection), (connection))
PQ_FUNCTION(ConnStatusType, PQstatus, (const PGconn *connection), (connection))
PQ_FUNCTION(int, PQsocket, (const PGconn *connection), (connection))
PQ_FUNCTION(char *, PQerrorMessage, (const PGconn *connection), (connection))
PQ_FUNCTION(int, PQsendQuery, (PGconn * connection, const char *sql), (connection, sql))
PQ_FUNCTION(
  int, PQsendPrepare, (PGconn * connection, const char *name, const char *sql, int count, const Oid *types),
  (connection, name, sql, count, types))
PQ_FUNCTION(
  int, PQsendQueryPrepared,
  (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths,
   const int *formats, int format),
  (connection, name, count, values, lengths, formats, format))
PQ_FUNCTION(int, PQputCopyData, (PGconn * connection, const char *bytes, int count), (connection, bytes, count))
PQ_FUNCTION(int, PQputCopyEnd, (PGconn * connection, const char *error), (connection, error))
PQ_FUNCTION(int, PQflush, (PGconn * connection), (connection))
PQ_FUNCTION(int, PQconsumeInput, (PGconn * connection), (connection))
PQ_FUNCTION(int, PQisBusy, (PGconn * connection), (connection))
PQ_FUNCTION(PGnotify *, PQnotifies, (PGconn * connection), (connection))
PQ_FUNCTION(void, PQfreemem, (void *memory), (memory))
PQ_FUNCTION(PGresult *, PQgetResult, (PGconn * connection), (connection))
PQ_FUNCTION(void, PQclear, (PGresult * result), (result))
PQ_FUNCTION(ExecStatusType, PQresultStatus, (const PGresult *result), (result))
PQ_FUNCTION(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))
PQ_FUNCTION(char *, PQcmdStatus, (PGresult * result), (result))
PQ_FUNCTION(char *, PQcmdTuples, (PGresult * result), (result))
PQ_FUNCTION(int, PQntuples, (const PGresult *result), (result))
PQ_FUNCTION(int, PQnfields, (const PGresult *result), (result))
PQ_FUNCTION(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))
PQ_FUNCTION(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))
PQ_FUNCTION(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))
#endif

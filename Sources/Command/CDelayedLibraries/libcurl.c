#ifdef __linux__
#include "forwarding.h"
#include <curl/curl.h>
#include <stdarg.h>

#define LIBCURL "libcurl.so.4"

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
#endif

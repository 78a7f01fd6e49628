// libcurl sets its options by variadic calls, which Swift can't make: one typed wrapper for each kind of value.
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

static inline CURLcode snapshot_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode snapshot_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode snapshot_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode snapshot_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode snapshot_curl_set_fields(CURL *easy, struct curl_slist *fields) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
}
static inline CURLcode snapshot_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
  return curl_easy_setopt(easy, option, list);
}
static inline CURLcode snapshot_curl_set_data_function(CURL *easy, CURLoption option, curl_write_callback function) {
  return curl_easy_setopt(easy, option, function);
}
static inline CURLcode snapshot_curl_set_seek_function(CURL *easy, curl_seek_callback function) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}
static inline CURLcode snapshot_curl_set_prerequest_function(CURL *easy, curl_prereq_callback function) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}
static inline CURLcode snapshot_curl_set_socket_function(CURL *easy, curl_sockopt_callback function) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}
// The option that takes names came with 7.85; before it there was a bit for each protocol.
static inline CURLcode snapshot_curl_allow_http_alone(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
static inline CURLMcode snapshot_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

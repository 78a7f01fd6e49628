#ifdef __linux__
#include "forwarding.h"
#include <libpq-fe.h>

#define LIBPQ "libpq.so.5"

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

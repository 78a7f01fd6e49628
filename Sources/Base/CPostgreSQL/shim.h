// libpq, the client library of PostgreSQL.
#pragma once
#include <libpq-fe.h>

// Swift imports no macro with a cast.
static const char snapshot_pq_state = PG_DIAG_SQLSTATE;
static const char snapshot_pq_primary = PG_DIAG_MESSAGE_PRIMARY;
static const char snapshot_pq_constraint = PG_DIAG_CONSTRAINT_NAME;

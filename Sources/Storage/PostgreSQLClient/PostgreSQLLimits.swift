/// The limits of the client.
package enum PostgreSQLLimits {
  /// The maximum number of connections of a pool.
  package static let connections = 64
  /// The maximum number of callers that wait for a connection.
  package static let waiting = 1000
  /// The maximum number of prepared statements of a connection. They are all discarded when it is reached.
  package static let preparedStatements = 256
  /// The maximum number of parameters of a statement: that of PostgreSQL's protocol.
  package static let parameters = 65_535
  /// The maximum size of a parameter or a field in bytes: that of PostgreSQL, less room for its header.
  package static let valueBytes = 1 << 30 - 1 << 10
  /// The maximum number of times that a transaction is executed until it succeeds.
  package static let attempts = 8
  /// The maximum length of a notification's payload in bytes: that of PostgreSQL.
  package static let payloadBytes = 7999
  /// How long a call may wait for a server that does not answer, if a request waits for the call and can succeed without
  /// it.
  package static let promptCall = Duration.milliseconds(1200)
  /// How long a call may wait for a server that does not answer, if a request waits for the call and fails without it.
  package static let requiredCall = Duration.seconds(3)
  /// How long a statement may take if such a call has lasted longer already.
  package static let promptMargin = Duration.milliseconds(250)
  /// The maximum duration of an attempt to connect for such a call. After a call that reached its deadline, the next one
  /// of the same request fails at once, or within this time, so that the request waits for less than two seconds.
  package static let promptConnect = Duration.milliseconds(750)
}

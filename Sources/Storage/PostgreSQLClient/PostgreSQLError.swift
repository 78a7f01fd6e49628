/// The error of a statement or of a connection. No description contains a password.
public enum PostgreSQLError: Error, Sendable, Hashable {
  /// The connection string is not a valid `postgres://` URI, or has an unknown parameter.
  case invalidURI
  /// There is no connection, and none can be made. The statement was not executed.
  case unavailable(String)
  /// Too many callers wait for a connection, or this one waited too long. The statement was not executed.
  case busy
  /// The connection ended. The statement was possibly executed.
  case connectionLost(String)
  /// The statement took longer than its deadline. If it was a `COMMIT`, it was possibly executed.
  case timeout
  /// The transaction was rolled back because of a concurrent one, and can be executed again.
  case serializationFailure
  /// A row with the same key exists.
  case uniqueViolation(constraint: String)
  /// The database was migrated by a newer version of this program, which older versions cannot work with.
  case newerDatabase(name: String, version: Int)
  /// The server rejected the statement, for the reason that `state` stands for (PostgreSQL's appendix A).
  case rejected(state: String, message: String)
  /// A result has another form than expected.
  case unexpectedResult(String)
}

extension PostgreSQLError {
  /// Creates the error for a failure that the server reports.
  init(state: String, message: String, constraint: String) {
    switch state {
    case "40001", "40P01": self = .serializationFailure
    case "23505": self = .uniqueViolation(constraint: constraint)
    // A statement that reaches its time limit, and a lock that is not granted in time.
    case "57014", "55P03": self = .timeout
    default: self = .rejected(state: state, message: message)
    }
  }

  /// Whether the server ends the connection, is starting, or lacks a resource: later the same statement can succeed.
  public var isTemporary: Bool {
    switch self {
    case .unavailable, .busy, .connectionLost, .timeout, .serializationFailure: true
    case .rejected(let state, _): ["08", "53", "57"].contains(state.prefix(2))
    case .invalidURI, .uniqueViolation, .newerDatabase, .unexpectedResult: false
    }
  }
}

extension PostgreSQLError: CustomStringConvertible {
  /// A sentence for the log.
  public var description: String {
    switch self {
    case .invalidURI: "The address of the database is not a valid postgres:// URI."
    case .unavailable(let reason): "The database cannot be reached: \(reason)"
    case .busy: "Too many callers wait for a connection to the database."
    case .connectionLost(let reason): "The connection to the database ended: \(reason)"
    case .timeout: "The database did not answer in time."
    case .serializationFailure: "The transaction was rolled back because of a concurrent one."
    case .uniqueViolation(let constraint): "A row with the same key exists (\(constraint))."
    case .newerDatabase(let name, let version):
      "The tables of \(name) have version \(version), which this version of the program does not know."
    case .rejected(let state, let message): "The database rejected the statement: \(message) (\(state))"
    case .unexpectedResult(let reason): "The database returned an unexpected result: \(reason)"
    }
  }
}

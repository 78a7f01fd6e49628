import CPostgreSQL

/// The address of a database, and how connections to it behave.
public struct PostgreSQLConfiguration: Sendable {
  /// The maximum number of connections, 1 to 64.
  public var connections = 4
  /// The maximum duration of a connection attempt.
  public var connectTimeout = Duration.seconds(5)
  /// The maximum duration of a statement, which the server enforces.
  public var statementTimeout = Duration.seconds(30)
  /// The time after ``statementTimeout`` at which a connection is abandoned if the server does not answer at all.
  public var answerMargin = Duration.seconds(5)
  /// The duration of a call of the pool, from the wait for a connection to the last statement, after which the server has
  /// to answer each statement within ``answerMargin``. Otherwise the connection is abandoned. `nil` for no limit.
  public var callTimeout: Duration?
  /// The maximum time to wait for a connection of the pool.
  public var waitTimeout = Duration.seconds(10)
  /// The shortest and the longest pause after a failed connection attempt, or after a server did not answer. Statements
  /// fail immediately during a pause.
  public var pause = Duration.milliseconds(100)...Duration.seconds(5)
  /// Statements that every connection executes first.
  package var session = ""

  /// The parameters of the connection, by libpq's names.
  let parameters: [String: String]

  /// Creates settings from a URI such as `postgres://user@host:5432/database?sslmode=verify-full`.
  ///
  /// A missing part comes from libpq's environment variables, such as `PGPASSWORD` and `PGPASSFILE`. Throws
  /// ``PostgreSQLError/invalidURI``, which does not contain the text.
  public init(uri: String) throws(PostgreSQLError) {
    guard uri.hasPrefix("postgres://") || uri.hasPrefix("postgresql://"), !uri.utf8.contains(0),
      let options = PQconninfoParse(uri, nil)
    else { throw .invalidURI }
    defer { PQconninfoFree(options) }
    var parameters = [
      "application_name": "snapshot", "keepalives_idle": "30", "keepalives_interval": "10",
      "keepalives_count": "3", "tcp_user_timeout": "30000",
    ]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    // Results are decoded as UTF-8.
    parameters["client_encoding"] = "UTF8"
    self.parameters = parameters
  }

  /// The same database with short deadlines, for calls that a request can succeed without.
  package var prompt: PostgreSQLConfiguration { ending(within: PostgreSQLLimits.promptCall) }

  /// The same database with the deadline of short statements that a request cannot succeed without.
  package var required: PostgreSQLConfiguration { ending(within: PostgreSQLLimits.requiredCall) }

  private func ending(within call: Duration) -> PostgreSQLConfiguration {
    var configuration = self
    configuration.connectTimeout = PostgreSQLLimits.promptConnect
    (configuration.statementTimeout, configuration.callTimeout) = (call, call)
    configuration.answerMargin = PostgreSQLLimits.promptMargin
    return configuration
  }

  /// Replaces the password in `message`, in case that the server or the library repeats it.
  func withoutPassword(_ message: String) -> String {
    guard let password = parameters["password"], !password.isEmpty else { return message }
    return message.replacing(password, with: "…")
  }
}

extension PostgreSQLConfiguration: CustomStringConvertible {
  /// The host, the port and the name of the database, without user and password.
  public var description: String {
    let host = parameters["host"] ?? parameters["hostaddr"] ?? "localhost"
    return "\(host):\(parameters["port"] ?? "5432")/\(parameters["dbname"] ?? "")"
  }
}

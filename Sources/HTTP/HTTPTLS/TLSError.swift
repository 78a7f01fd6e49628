import COpenSSL

/// The reason why a certificate, a key or a setting of TLS can't be used: one sentence for an administrator.
public struct TLSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// Creates an error from its sentence.
  public init(_ description: String) { self.description = description }
}

/// The errors that OpenSSL has recorded for the current thread.
enum OpenSSLErrors {
  /// Removes all. Necessary before each call whose result is judged by `SSL_get_error`.
  static func clear() { ERR_clear_error() }

  /// Removes all, and returns the text of the first one, such as `wrong version number`.
  static func take() -> (text: String, reason: Int32) {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return ("no further information", 0) }
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    return (text, snapshot_ssl_reason(code))
  }
}

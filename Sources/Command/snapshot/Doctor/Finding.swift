/// A result of `snapshot doctor`: what was examined, and what to do if it is wrong.
struct Finding: Sendable, Hashable, Encodable {
  enum Severity: String, Sendable, Encodable {
    case ok
    /// The server works, but something will or can go wrong.
    case warning
    /// The server does not work, loses data, or is open to others.
    case error
  }

  let severity: Severity
  let topic: String
  /// A sentence.
  let text: String
  /// How to correct it, as a sentence; `nil` if nothing is wrong.
  let mend: String?

  static func ok(_ topic: String, _ text: String) -> Finding {
    Finding(severity: .ok, topic: topic, text: text, mend: nil)
  }

  static func warning(_ topic: String, _ text: String, mend: String) -> Finding {
    Finding(severity: .warning, topic: topic, text: text, mend: mend)
  }

  static func error(_ topic: String, _ text: String, mend: String) -> Finding {
    Finding(severity: .error, topic: topic, text: text, mend: mend)
  }
}

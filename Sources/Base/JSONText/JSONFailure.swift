/// An error in a JSON document, and its position.
package struct JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  package enum Reason: Hashable, Sendable {
    /// A byte is not allowed at its position.
    case unexpected
    /// A string contains bytes that are not UTF-8.
    case notUTF8
    /// The document ends early.
    case incomplete
    /// The document is nested deeper than this number of levels.
    case depth(Int)
  }

  /// The kind of error.
  package let reason: Reason
  /// The byte offset of the error.
  package let offset: Int

  init(_ reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The same error in a file in which its position is another one.
  package func moved(to offset: Int) -> JSONFailure { JSONFailure(reason, offset: offset) }

  /// Whether the document is nested too deeply to be read. It may still be valid JSON.
  package var isDepth: Bool { if case .depth = reason { true } else { false } }

  /// The error and its position, without a full stop.
  package var description: String {
    switch reason {
    case .unexpected: "byte \(offset) is unexpected"
    case .notUTF8: "byte \(offset) is not valid UTF-8"
    case .incomplete: "it ends unexpectedly after \(offset) bytes"
    case .depth(let most): "at byte \(offset) it is nested deeper than \(most) levels"
    }
  }
}

/// What is wrong with a JSON document, and where.
package struct JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  package enum Reason: Hashable, Sendable {
    /// A byte has no place where it stands.
    case unexpected
    /// A text holds bytes that are no UTF-8.
    case notUTF8
    /// It ends before it is whole.
    case incomplete
    /// It is nested deeper than so many levels.
    case depth(Int)
  }

  /// What is wrong.
  package let reason: Reason
  /// How many bytes stand before that.
  package let offset: Int

  init(_ reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// Whether it may be JSON, which is only nested too deep to be read.
  package var isDepth: Bool { if case .depth = reason { true } else { false } }

  /// What is wrong and where, without a full stop.
  package var description: String {
    switch reason {
    case .unexpected: "byte \(offset) has no place there"
    case .notUTF8: "byte \(offset) is no UTF-8"
    case .incomplete: "it ends after \(offset) bytes, and is not whole"
    case .depth(let most): "at byte \(offset) it is nested deeper than \(most) levels"
    }
  }
}

/// Why a property list can't be shown as a tree.
package struct PropertyListFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reasons.
  package enum Reason: Sendable, Hashable {
    /// The file has more bytes than the limit.
    case size(Int)
    /// The JSON document would have more values or bytes than the limit.
    case values(Int)
    case bytes(Int)
    /// It is nested deeper than the limit.
    case depth(Int)
    /// The last 32 bytes of a binary property list do not describe the file.
    case trailer
    /// An object is outside the part of the file that contains the objects.
    case reference
    /// A container contains itself.
    case cycle
    /// An object has an unknown type, or one that can't be at its place.
    case type
    /// A text has invalid characters.
    case text
    /// The markup is not that of a property list.
    case markup
    /// The document type declaration declares something.
    case declarations
    /// The text has another encoding than UTF-8.
    case encoding
    /// An entity is not one of the five predefined ones, or not a character.
    case entity
    /// A number, a date or data is malformed.
    case number, date, data
    /// The file ends too early.
    case incomplete
  }

  /// The reason.
  package let reason: Reason
  /// The place in the file, if there is one.
  package let offset: Int?

  init(_ reason: Reason, offset: Int?) { (self.reason, self.offset) = (reason, offset) }

  /// The same reason in a file in which its place is another one.
  package func moved(to offset: Int?) -> PropertyListFailure { PropertyListFailure(reason, offset: offset) }

  package var description: String { (offset.map { "at byte \($0), " } ?? "") + reason.text }
}

extension PropertyListFailure.Reason {
  fileprivate var text: String {
    switch self {
    case .size(let limit): "it has more than \(limit >> 20) MiB"
    case .values(let limit): "it has more than \(limit) values"
    case .bytes(let limit): "its values have more than \(limit >> 20) MiB"
    case .depth(let limit): "it is nested deeper than \(limit) levels"
    case .trailer: "its last 32 bytes do not describe the file"
    case .reference: "an object is outside the file"
    case .cycle: "a container contains itself"
    case .type: "an object has a type that is unknown or not allowed there"
    case .text: "a text has invalid characters"
    case .markup: "the markup is not that of a property list"
    case .declarations: "the document type has declarations, which are not read"
    case .encoding: "the encoding is not UTF-8"
    case .entity: "an entity is unknown"
    case .number: "a number is malformed"
    case .date: "a date is malformed"
    case .data: "data is not base64"
    case .incomplete: "the file ends too early"
    }
  }
}

import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotAPI

/// The fields of a submitted form.
struct FormFields: Sendable {
  /// The maximum size of most forms, in bytes.
  static let limit: Int64 = 16 << 10

  /// Line ends are replaced by this character, because parameters can't contain control characters.
  private static let lineSeparator = "\u{2028}"

  private let fields: QueryParameters

  /// Parses the body of a `POST`, which must be `application/x-www-form-urlencoded`.
  init(_ request: HTTPServerRequest, limit: Int64 = Self.limit) async throws {
    let type = request.headerFields[.contentType]
    let accepted = "application/x-www-form-urlencoded"
    guard type.flatMap(MediaType.init)?.essence == accepted else {
      throw HTTPProblem.unsupportedMediaType(type, accepted: accepted)
    }
    let bytes: [UInt8]
    do {
      bytes = try await request.body.collect(upTo: limit)
    } catch HTTPBodyError.tooLarge {
      throw HTTPProblem.tooLarge(limit: limit)
    }
    var text = String(decoding: bytes, as: UTF8.self)
    let separator = PercentCoding.encode(Self.lineSeparator)
    for escape in ["%0D%0A", "%0d%0a", "%0A", "%0a", "%0D", "%0d"] { text.replace(escape, with: separator) }
    fields = try QueryParameters(form: Array(text.utf8))
  }

  /// The value of `field`, in which line ends are spaces; empty if it is missing.
  subscript(field: PageField) -> String {
    get throws { try value(field, lineEnd: " ") }
  }

  /// Returns the value of `field`, a text of several lines; empty if it is missing.
  func lines(of field: PageField) throws -> String { try value(field, lineEnd: "\n") }

  private func value(_ field: PageField, lineEnd: String) throws -> String {
    (try fields.value(field.rawValue) ?? "").replacing(Self.lineSeparator, with: lineEnd)
  }
}

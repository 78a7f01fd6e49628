import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotAPI

/// The fields of a submitted form.
struct FormFields: Sendable {
  /// The maximum size of a form, in bytes.
  static let limit: Int64 = 16 << 10

  private let fields: QueryParameters

  /// Parses the body of a `POST`, which must be `application/x-www-form-urlencoded`.
  init(_ request: HTTPServerRequest) async throws {
    let type = request.headerFields[.contentType]
    let accepted = "application/x-www-form-urlencoded"
    guard type.flatMap(MediaType.init)?.essence == accepted else {
      throw HTTPProblem.unsupportedMediaType(type, accepted: accepted)
    }
    let bytes: [UInt8]
    do {
      bytes = try await request.body.collect(upTo: Self.limit)
    } catch HTTPBodyError.tooLarge {
      throw HTTPProblem.tooLarge(limit: Self.limit)
    }
    fields = try QueryParameters(form: bytes)
  }

  /// The value of `field`; empty if it is missing.
  subscript(field: PageField) -> String {
    get throws { try fields.value(field.rawValue) ?? "" }
  }
}

import HTTPEngine
import HTTPSemantics
import HTTPTypes

/// What a form of the page sends.
struct PageForm: Sendable {
  /// The most bytes that a form may have.
  static let limit: Int64 = 16 * 1024

  private let fields: [String: String]

  /// Reads the body of a `POST`, which is `application/x-www-form-urlencoded`.
  init(_ request: HTTPServerRequest) async throws {
    let type = request.headerFields[.contentType].flatMap { MediaType($0) }
    guard type?.essence == "application/x-www-form-urlencoded" else {
      throw HTTPProblem(
        .unsupportedMediaType, kind: "unsupported-media-type", title: "This is no form",
        detail: "The page’s forms are sent as application/x-www-form-urlencoded.")
    }
    let bytes = try await request.body.collect(upTo: Self.limit)
    fields = try Dictionary(QueryParameters(form: bytes).pairs.map { ($0.name, $0.value) }) { first, _ in
      first
    }
  }

  /// The value of `name`, the first where there are several; empty where it is not there.
  subscript(name: String) -> String { fields[name] ?? "" }
}

import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotServer
import Testing

/// Sends the requests of a client of the draft to `api`, with `bundle` as its upload.
protocol DraftCalls {
  var api: TestAPI { get }
  var bundle: ZippedSample { get }
}

extension DraftCalls {
  var count: Int { bundle.bytes.count }

  /// How a version of the draft states whether a request completes its upload.
  func says(_ completes: Bool, _ number: Int) -> HTTPFields {
    var fields: HTTPFields = [.uploadDraftInteropVersion: "\(number)"]
    if number < 5 {
      fields[.uploadIncomplete] = completes ? "?0" : "?1"
    } else {
      fields[.uploadComplete] = completes ? "?1" : "?0"
    }
    return fields
  }

  func with(_ fields: HTTPFields, _ more: HTTPFields) -> HTTPFields {
    var all = fields
    for field in more { all[field.name] = field.value }
    return all
  }

  func create(
    _ bytes: some Collection<UInt8>, _ fields: HTTPFields, api: TestAPI? = nil, isChunked: Bool = false
  ) async throws -> TestAPI.Answer {
    try await (api ?? self.api).upload(
      Array(bytes), .put, id: bundle.id, fields: fields, isChunked: isChunked)
  }

  func patch(
    _ path: String, at offset: Int, _ bytes: some Collection<UInt8>, _ fields: HTTPFields
  ) async throws -> TestAPI.Answer {
    let fields = with([.uploadOffset: "\(offset)", .contentType: "application/partial-upload"], fields)
    return try await api.send(.patch, path, fields, body: .pieces(of: Array(bytes)))
  }

  /// Creates an upload with the first bytes of the bundle, and returns its path.
  func open(_ first: Int, _ number: Int = 8, _ more: HTTPFields = [:]) async throws -> String {
    let answer = try await create(bundle.bytes[..<first], with(says(false, number), more))
    #expect(answer.status == 201)
    return try #require(answer.fields[.location])
  }
}

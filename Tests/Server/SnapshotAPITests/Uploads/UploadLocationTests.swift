import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotServer
import Testing

struct UploadLocationTests {
  private let api = TestAPI()
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  /// The `Location` fields sent to a client that uses `authority`, by the IETF draft and by tus.
  private func locations(_ authority: String, _ fields: HTTPFields = [:]) async throws -> [String] {
    var (draft, tus) = (fields, fields)
    draft[.uploadDraftInteropVersion] = "8"
    draft[.uploadComplete] = "?0"
    tus[.tusResumable] = "1.0.0"
    tus[.uploadLength] = "100"
    tus[.uploadMetadata] = "report QlVHLTE="
    let answers = [
      try await api.send(
        .post, "/v1/reports/BUG-1/snapshots", draft, body: .pieces(of: [1]), authority: authority),
      try await api.send(.post, "/v1/uploads", tus, authority: authority),
    ]
    #expect(answers.map(\.status) == [201, 201])
    // The interim response has the same location as the final one.
    #expect(answers[0].interim.first?.fields[.location] == answers[0].fields[.location])
    return answers.compactMap { $0.fields[.location] }
  }

  @Test(arguments: ["127.0.0.1:8080", "[::1]:8080", "localhost:1", "build-server:65535"])
  func `a client that connects directly gets an absolute URL`(authority: String) async throws {
    let locations = try await locations(authority)
    #expect(locations.count == 2)
    for location in locations { #expect(location.hasPrefix("http://\(authority)/v1/uploads/")) }
  }

  @Test(arguments: [
    ("snapshots.example.com:8080", nil), ("snapshots.example.com", nil), ("localhost", nil), ("[::1]", nil),
    ("127.0.0.1:8080", "Forwarded"), ("127.0.0.1:8080", "X-Forwarded-For"),
    ("127.0.0.1:8080", "X-Forwarded-Proto"), ("127.0.0.1:8080", "X-Forwarded-Host"),
    ("127.0.0.1:8080", "Via"),
  ])
  func `a client that may have used a proxy gets a path`(
    authority: String, trace: String?
  ) async throws {
    var fields: HTTPFields = [:]
    if let trace { fields[try #require(HTTPField.Name(trace))] = "x" }
    let locations = try await locations(authority, fields)
    #expect(locations.count == 2)
    for location in locations { #expect(location.hasPrefix("/v1/uploads/")) }
  }
}

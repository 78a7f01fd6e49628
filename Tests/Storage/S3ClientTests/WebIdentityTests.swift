import Foundation
import HTTPClient
import HTTPTypes
import S3Client
import SystemIO
import TestSupport
import Testing

/// Credentials of a role that are exchanged for the token of an identity.
@Suite struct WebIdentityTests {
  private let folder: TemporaryFolder
  private let service = TokenService()
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Data("first/token=\n".utf8), to: "token")
  }

  private func makeSource(_ more: [String: String] = [:]) throws -> CredentialSource {
    let variables = [
      "AWS_WEB_IDENTITY_TOKEN_FILE": folder.path + "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/a",
    ]
    return try .environment(variables.merging(more) { $1 })
  }

  private func credentials(_ source: CredentialSource, after seconds: Double = 0) async throws
    -> S3Credentials
  {
    try await source.credentials(over: service, at: start + seconds)
  }

  @Test func `a token is exchanged for the credentials of a role`() async throws {
    service.answer(200, TokenService.session("one", expiring: "2027-01-15T09:00:00Z"))
    let credentials = try await credentials(
      makeSource(["AWS_ROLE_SESSION_NAME": "me", "AWS_REGION": "eu-west-1"]))
    #expect(credentials == S3Credentials(accessKey: "one", secretKey: "hidden", sessionToken: "session"))
    let (request, body) = try #require(service.requests.first)
    #expect(request.method == .post && request.scheme == "https" && request.path == "/")
    #expect(request.authority == "sts.eu-west-1.amazonaws.com")
    #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    #expect(
      body == "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa&RoleSessionName=me"
        + "&Version=2011-06-15&WebIdentityToken=first%2Ftoken%3D")
  }

  @Test func `another service can be named`() async throws {
    service.answer(200, TokenService.session("one", expiring: "2027-01-15T09:00:00Z"))
    _ = try await credentials(makeSource(["AWS_ENDPOINT_URL_STS": "http://127.0.0.1:4711/sts"]))
    let (request, _) = try #require(service.requests.first)
    #expect(request.scheme == "http" && request.authority == "127.0.0.1:4711" && request.path == "/sts")
  }

  @Test func `credentials are exchanged five minutes before they expire, with the present token`()
    async throws
  {
    let source = try makeSource()
    service.answer(200, TokenService.session("one", expiring: "2027-01-15T09:00:00Z"))
    service.answer(200, TokenService.session("two", expiring: "2027-01-15T10:00:00Z"))
    for seconds in [0, 1, 3299] as [Double] {
      #expect(try await credentials(source, after: seconds).accessKey == "one")
    }
    #expect(service.requests.count == 1)
    try folder.write(Data("second".utf8), to: "token")
    #expect(try await credentials(source, after: 3300).accessKey == "two")
    #expect(service.requests.last?.body.hasSuffix("WebIdentityToken=second") == true)
  }

  @Test func `valid credentials are used while the service fails, and it is asked again after a pause`()
    async throws
  {
    let source = try makeSource()
    service.answer(200, TokenService.session("one", expiring: "2027-01-15T09:00:00Z"))
    _ = try await credentials(source)
    service.answer(503, "")
    service.answer(403, TokenService.error("ExpiredTokenException"))
    service.answer(403, TokenService.error("ExpiredTokenException"))
    for (seconds, requests) in [(3400, 2), (3429, 2), (3430, 3), (3459, 3)] as [(Double, Int)] {
      #expect(try await credentials(source, after: seconds).accessKey == "one")
      #expect(service.requests.count == requests)
    }
    let error = await #expect(throws: S3Error.self) { try await credentials(source, after: 3600) }
    #expect(error?.description.contains("refused with status 403 and ExpiredTokenException") == true)
    service.answer(200, TokenService.session("two", expiring: "2027-01-15T10:00:00Z"))
    #expect(try await credentials(source, after: 3601).accessKey == "two")
  }

  @Test(arguments: [
    "", "<a/>", TokenService.session("", expiring: "2027-01-15T09:00:00Z"),
    TokenService.session("a", expiring: "soon"),
  ])
  func `an answer without complete credentials is an error`(answer: String) async throws {
    service.answer(200, answer)
    await #expect(throws: S3Error.self) { try await credentials(makeSource()) }
  }

  @Test func `a file without a token is an error, and nothing is sent`() async throws {
    let source = try makeSource()
    try folder.write(Data(" \n".utf8), to: "token")
    await #expect(throws: S3Error.self) { try await credentials(source) }
    try FileManager.default.removeItem(atPath: folder.path + "/token")
    await #expect(throws: S3Error.self) { try await credentials(source) }
    #expect(service.requests.isEmpty)
  }

  @Test func `requests at the same time share an exchange`() async throws {
    let source = try makeSource()
    service.answer(200, TokenService.session("one", expiring: "2027-01-15T09:00:00Z"))
    try await withThrowingTaskGroup { group in
      for _ in 0..<16 { group.addTask { try await credentials(source).accessKey } }
      for try await key in group { #expect(key == "one") }
    }
    #expect(service.requests.count == 1)
  }
}

/// A security token service with prepared answers. Without one it answers with 500.
private final class TokenService: Transport {
  private struct State {
    var answers: [(status: Int, body: String)] = []
    var requests: [(request: HTTPRequest, body: String)] = []
  }

  private let state = Lock(State())

  var requests: [(request: HTTPRequest, body: String)] { state.withLock { $0.requests } }

  func answer(_ status: Int, _ body: String) { state.withLock { $0.answers.append((status, body)) } }

  static func session(_ accessKey: String, expiring expiration: String) -> String {
    """
    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>session</SessionToken>
        <SecretAccessKey>hidden</SecretAccessKey><Expiration>\(expiration)</Expiration>
        <AccessKeyId>\(accessKey)</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>
    </AssumeRoleWithWebIdentityResponse>
    """
  }

  static func error(_ code: String) -> String {
    "<ErrorResponse><Error><Type>Sender</Type><Code>\(code)</Code></Error></ErrorResponse>"
  }

  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    let text = if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
    let answer = state.withLock { state in
      state.requests.append((request, text))
      return state.answers.isEmpty ? (500, "") : state.answers.removeFirst()
    }
    return TransportResponse(
      head: HTTPResponse(status: .init(code: answer.0)), body: Data(answer.1.utf8))
  }
}

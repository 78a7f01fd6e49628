import Foundation
import S3Client
import SystemIO
import TestSupport
import Testing

/// Addresses and credentials.
@Suite struct S3ConfigurationTests {
  @Test(arguments: [
    ("https://s3.example.com", "", S3Configuration.Style.path, "https://s3.example.com/tests/a"),
    ("https://s3.example.com:443/", "x", .path, "https://s3.example.com/tests/x/a"),
    ("http://S3.example.com:80", "/x//y/", .virtualHost, "http://tests.S3.example.com/x/y/a"),
    ("http://127.0.0.1:9000", "", .path, "http://127.0.0.1:9000/tests/a"),
    ("http://[::1]:9000", "", .path, "http://[::1]:9000/tests/a"),
  ])
  func `an object has the address that its endpoint, style and prefix demand`(
    endpoint: String, prefix: String, style: S3Configuration.Style, address: String
  ) async throws {
    let configuration = try S3Configuration(
      endpoint: try #require(URL(string: endpoint)), bucket: "tests", prefix: prefix, style: style)
    let credentials = try #require(S3Credentials(accessKey: "access", secretKey: "hidden"))
    let client = S3Client(
      configuration, credentials: .constant(credentials), transport: NoTransport())
    #expect(try await client.presignedURL("a", lifetime: 1).hasPrefix(address + "?X-Amz-Algorithm="))
  }

  @Test(arguments: [
    ("ftp://s3.example.com", "tests", ""), ("https://s3.example.com/path", "tests", ""),
    ("https://user@s3.example.com", "tests", ""), ("https://s3.example.com?a", "tests", ""),
    ("https://s3.example.com", "te", ""), ("https://s3.example.com", "Tests", ""),
    ("https://s3.example.com", "a/b", ""), ("https://s3.example.com", "tests", "a/../b"),
    ("https://s3.example.com", "tests", "a\u{0}"),
  ])
  func `an invalid address is refused`(endpoint: String, bucket: String, prefix: String) throws {
    let endpoint = try #require(URL(string: endpoint))
    #expect(throws: S3Error.self) {
      try S3Configuration(endpoint: endpoint, bucket: bucket, prefix: prefix)
    }
  }

  @Test func `credentials come from the environment`() async throws {
    let source = try CredentialSource.environment([
      "AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "hidden\r\n", "AWS_SESSION_TOKEN": "\"token\"",
    ])
    #expect(
      try await source.present
        == S3Credentials(accessKey: "access", secretKey: "hidden", sessionToken: "token"))
    for variables in [
      ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token"],
      ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn", "AWS_ENDPOINT_URL_STS": "sts"],
      [:], ["AWS_ACCESS_KEY_ID": "access"], ["AWS_SECRET_ACCESS_KEY": "hidden"],
      ["AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "two words"],
      ["AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": ""],
    ] {
      #expect(throws: S3Error.self) { try CredentialSource.environment(variables) }
    }
  }

  @Test func `a file with credentials is read again when it changes`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/credentials"
    let source = try CredentialSource.environment(["AWS_SHARED_CREDENTIALS_FILE": path, "AWS_PROFILE": "b"])
    await #expect(throws: S3Error.self) { try await source.present }
    func write(_ text: String) throws { try folder.write(Data(text.utf8), to: "credentials") }
    try write(
      """
      # A comment
      [a]
      aws_access_key_id = other
      aws_secret_access_key = other
      [ b ]
      aws_access_key_id=one
        aws_secret_access_key = hid/den=\r
      region = eu-central-1
      """)
    #expect(try await source.present == S3Credentials(accessKey: "one", secretKey: "hid/den="))
    try write("[b]\naws_access_key_id = three\n")
    #expect(try await source.present.accessKey == "one")
    try write(
      "\u{FEFF}[b]\r\naws_access_key_id = two\r\naws_secret_access_key = 'x'\r\naws_session_token = y\r\n")
    #expect(try await source.present == S3Credentials(accessKey: "two", secretKey: "x", sessionToken: "y"))
    try FileManager.default.removeItem(atPath: path)
    #expect(try await source.present.accessKey == "two")
  }

  @Test(arguments: [true, false])
  func `a file with credentials that is replaced by one of the same size is read again`(
    isSameFile: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    func write(_ key: String, to name: String) throws {
      try folder.write(
        Data("[default]\naws_access_key_id = \(key)\naws_secret_access_key = x\n".utf8), to: name)
    }
    let path = folder.file("credentials").path
    let source = CredentialSource.file(CredentialsFile(path: path))
    try write("one", to: "credentials")
    #expect(try await source.present.accessKey == "one")
    let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
    let written = try #require(time as? Date)
    if isSameFile {
      try write("two", to: "credentials")
      try FileManager.default.setAttributes([.modificationDate: written + 1], ofItemAtPath: path)
    } else {
      try write("two", to: "other")
      try FileManager.default.setAttributes(
        [.modificationDate: written], ofItemAtPath: folder.file("other").path)
      try Folder.replace(path, with: folder.file("other").path)
    }
    #expect(try await source.present.accessKey == "two")
  }

  @Test func `no description contains a secret`() throws {
    let credentials = try #require(
      S3Credentials(accessKey: "access", secretKey: "hidden1", sessionToken: "hidden2"))
    var dumped = ""
    dump(CredentialSource.constant(credentials), to: &dumped)
    for text in [
      "\(credentials)", String(reflecting: [credentials]), "\(CredentialSource.constant(credentials))",
      dumped,
    ] {
      #expect(text.contains("access") && !text.contains("hidden"))
    }
  }
}

extension CredentialSource {
  fileprivate var present: S3Credentials {
    get async throws { try await credentials(over: NoTransport(), at: Date()) }
  }
}

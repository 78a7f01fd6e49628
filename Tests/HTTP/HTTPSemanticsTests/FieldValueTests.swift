import HTTPSemantics
import HTTPTypes
import Testing

@Suite struct MediaTypeTests {
  @Test func `type, subtype and parameters are parsed`() throws {
    let type = try #require(MediaType("Multipart/Form-Data; Boundary=\"a; b\"; charset=UTF-8"))
    #expect(type.essence == "multipart/form-data")
    #expect(type.parameters == ["boundary": "a; b", "charset": "UTF-8"])
    #expect(MediaType(" application/zip ")?.essence == "application/zip")
    #expect(MediaType("application/zip;")?.essence == "application/zip")
    #expect(MediaType("a/b ; ; c=d")?.parameters == ["c": "d"])
    #expect(MediaType(#"a/b; c="x\"y\\z\w""#)?.parameters == ["c": #"x"y\z\w"#])
  }

  @Test(arguments: [
    "", "zip", "application/", "/zip", "application/zip x", "a/b; c", "a/b; c=", "a/b; c=\"d",
    "a/b; c=d; C=e", "a b/c",
    "a/b; c=\"d\"e", "a/b, c/d",
  ])
  func `malformed types are rejected`(text: String) {
    #expect(MediaType(text) == nil)
  }
}

@Suite struct ContentDispositionTests {
  @Test(arguments: [
    ("a.zip", "attachment; filename=\"a.zip\""),
    ("ü.zip", "attachment; filename=\"_.zip\"; filename*=UTF-8''%C3%BC.zip"),
    ("a\"b\\c", "attachment; filename=\"a_b_c\"; filename*=UTF-8''a%22b%5Cc"),
    (
      "a\r\nSet-Cookie: x",
      "attachment; filename=\"a__Set-Cookie: x\"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x"
    ),
    ("50%.zip", "attachment; filename=\"50_.zip\"; filename*=UTF-8''50%25.zip"),
  ])
  func `a file name can't end the field's quotes`(name: String, expected: String) {
    #expect(ContentDisposition.attachment(name).fieldValue == expected)
  }

  @Test func `written dispositions can be read`() throws {
    for name in ["a.zip", "ü 👩.zip", "a\"b\\c"] {
      let read = try #require(ContentDisposition(parsing: ContentDisposition.attachment(name).fieldValue))
      #expect(read == .attachment(name))
    }
  }

  @Test func `the names in a form are read as browsers send them`() throws {
    let part = try #require(ContentDisposition(parsing: #"form-data; name="file"; filename="C:\a\b.zip""#))
    #expect(part.kind == "form-data")
    #expect(part.name == "file")
    #expect(part.fileName == #"C:\a\b.zip"#)
    #expect(ContentDisposition(parsing: "FORM-DATA;name=x")?.name == "x")
    #expect(ContentDisposition(parsing: "attachment; filename=a; filename*=utf-8'de'%C3%BC")?.fileName == "ü")
    #expect(ContentDisposition(parsing: "attachment; filename=a; filename*=utf-8''%zz")?.fileName == "a")
    #expect(ContentDisposition(parsing: "attachment; filename=a; filename*=utf-8''%00")?.fileName == "a")
  }

  @Test(arguments: ["", "form-data; name", "form-data; name=\"a", "form-data; name=a; name=b", "; name=a"])
  func `malformed dispositions are rejected`(text: String) {
    #expect(ContentDisposition(parsing: text) == nil)
  }
}

@Suite struct DigestFieldTests {
  private static let digest = [UInt8](0..<32)
  private static let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

  @Test(arguments: [
    "sha-256=:\(base64):", "md5=:AAAA:, sha-256=:\(base64):", "sha-256=:\(base64):;note=1, sha-512=:AA==:",
    "sha-256=:AAAA:, sha-256=:\(base64):",
  ])
  func `the SHA-256 is found among other digests`(text: String) throws {
    #expect(try DigestField(.reprDigest, in: [.reprDigest: text])?.sha256 == Self.digest)
  }

  @Test func `several fields are one dictionary`() throws {
    var fields: HTTPFields = [:]
    fields[values: .contentDigest] = ["md5=:AAAA:", "sha-256=:\(Self.base64):"]
    #expect(try DigestField(.contentDigest, in: fields)?.sha256 == Self.digest)
    #expect(try DigestField(.reprDigest, in: fields) == nil)
  }

  @Test func `a field with only unknown algorithms has no digest`() throws {
    let field = try #require(try DigestField(.reprDigest, in: [.reprDigest: "sha-512=:AA==:, unixsum=\"x\""]))
    #expect(field.sha256 == nil)
  }

  @Test(arguments: [
    "sha-256", "sha-256=\(base64)", "sha-256=\"\(base64)\"", "sha-256=:AAAA:", "sha-256=:\(base64)",
    "sha-256=::",
    "SHA-256=:\(base64):", "=", "sha-256=:!!!!:", "sha-256=(:\(base64):)", "sha-256=1",
    "sha-256=:\(base64):, ",
  ])
  func `the error for a malformed field contains its name`(text: String) {
    let refusal = #expect(throws: DigestField.Malformed.self) {
      try DigestField(.reprDigest, in: [.reprDigest: text])
    }
    #expect(refusal?.description.contains("Repr-Digest") == true)
  }

  @Test func `a written digest can be read`() throws {
    #expect(DigestField(sha256: Self.digest).fieldValue == "sha-256=:\(Self.base64):")
  }

  @Test(arguments: [
    (nil, true), ("sha-256=1", true), ("sha-512=3, sha-256=10", true), ("sha-256=0", false),
    ("sha-512=3", true),
    ("garbage=", true), ("sha-256=0, sha-512=5", false),
  ])
  func `a digest is sent unless it is declined`(preference: String?, expected: Bool) {
    var fields: HTTPFields = [:]
    fields[.wantReprDigest] = preference
    #expect(DigestField.isWanted(by: fields) == expected)
  }
}

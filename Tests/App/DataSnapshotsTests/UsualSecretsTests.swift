import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

/// The values that the preset redacts, and those that it does not.
struct UsualSecretsTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  private func stored(_ text: String, _ rules: [RedactionRule]) async throws -> String {
    var app = app
    app.configuration.redaction = rules
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process(text, "a")
    await mode.flush()
    let file = try Data(contentsOf: app.storage.appending(path: "recordings/a"))
    return String(decoding: file, as: UTF8.self).withUniformPlaceholders
  }

  @Test(arguments: [
    ("4111111111111111", true), ("4111 1111 1111 1111", true), ("4111-1111-1111-1111", true),
    ("4111111111111112", false), ("5555555555554444", true), ("2223003122003222", true),
    ("378282246310005", true), ("3782 822463 10005", true), ("6011111111111117", true),
    ("30569309025904", true), ("3530111333300000", true), ("41111111111111110", false),
    ("1700000000123", false), ("0000000000000000", false), ("4111  1111 1111 1111", false),
    ("1111111111111111", false), ("4222222222222", true), ("123 4111111111111111", true),
    // 17 to 19 digits.
    ("50181234123412349", true), ("630412341234123457", true), ("6759 1234 1234 1234 569", true),
    ("4000000000000001236", true), ("30123412341234124", true), ("361234123412341236", true),
    ("6011123412341234565", true), ("3530-1234-1234-1234-567", true), ("411111111111111118", false),
    ("67591234123412345676", false), ("50181234123412340", false),
  ])
  func `card numbers are removed, and other numbers remain`(text: String, isCard: Bool) async throws {
    let left = try await stored("n \(text).", [.cardNumbers])
    #expect(left.contains("[redacted]") == isCard, "\(left)")
    if !isCard { #expect(left == "n \(text).") }
  }

  @Test(arguments: [
    ("a anna@example.com b", "a [redacted] b"), ("<a.b+c@x-y.co.uk>.", "<[redacted]>."),
    ("to=ann%40example.com&x", "to=[redacted]&x"), ("ünal@bücher.example", "[redacted]"),
    ("a @home b", "a @home b"), ("user@host", "user@host"), ("@1.2.3", "@1.2.3"),
    ("icon@2x.png", "icon@2x.png"),
    ("x@.com", "x@.com"), ("", ""), ("@", "@"), ("a@b.c.", "a@b.c."),
  ])
  func `e-mail addresses are removed, and other uses of the sign remain`(before: String, after: String)
    async throws
  {
    #expect(try await stored(before, [.emailAddresses]) == after)
  }

  @Test(arguments: [
    ("Authorization: Digest a=b, c\r\nHost: x", "Authorization: [redacted]\r\nHost: x"),
    ("curl -H 'x' bearer abc.def-_~+/== z", "curl -H 'x' bearer [redacted] z"),
    ("Basic YTpi, Basic training", "Basic [redacted], Basic training"),
    ("forbearer x", "forbearer x"), ("bearer", "bearer"),
    ("a=Bearer%20abc.def&b=c", "a=Bearer%20[redacted]&b=c"), ("a=bearer+abc&b", "a=bearer+[redacted]&b"),
    ("a=Bearer%20ab%2Bc%2f%3D&b", "a=Bearer%20[redacted]&b"), ("Bearer%20a%20b", "Bearer%20[redacted]%20b"),
    ("a=Basic%20YTpi%3d%3D&b", "a=Basic%20[redacted]&b"), ("Basic%20training", "Basic%20training"),
    ("Bearer%21abc", "Bearer%21abc"), ("Bearerabc", "Bearerabc"), ("Bearer%20", "Bearer%20"),
  ])
  func `credentials are removed`(before: String, after: String) async throws {
    #expect(try await stored(before, [.authorization]) == after)
    #expect(try await stored(#"{"proxy-authorization":["x"],"a":1}"#, [.authorization]).contains("[]"))
  }

  @Test(arguments: [
    ("?access_token=a.b&page=2", "?access_token=[redacted]&page=2"), ("pageToken=x", "pageToken=x"),
    ("\"password\" : \"x y\" z", "\"password\" : \"[redacted]\" z"), ("pwd='x\\'y' z", "pwd='[redacted]' z"),
    ("password=", "password="), ("tokens: 5", "tokens: 5"), ("X-Api-Key: k", "X-Api-Key: [redacted]"),
    ("eyJhbGciOiJIUzI1NiJ9.e30.sig z", "[redacted] z"), ("eyJust a word", "eyJust a word"),
    ("client_secret:s,next=1", "client_secret:[redacted],next=1"),
  ])
  func `tokens and passwords are removed`(before: String, after: String) async throws {
    #expect(try await stored(before, [.tokens]) == after)
  }

  @Test func `cookies are removed`() async throws {
    #expect(
      try await stored("Set-Cookie: a=b; Path=/\r\nAge: 1", [.cookies]) == "Set-Cookie: [redacted]\r\nAge: 1")
    #expect(try await stored(#"{"Cookie":"a=b"}"#, [.cookies]) == #"{"Cookie":"[redacted]"}"#)
  }

  @Test(arguments: [
    ("call +43 660 1234567 now", "call [redacted] now"), ("+1 (555) 010-9999.", "[redacted]."),
    ("+4366012", "+4366012"),
    ("+43660123456789012", "+43660123456789012"), ("1+12345678", "1+12345678"), ("+12345678", "[redacted]"),
    ("id 550e8400-e29b-41d4-a716-446655440000.", "id [redacted]."),
    ("550E8400-E29B-41D4-A716-446655440000", "[redacted]"),
    ("550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544000"),
    ("550e8400-e29b-41d4-a716-44665544000ff", "550e8400-e29b-41d4-a716-44665544000ff"),
  ])
  func `phone numbers and UUIDs are removed if a team wants it`(before: String, after: String) async throws {
    #expect(try await stored(before, [.phoneNumbers, .uuids]) == after)
    #expect(try await stored(before, .usualSecrets) == before)
  }

  @Test func `data without secrets is unchanged`() async throws {
    let text = #"""
      {"title":"Basics: a token of love", "items":[1,2.50,-3e4,true,null],"nextPageToken":"abc","time":1700000000123,
       "url":"https:\/\/example.com\/a?page=2","description":"\u00fcber 12:30","id":"550e8400-e29b-41d4-a716-446655440000"}
      """#
    #expect(try await stored(text, .usualSecrets) == text)
    #expect(app.events.all.isEmpty)
  }
}

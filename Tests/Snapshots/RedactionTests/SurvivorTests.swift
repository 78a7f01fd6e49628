import Foundation
import Redaction
import Testing

/// Names and values that only look like secrets. They remain, because a replay needs them.
struct SurvivorTests {
  private static let names = """
    tokenizer tokenized tokens tokenCount tokenType token_type tokenExpiry tokenLimit maxTokens pageToken nextPageToken
    continuationToken syncToken cursorToken passwordless passwordHint passwordResetEnabled passwordChangedAt
    passwordPolicy author authors authority authenticated authentication authMethod authenticationMode coauthor oauth2
    secretary secretariat secretsCount pinned pinboard pinnedAt pins spin opinion pinyin ping pinch shopping mapping
    keyboard keynote keyword keywords monkey turkey key keys keyName primaryKey foreignKey publicKey publicKeyId
    sortKey cacheKey partitionKey accessKeyId keyPath session sessions sessionCount sessionLength sessionDate
    sessionTitle obsession cookieBanner cookiesAccepted cookieConsent cookiePolicy bearing bearer basic basics
    credits creditBalance credible accreditation cvcHint hotpot topic optional option otpEnabled jwtIssuer jwks
    csrfProtection apiVersion apiKeyName apiKeys api apiURL passport passenger passengers passage compass password2Rules
    signature signedIn signal significant sighting sign assigned design sidebar side inside beside residence
    identifier identity id ids uuid guid userId accountId orderId deviceId requestId traceId correlationId
    name title body text description summary label caption message note comment subject content type kind
    price amount total currency tax discount quantity balance phone phoneNumber mobile fax street city zip country
    date time createdAt updatedAt timestamp duration expires expiresIn expiresAt maxAge ttl version build
    url href link image avatar icon color width height size count offset limit page cursor next previous
    latitude longitude altitude speed language locale region timezone status state code error reason
    scope grantType responseType redirectUri clientId audience issuer nonce algorithm method
    """.split { $0.isWhitespace }.map(String.init)

  private static let values = [
    "2026-11-26", "2026-11-26T12:34:56Z", "2026-11-26T12:34:56.789+01:00", "12:34:56",
    "Thu, 26 Nov 2026 22:19:47 GMT",
    "550e8400-e29b-41d4-a716-446655440000", "a1b2c3d4-e5f6-4a1b-4111-111111111111",
    "550E8400E29B41D4A716446655440000", "EUR 1,234.50", "$19.99",
    "1.234,50 €",
    "+43 660 1234567", "(555) 010-9999", "0660/1234567", "192.168.0.1", "fe80::1ff:fe23:4567:890a",
    "1700000000123",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "d41d8cd98f00b204e9800998ecf8427e",
    "1.2.3-beta.4",
    "#ff8800", "https://example.com/a/b?page=2&sort=name#top", "https://example.com:8443/",
    "file:///tmp/a b.txt",
    "a=b", "x > y && y < z", "<3", "a <b c", "100 %", "50%25 of", "C:\\\\Users\\\\ann", "\\\\d+[a-z]", "{}",
    "[]", "[INFO] x", "{0} of {1}",
    "internationalization", "antidisestablishmentarianism", "com.example.app.Feature",
    "snake_case_identifier_name",
    "path/to/some/deeply/nested/file.swift", "image/svg+xml;charset=utf-8", "basic training",
    "the token of love", "password reset", "Session 12: Keys", "user@host", "@handle", "icon@2x.png",
    "mailto:",
    "SK", "sk-learn", "AIza", "AKIA", "ghp_short", "eyJust a word", "1111 2222 3333 4444",
    "4111 1111 1111 1112",
    "aGVsbG8gd29ybGQ=", "SGVsbG8sIFdvcmxkIQ", "data:image/gif;base64,R0lGODlhAQABAAAAACw=", "日本語のテキスト",
    "Grüße aus Köln",
  ]

  private func isKept(_ text: String) throws -> Bool {
    try Redactor(rules: .usualSecrets).redact(Data(text.utf8), as: "a") == Data(text.utf8)
  }

  @Test func `there are many`() { #expect(Set(Self.names).count + Self.values.count >= 250) }

  @Test(arguments: names) func `a name that looks like that of a secret keeps its value`(name: String) throws
  {
    #expect(try isKept(#"{"\#(name)":"kept","list":[{"name":"\#(name)","value":"kept"}]}"#))
    #expect(try isKept("a=1&\(name)=kept&b=2"))
    #expect(try isKept("12:00 \(name): kept, \(name) = 'kept'"))
    #expect(try isKept("<a><\(name)>kept</\(name)><b \(name)=\"kept\"/></a>"))
  }

  @Test(arguments: values) func `a value that looks like a secret is kept`(value: String) throws {
    #expect(try isKept(#"{"a":"\#(value)","b":["\#(value)"]}"#))
    #expect(try isKept(value))
    #expect(try isKept("12:00 note \(value) end"))
  }
}

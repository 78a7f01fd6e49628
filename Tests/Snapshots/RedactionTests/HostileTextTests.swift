import Foundation
import Redaction
import Testing

/// Texts whose parts begin many documents that do not end. Each byte is read a limited number of times: a cost that grows
/// with the square of the length would take these tests minutes.
struct HostileTextTests {
  private static let length = 20_000

  @Test(arguments: [
    "a", "QUJD", "[", "[[]", "{\"", "{\"a\":", "{\\\"", "<a ", "<a \"", "<a '", "<a>", "<!--", "<![CDATA[",
    "<?", "&amp;", "&#",
    "%25", "%", "token=", "token=\"", "token:{", "token:[\n", "token:(\n", "a:", "a@b.c", "4", "4111 ",
    "-----BEGIN ", "-----",
    "-----BEGIN PRIVATE KEY-----", "data: {\"a\":\n", "data:\n", "bearer ", "basic QTpi ", "eyJ.",
    "https://a:b@", "://",
    "/QUJDREVGR0hJSktM", "ghp_", "--b\r\n", "{\"pin\":1}\n", "<key>pin</key>", "\\", "\"", "\n", "?pin=",
  ])
  func `a repeated beginning is read in linear time`(part: String) throws {
    let text = Data(String(repeating: part, count: Self.length / part.utf8.count).utf8)
    do throws(Redactor.Failure) {
      _ = try Redactor(rules: .usualSecrets).redact(text, as: "a")
      _ = try Redactor(rules: .usualSecrets).redact(Data("{\"a\":\"".utf8) + text, as: "a")
    } catch {
      #expect(error.limit == .tooDeep)
    }
  }

  @Test func `a long value is read in linear time`() throws {
    let json = Data(#"{"a":"\#(String(repeating: "a", count: 100_000))","pin":"x"}"#.utf8)
    let left = try Redactor(rules: .usualSecrets).redact(json, as: "a")
    #expect(left.count == json.count - 1 + RedactionRule.mark.utf8.count)
  }

  @Test func `base64 of binary data in many lines is read in linear time, and a secret after it is found`()
    throws
  {
    var state: UInt32 = 1
    let binary = Data(
      (0..<57 * 2600).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(state >> 24)
      })
    let lines = binary.base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
    let secret = Data("password=hunter2hunter2".utf8).base64EncodedString()
    let left = try Redactor(rules: .usualSecrets).redact(Data("\(lines)\n\(secret)".utf8), as: "a")
    let text = String(decoding: left, as: UTF8.self)
    #expect(text.hasPrefix(lines))
    #expect(!text.contains(secret))
  }

  @Test func `a regular expression that takes exponential time is given up, and its text is refused`()
    throws
  {
    let redactor = Redactor(rules: [try .matching("(?:x+)+y", named: "own")])
    let text = String(repeating: "x", count: 60)
    let failure = #expect(throws: Redactor.Failure.self) { try redactor.redact(Data(text.utf8), as: "a") }
    #expect(failure?.limit == .tooSlow)
    #expect(redactor.redact(identifier: text) == RedactionRule.mark)
    #expect(try redactor.redact(Data("a xxy b".utf8), as: "a") == Data("a [redacted] b".utf8))
  }

  @Test(arguments: [
    "-----BEGIN -----BEGIN PRIVATE KEY-----", "-----BEGIN x-----", "eyJ", "=", ":", "%", "<", "data:", "--",
  ])
  func `short beginnings are read`(text: String) throws {
    _ = try Redactor(rules: .usualSecrets).redact(Data(text.utf8), as: "a")
  }
}

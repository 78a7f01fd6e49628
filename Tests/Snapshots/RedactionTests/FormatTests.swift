import Foundation
import Redaction
import Testing

/// The formats in which secrets are found. All other bytes remain the same.
struct FormatTests {
  private func redacted(_ text: String, _ rules: [RedactionRule] = .usualSecrets) throws -> String {
    String(decoding: try Redactor(rules: rules).redact(Data(text.utf8), as: "a"), as: UTF8.self)
  }

  @Test(arguments: [
    (#"{"a":"{\"token\":\"abc\"}"}"#, #"{"a":"{\"token\":\"[redacted]\"}"}"#),
    (
      #"{"a":"{\"b\":\"{\\\"token\\\":\\\"abc\\\"}\"}"}"#,
      #"{"a":"{\"b\":\"{\\\"token\\\":\\\"[redacted]\\\"}\"}"}"#
    ),
    (#"{"name":"Authorization","value":"abc"}"#, #"{"name":"Authorization","value":"[redacted]"}"#),
    (#"{"value":5,"key":"pin"}"#, #"{"value":0,"key":"pin"}"#),
    (#"{"k":"token","v":{"stringValue":"abc"}}"#, #"{"k":"token","v":{}}"#),
    (#"{"name":"title","value":"abc"}"#, #"{"name":"title","value":"abc"}"#),
    (#"[["Authorization","abc"],["Accept","b"]]"#, #"[["Authorization","[redacted]"],["Accept","b"]]"#),
    (#"["token","abc"]"#, #"["token","abc"]"#),
    (#"{"http.request.header.cookie":["abc"]}"#, #"{"http.request.header.cookie":[]}"#),
    (#"{"password":{"a":[1,"abc"]},"b":1}"#, #"{"password":{},"b":1}"#),
    ("{\"token\":1}\n{\"token\":\"a\"}\n", "{\"token\":0}\n{\"token\":\"[redacted]\"}\n"),
  ])
  func `values of secret names are removed from JSON`(before: String, after: String) throws {
    #expect(try redacted(before) == after)
    #expect(try redacted(after) == after)
  }
}

import Foundation
import Testing

@testable import SnapshotDiff

@Suite struct JSONDocumentTests {
  private func document(_ text: String, _ limits: ComparisonLimits = .default) throws -> JSONDocument {
    try JSONDocument(Array(text.utf8), limits: limits)
  }

  private func hash(_ text: String) throws -> Int {
    try #require(try document(text).nodes.dropFirst().first).hash
  }

  @Test(arguments: [
    "{}", "[]", " [ ] ", "0", "-0", "1.5e+3", "\"\"", "\"\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "true",
    "false",
    "null", "\u{FEFF}[1]", "{\"a\":{\"b\":[1,2,{}]},\"c\":null}", "\n[\t1\r,2 ]\n", "\"é☃😀\"", "[[[[]]]]",
    "\"\\ud800\"",
  ])
  func `valid JSON is parsed`(text: String) throws {
    #expect(throws: Never.self) { try document(text) }
  }

  @Test(arguments: [
    "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
    "{\"a\" 1}", "{1:1}", "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "NaN", "tru", "True", "\"",
    "\"\\\"",
    "\"\\x\"", "\"\\u12g4\"", "\"\\u12", "\"a\nb\"", "[1]]", "1 2", "{} 1", "'a'", "[1}", "{\"a\":1]",
    "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":1}", "// c\n1", "1\u{FEFF}", "[\"a\":1]", "{\"a\":[1,2}", ":",
    ",",
    "{,}", "[\u{0}]", "nulls",
  ])
  func `text that is not JSON or repeats a key is rejected`(text: String) {
    #expect(throws: JSONDocument.Failure.malformed) { try document(text) }
  }

  @Test func `bytes that are not UTF-8 are rejected`() {
    #expect(throws: JSONDocument.Failure.malformed) {
      try JSONDocument([0x22, 0xFF, 0x22], limits: .default)
    }
  }

  @Test func `the parser accepts the same documents as Foundation`() throws {
    var random = SystemRandomNumberGenerator()
    let tokens = ["{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "-2.5", "null", "true", " "]
    var taken = 0
    for _ in 0..<10_000 {
      let text = (0..<Int.random(in: 1...7, using: &random))
        .map { _ in tokens.randomElement(using: &random) ?? "" }.joined()
      let isJSON =
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
      let read = try? document(text)
      // Foundation does not accept several values in a row.
      let isRead = read.map { !$0.isSequence } ?? false
      // Foundation accepts a trailing comma and repeated keys.
      let isStrict =
        text.ranges(of: "\"a\"").count < 2 && text.ranges(of: "\"b\"").count < 2
        && !text.contains(/,\s*[\]}]/)
      if isRead != isJSON, isStrict { Issue.record("\(text): \(isRead)") }
      if isRead { taken += 1 }
    }
    #expect(taken > 100)
  }

  @Test(arguments: [
    ("1", "1.0"), ("100", "1e2"), ("1e2", "1E+02"), ("0.5", "5e-1"), ("-0", "0"), ("0.0", "0e9"),
    ("{\"a\":1,\"b\":2}", "{ \"b\" : 2, \"a\" : 1 }"), ("\"é\"", "\"\\u00e9\""), ("\"/\"", "\"\\/\""),
    ("1e1099511627775", "10e1099511627774"), ("0e-9223372036854775808", "0"),
    ("\"😀\"", "\"\\ud83d\\uDE00\""), ("[ ]", "[]"), ("{\"\\u0061\":1}", "{\"a\":1}"), ("1.50", "15e-1"),
  ])
  func `documents with the same meaning are equal`(first: String, second: String) throws {
    #expect(try hash(first) == hash(second))
  }

  @Test(arguments: [
    ("1", "2"), ("1", "\"1\""), ("9007199254740993", "9007199254740992"), ("0.1", "0.10000000000000001"),
    ("1", "-1"), ("[]", "{}"), ("[1,2]", "[2,1]"), ("null", "false"), ("\"\"", "null"), ("[[]]", "[]"),
    ("{\"a\":1}", "{\"a\":1,\"b\":1}"), ("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"), ("\"a\"", "\"A\""),
    ("\"e\\u0301\"", "\"é\""), ("1e9999", "1e9998"), ("1e99999999999999999999", "1e99999999999999999998"),
    ("1e-9223372036854775808", "1e-9223372036854775807"),
    ("1e9223372036854775807", "1e-9223372036854775808"), ("1e1099511627776", "1e1099511627775"),
    ("\"\\ud800\"", "\"\\ud801\""), ("[1,[2]]", "[[1],2]"), ("true", "false"),
  ])
  func `documents with different meanings differ`(first: String, second: String) throws {
    #expect(try hash(first) != hash(second))
  }

  @Test func `the nesting depth and the number of values are limited`() throws {
    var limits = ComparisonLimits()
    limits.depth = 10
    limits.values = 100
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try document(nested(10), limits) }
    #expect(throws: JSONDocument.Failure.tooComplex) { try document(nested(11), limits) }
    func list(_ count: Int) -> String {
      "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"
    }
    #expect(throws: Never.self) { try document(list(99), limits) }
    #expect(throws: JSONDocument.Failure.tooComplex) { try document(list(100), limits) }
    #expect(throws: JSONDocument.Failure.tooComplex) { try document(nested(1_000_000)) }
    #expect(throws: JSONDocument.Failure.tooComplex) {
      try document(String(repeating: "{\"a\":", count: 1_000_000))
    }
  }
}

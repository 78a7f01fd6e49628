import Foundation
import SnapshotFormat
import Testing

@Suite struct ContentExaminerTests {
  /// The state of contents that arrive in pieces of this length.
  private func state(_ bytes: [UInt8], expectsJSON: Bool = false, piece: Int = .max) -> ContentState {
    var examiner = ContentExaminer(expectsJSON: expectsJSON)
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, piece == .max ? .max : start + piece)
      examiner.take(Array(bytes[start..<end]))
      start = end
    }
    return examiner.finish()
  }

  private func state(_ text: String, expectsJSON: Bool = false, piece: Int = .max) -> ContentState {
    state(Array(text.utf8), expectsJSON: expectsJSON, piece: piece)
  }

  private static let samples: [(text: String, kind: ContentState.Kind, problem: RecordingProblem?)] = [
    (#"{"a":[1,2,{"b":null}]}"#, .json, nil),
    (" [1,2,3] ", .json, nil),
    ("\u{FEFF}{}", .json, nil),
    ("{\"a\":1}\n{\"a\":2}\n", .jsonLines, nil),
    (#"{"feed": tru}"#, .json, .invalidJSON(line: 1, column: 13)),
    ("{\n  \"größe\": 1,,\n}", .json, .invalidJSON(line: 2, column: 14)),
    (#"{"a":[1,2"#, .json, .cutOff(bytes: 9)),
    (#"{"a":"\#(String(repeating: "é", count: 4000))"#, .json, .cutOff(bytes: 8006)),
    ("{\"a\":\"\(String(repeating: "x", count: 9000))\"\n,!", .json, .invalidJSON(line: 2, column: 2)),
    ("{\"a\":\"\(String(repeating: "x", count: 5000))\0\0\"}", .json, .invalidJSON(line: 1, column: 5007)),
    ("[2026-11-27 10:00] Started", .text, nil),
    (String(repeating: "a line\n", count: 700) + String(repeating: "\0", count: 5000), .text, nil),
    ("[INFO] Started", .text, nil),
    ("Hello", .text, nil),
    ("", .empty, .empty),
    ("\0\u{1}\u{2}\u{3}", .binary, nil),
    ("<!DOCTYPE html><html><title>502 Bad Gateway</title>", .html, .errorPage(status: 502)),
    ("<HTML><body><h1 class=x>Service Unavailable</h1>", .html, .errorPage(status: nil)),
    ("<html><title>404 ways to cook</title></html>", .html, .errorPage(status: 404)),
    ("<html><title>Recipes</title><h1>Soup</h1></html>", .html, nil),
    (
      "<html><style>\(String(repeating: " ", count: 9000))</style><h1>Forbidden</h1>", .html,
      .errorPage(status: nil)
    ),
    ("<?xml version=\"1.0\"?><feed/>", .xml, nil),
    ("<?xml version=\"1.0\"?><!DOCTYPE plist><plist version=\"1.0\"/>", .propertyList, nil),
    ("bplist00", .propertyList, nil),
    ("GIF89a", .image, nil),
    (String(repeating: "[", count: 600) + String(repeating: "]", count: 600), .json, nil),
  ]

  @Test func `kinds and problems of contents are found`() {
    for sample in Self.samples {
      let found = state(sample.text)
      #expect(found.kind == sample.kind, "\(sample.text.prefix(80))")
      #expect(found.problem == sample.problem, "\(sample.text.prefix(80))")
    }
  }

  @Test func `pieces of any size give the same state`() {
    for sample in Self.samples {
      let whole = state(sample.text)
      for piece in [1, 2, 3, 7, 4095, 4096, 4097] {
        #expect(state(sample.text, piece: piece) == whole, "\(sample.text.prefix(80)) in pieces of \(piece)")
      }
    }
  }

  @Test func `what is meant to be JSON is judged as JSON whatever it begins with`() {
    #expect(state("Service Unavailable", expectsJSON: true).problem == .invalidJSON(line: 1, column: 1))
    #expect(state("[INFO] Started", expectsJSON: true).problem == .invalidJSON(line: 1, column: 2))
    #expect(state("\"text\"", expectsJSON: true) == ContentState(.json))
    #expect(state("<html><title>Oops: error</title>", expectsJSON: true).problem == .errorPage(status: nil))
    #expect(state([0, 1, 2, 3], expectsJSON: true).problem == nil)
  }

  @Test(arguments: [
    ("a.json", true), ("news/A.JSON", true), ("events.jsonl", true), ("a.ndjson", true),
    ("map.geojson", true),
    ("trace.har", true), ("json", false), ("a.json.gz", false), ("a.", false), ("", false), ("feed", false),
  ])
  func `names of JSON are known by their extensions`(name: String, isJSON: Bool) {
    #expect(ContentExaminer.isNamedAsJSON(name) == isJSON)
  }

  @Test func `bytes that are not UTF-8 are a problem of JSON`() {
    #expect(state(Array("{\"a\":\"".utf8) + [0xFF, 0x22, 0x7D]).problem == .invalidJSON(line: 1, column: 7))
  }

  @Test func `text in UTF-16 has no problem`() {
    #expect(state([0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00]) == ContentState(.text))
  }

  @Test func `redacted places are counted across pieces`() {
    let text = #"{"a":"[redacted]","b":"[redacted-0F1E2D3C]","c":"[[redacted","d":"redacted]"}"#
    for piece in 1...text.utf8.count { #expect(state(text, piece: piece).redactedPlaces == 3) }
  }

  @Test func `an exchange tells its own problem, and whether nothing is expected`() throws {
    func recording(
      _ status: Int?, method: String = "GET", type: String? = nil, _ failure: Manifest.Exchange.Failure? = nil
    ) -> Manifest.Recording {
      var recording = Manifest.Recording(
        identifier: "a", path: "recordings/a", size: 0, sha256: .of(Data()), recordedAt: SampleSnapshot.time)
      recording.exchange = Manifest.Exchange(
        request: .init(method: method, url: "https://example.com/"),
        response: status.map { .init(status: $0, fields: type.map { [.init("Content-Type", $0)] } ?? []) },
        failure: failure, startedAt: SampleSnapshot.time)
      return recording
    }
    let empty = ContentState(.empty, problem: .empty)
    #expect(recording(200).problem(with: empty) == .empty)
    #expect(recording(399).problem(with: empty) == nil)
    #expect(recording(400).problem(with: empty) == .status(400))
    #expect(recording(204).problem(with: empty) == nil)
    #expect(recording(200, method: "HEAD").problem(with: empty) == nil)
    let failed = recording(nil, .init(domain: "NSURLErrorDomain", code: -1001)).problem(with: nil)
    #expect(failed == .failed("timed out"))
    #expect(recording(200, type: "application/json; charset=utf-8").isMeantAsJSON)
    #expect(recording(200, type: "application/problem+json").isMeantAsJSON)
    #expect(!recording(200, type: "text/html").isMeantAsJSON)
  }

  @Test func `a full check counts recordings with problems and what was not recorded`() throws {
    var sample = try SampleSnapshot([
      "good": Data("{}".utf8), "empty": Data(), "broken": Data("{,".utf8), "b.json": Data("down".utf8),
      "page": Data("<html><title>502</title>".utf8), "failed": Data("{,".utf8), "none": Data(),
    ])
    for index in sample.manifest.recordings.indices {
      let status = ["failed": 500, "none": 204][sample.manifest.recordings[index].identifier]
      guard let status else { continue }
      sample.manifest.recordings[index].exchange = Manifest.Exchange(
        request: .init(method: "GET", url: "https://example.com/"), response: .init(status: status),
        startedAt: SampleSnapshot.time)
    }
    sample.manifest.dropped = [.init(identifier: "large", reason: .tooLarge, count: 1, bytes: 1 << 30)]
    try sample.writeManifest()
    _ = try sample.zipUnchecked()
    #expect(try SnapshotBundle.check(zip: sample.zip, depth: .full).problemCount == 6)
    #expect(try SnapshotBundle.check(zip: sample.zip, depth: .structure).problemCount == nil)
    var check = try BundleCheck(zip: sample.zip, depth: .full)
    while try check.advance(by: 1) {}
    #expect(check.summary.problemCount == 6)
  }
}

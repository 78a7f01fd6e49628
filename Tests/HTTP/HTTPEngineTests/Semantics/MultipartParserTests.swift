import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO
import Testing

/// All events of a parser for a form, with the data concatenated.
private struct Form: Equatable {
  var names: [String] = []
  var values: [[UInt8]] = []
  var ended = 0
}

/// A generator of the same random numbers in every run.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

@Suite struct MultipartParserTests {
  private func parse(
    _ pieces: [ArraySlice<UInt8>], boundary: String = "B", limits: MultipartParser.Limits = .init()
  ) throws -> Form {
    var parser = try MultipartParser(boundary: boundary, limits: limits)
    var form = Form()
    for piece in pieces {
      let bytes = Array(piece)
      var position = 0
      while true {
        let event = try bytes.withUnsafeBytes { try parser.next(in: $0, at: &position) }
        guard let event else { break }
        switch event {
        case .part(let part):
          form.names.append(part.name)
          form.values.append([])
        case .input(let range):
          #expect(!range.isEmpty)
          form.values[form.values.count - 1] += bytes[range]
        case .heldBack(let held):
          #expect(!held.isEmpty)
          form.values[form.values.count - 1] += held
        case .endOfPart: form.ended += 1
        }
      }
      #expect(position == bytes.count)
    }
    try parser.finish()
    return form
  }

  private func parse(_ text: String, limits: MultipartParser.Limits = .init()) throws -> Form {
    try parse([Array(text.utf8)[...]], limits: limits)
  }

  private func part(_ name: String, _ value: String) -> String {
    "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
  }

  /// Values that contain possible starts of a boundary.
  private static let values = [
    "", "plain", "\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--b", "\r\r\n--A", "\r\n\r\n", "\r\n--\r\n--",
    "a\r\n--Ca",
    "--B", "x--B", "\r--B", "\n--B", "-", "--", "\r\n-B", "\u{0}\r\n\u{0}",
  ]

  @Test func `the result does not depend on how the form is split`() throws {
    let text =
      "preamble\r\n"
      + Self.values.enumerated().filter { $0.element != "--B" }
      .map { part("n\($0.offset)", $0.element) }.joined() + "--B--\r\nepilogue"
    let bytes = Array(text.utf8)
    let expected = Form(
      names: Self.values.indices.filter { Self.values[$0] != "--B" }.map { "n\($0)" },
      values: Self.values.filter { $0 != "--B" }.map { Array($0.utf8) }, ended: Self.values.count - 1)
    #expect(try parse([bytes[...]]) == expected)
    for split in bytes.indices {
      #expect(try parse([bytes[..<split], bytes[split...]]) == expected, "split at \(split)")
    }
    for size in 1...7 {
      let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
      #expect(try parse(pieces) == expected, "pieces of \(size)")
    }
  }

  @Test func `every pair of splits around a boundary gives the same form`() throws {
    let bytes = Array((part("a", "1\r\n--") + part("b", "2\r\r\n-") + "--B--").utf8)
    let expected = Form(
      names: ["a", "b"], values: [Array("1\r\n--".utf8), Array("2\r\r\n-".utf8)], ended: 2)
    for first in bytes.indices {
      for second in first..<bytes.count {
        #expect(try parse([bytes[..<first], bytes[first..<second], bytes[second...]]) == expected)
      }
    }
  }

  @Test func `a part without data can end with the line end of its head`() throws {
    let text = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n--B--"
    #expect(try parse(text) == Form(names: ["a"], values: [[]], ended: 1))
  }

  @Test func `white space can follow a boundary`() throws {
    let text = "--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B--"
    #expect(try parse(text).values == [[UInt8(ascii: "x")]])
  }

  @Test func `a form can be empty`() throws {
    #expect(try parse("--B--\r\n") == Form())
    #expect(try parse("some preamble\r\n--B--") == Form())
  }

  @Test(arguments: [
    "", "--B", "--B\r\n", "--B-", "no boundary at all",
    "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
    "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B",
    "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\n--B--", "x--B--",
  ])
  func `a form without its last boundary is rejected`(text: String) {
    #expect(throws: MultipartError.truncated) { try parse(text) }
  }

  @Test(arguments: ["--Bx\r\n", "--B\n", "--B\r\r\n", "--B -\r\n", "--B-\r\n", "--B-x", "--B \rx", "--BB--"])
  func `other bytes after a boundary are rejected`(text: String) {
    #expect(throws: MultipartError.boundaryLine) { try parse(text) }
  }

  @Test(arguments: [
    "no colon\r\n", "bad name: x\r\n", ": x\r\n", "A: x\r\n folded\r\n", "A: x\u{0}\r\n", "A: x\ry\r\n",
    "A: x\ny\r\n",
  ])
  func `a malformed head is rejected`(line: String) {
    let text = "--B\r\nContent-Disposition: form-data; name=a\r\n\(line)\r\nx\r\n--B--"
    #expect(throws: MultipartError.head) { try parse(text) }
  }

  @Test func `a head that is not UTF-8 is rejected`() {
    let head =
      Array("--B\r\nContent-Disposition: form-data; name=\"".utf8) + [0xFF] + Array("\"\r\n\r\n".utf8)
    #expect(throws: MultipartError.head) { try parse([head[...]]) }
  }

  @Test(arguments: [
    "", "Content-Type: text/plain\r\n", "Content-Disposition: form-data\r\n",
    "Content-Disposition: attachment; name=a\r\n",
    "Content-Disposition: form-data; name=\"a\r\n", "Content-Disposition: form-data; name=a; name=b\r\n",
    "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n",
  ])
  func `a part without exactly one name is rejected`(head: String) {
    #expect(throws: MultipartError.disposition) { try parse("--B\r\n\(head)\r\nx\r\n--B--") }
  }

  @Test func `a head's length is limited`() throws {
    var limits = MultipartParser.Limits()
    let head = "Content-Disposition: form-data; name=a\r\n\r\n"
    let text = "--B\r\n\(head)x\r\n--B--"
    for (limit, fits) in [(head.utf8.count - 1, false), (head.utf8.count, true), (head.utf8.count + 1, true)]
    {
      limits.headBytes = limit
      if fits {
        #expect(try parse(text, limits: limits).names == ["a"])
      } else {
        #expect(throws: MultipartError.headTooLong(limit: limit)) { try parse(text, limits: limits) }
      }
    }
  }

  @Test func `the number of parts is limited`() throws {
    var limits = MultipartParser.Limits()
    limits.parts = 3
    func form(_ count: Int) -> String { (0..<count).map { part("\($0)", "x") }.joined() + "--B--" }
    #expect(try parse(form(2), limits: limits).ended == 2)
    #expect(try parse(form(3), limits: limits).ended == 3)
    #expect(throws: MultipartError.tooManyParts(limit: 3)) { try parse(form(4), limits: limits) }
  }

  @Test func `bytes outside heads and data are limited`() throws {
    var limits = MultipartParser.Limits()
    limits.paddingBytes = 10
    let nine = String(repeating: "x", count: 9)
    #expect(try parse("--B--" + nine, limits: limits) == Form())
    #expect(try parse("--B--" + nine + "y", limits: limits) == Form())
    #expect(throws: MultipartError.paddingTooLong(limit: 10)) {
      try parse("--B--" + nine + "yz", limits: limits)
    }
    #expect(try parse(nine + "y\r\n--B--", limits: limits) == Form())
    #expect(throws: MultipartError.paddingTooLong(limit: 10)) {
      try parse(nine + "yz\r\n--B--", limits: limits)
    }
    let line = "\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--B--"
    #expect(try parse("--B         " + line, limits: limits).names == ["a"])
    #expect(throws: MultipartError.paddingTooLong(limit: 10)) {
      try parse("--B          " + line, limits: limits)
    }
  }

  @Test func `for hostile bytes the result does not depend on how they are split`() {
    var random = SplitMix(state: 2026)
    let words = [
      "\r\n--B", "--B", "--", "\r\n", "\r", "\n", "B", "x", " ", "Content-Disposition: form-data; name=a",
      "\r\n\r\n", ":",
      "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n", "\r\n--B--",
    ]
    var limits = MultipartParser.Limits()
    (limits.parts, limits.headBytes, limits.paddingBytes) = (3, 60, 12)
    func outcome(_ pieces: [ArraySlice<UInt8>]) -> Result<Form, MultipartError> {
      do { return .success(try parse(pieces, limits: limits)) } catch let error as MultipartError {
        return .failure(error)
      } catch {
        Issue.record(error)
        return .success(Form())
      }
    }
    var forms = 0
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 1...12, using: &random))
        .map { _ in words[Int.random(in: words.indices, using: &random)] }.joined()
      let bytes = Array(text.utf8)
      let whole = outcome([bytes[...]])
      if case .success = whole { forms += 1 }
      let split = Int.random(in: 0...bytes.count, using: &random)
      #expect(outcome([bytes[..<split], bytes[split...]]) == whole, "\(text.debugDescription) at \(split)")
      #expect(outcome(bytes.indices.map { bytes[$0...$0] }) == whole, "\(text.debugDescription) byte by byte")
    }
    #expect(forms > 50, "some of them have to be forms")
  }

  @Test func `boundaries have 1 to 70 allowed characters`() throws {
    for valid in ["x", String(repeating: "x", count: 70), "a b", "'()+_,-./:=?"] {
      let text = "--\(valid)--"
      #expect(try parse([Array(text.utf8)[...]], boundary: valid) == Form())
    }
    for invalid in ["", String(repeating: "x", count: 71), "a ", "a\r", "a;", "ü", "a\"b", "a@b"] {
      #expect(throws: MultipartError.boundary) { try MultipartParser(boundary: invalid) }
    }
  }
}

@Suite struct MultipartFormDataTests {
  private func body(_ text: String, pieces size: Int) -> HTTPRequestBody {
    let bytes = Array(text.utf8)
    let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    let (stream, continuation) = AsyncStream.makeStream(of: IOBuffer.self)
    for piece in pieces { continuation.yield(IOBuffer(piece)) }
    continuation.finish()
    return HTTPRequestBody(declaredLength: Int64(bytes.count)) {
      var iterator = stream.makeAsyncIterator()
      return await iterator.next()
    }
  }

  private static let form = """
    --B\r
    Content-Disposition: form-data; name="note"\r
    \r
    hello\r
    --B\r
    Content-Disposition: form-data; name="skipped"\r
    \r
    nobody reads this\r
    --B\r
    Content-Disposition: form-data; name="snapshot"; filename="a.zip"\r
    Content-Type: application/zip\r
    \r
    line\r
    --line\r
    --B--\r

    """

  private func reader(_ text: String, pieces: Int) throws -> MultipartFormData {
    let type = try #require(MediaType("multipart/form-data; boundary=B"))
    return try MultipartFormData(body(text, pieces: pieces), contentType: type)
  }

  @Test(arguments: [1, 2, 3, 5, 64, 10_000]) func `parts are returned in order`(pieces: Int) async throws {
    var form = try reader(Self.form, pieces: pieces)
    #expect(try await form.nextPiece() == nil)
    let note = try #require(try await form.nextPart())
    #expect(note.name == "note")
    #expect(try await form.value(of: "note", upTo: 5) == Array("hello".utf8))
    #expect(try await form.nextPiece() == nil)
    #expect(try await form.nextPart()?.name == "skipped")
    let snapshot = try #require(try await form.nextPart())
    #expect(snapshot.fileName == "a.zip")
    #expect(snapshot.headerFields[.contentType] == "application/zip")
    var content: [UInt8] = []
    while let piece = try await form.nextPiece() {
      #expect(piece.count > 0)
      content += piece.bytes
    }
    #expect(content == Array("line\r\n--line".utf8))
    #expect(try await form.nextPart() == nil)
    #expect(try await form.nextPart() == nil)
  }

  @Test func `a value longer than its limit is rejected`() async throws {
    var form = try reader(Self.form, pieces: 4)
    _ = try await form.nextPart()
    await #expect(throws: MultipartError.fieldTooLong(name: "note", limit: 4)) {
      try await form.value(of: "note", upTo: 4)
    }
  }

  @Test func `a piece that contains only data is returned without a copy`() async throws {
    let head = IOBuffer(Array("--B\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8))
    let data = IOBuffer([UInt8](repeating: 7, count: 1000))
    let tail = IOBuffer(Array("\r\n--B--".utf8))
    let (stream, continuation) = AsyncStream.makeStream(of: IOBuffer.self)
    for piece in [head, data, tail] { continuation.yield(piece) }
    continuation.finish()
    let body = HTTPRequestBody(declaredLength: nil) {
      var iterator = stream.makeAsyncIterator()
      return await iterator.next()
    }
    let type = try #require(MediaType("multipart/form-data; boundary=B"))
    var form = try MultipartFormData(body, contentType: type)
    _ = try await form.nextPart()
    #expect(try await form.nextPiece() === data)
    #expect(try await form.nextPiece() == nil)
  }

  @Test func `a truncated form throws its own error or the body's`() async throws {
    var cut = try reader(String(Self.form.dropLast(20)), pieces: 8)
    await #expect(throws: MultipartError.truncated) { while try await cut.nextPart() != nil {} }
    let type = try #require(MediaType("multipart/form-data; boundary=B"))
    let gone = HTTPRequestBody(declaredLength: 10) { throw HTTPBodyError.disconnected }
    var form = try MultipartFormData(gone, contentType: type)
    await #expect(throws: HTTPBodyError.disconnected) { try await form.nextPart() }
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=\"\"", "multipart/form-data; boundary=\"a;b\"",
  ])
  func `a form without a valid boundary is rejected`(contentType: String) throws {
    let type = try #require(MediaType(contentType))
    #expect(throws: MultipartError.boundary) { try MultipartFormData(.empty, contentType: type) }
  }
}

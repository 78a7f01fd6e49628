import Testing

@testable import HTTPEngine

@Suite struct ChunkedDecoderTests {
  private static let body =
    "5\r\nhello\r\n0001;name=\"a b\"\r\n,\r\nA;x\r\n0123456789\r\n0;last\r\nX-Trailer: 1\r\nHost: evil\r\n\r\n"
  private static let data = "hello,0123456789"

  /// Decodes the pieces in order, each in place.
  private func decode(_ pieces: [[UInt8]], limit: Int = 1024) throws -> (
    data: String, isComplete: Bool, rest: Int
  ) {
    var decoder = ChunkedDecoder(overheadLimit: limit)
    var data: [UInt8] = []
    var rest = 0
    for piece in pieces {
      var bytes = piece
      try bytes.withUnsafeMutableBytes { buffer in
        let (consumed, produced) = try decoder.decode(UnsafeRawBufferPointer(buffer), into: buffer)
        data += buffer[..<produced]
        rest += buffer.count - consumed
      }
    }
    return (String(decoding: data, as: UTF8.self), decoder.isComplete, rest)
  }

  private func decode(_ text: String, limit: Int = 1024) throws -> (data: String, isComplete: Bool, rest: Int)
  {
    try decode([Array(text.utf8)], limit: limit)
  }

  @Test func `data is returned, extensions and trailers are not`() throws {
    let result = try decode(Self.body + "GET")
    #expect(result.data == Self.data)
    #expect(result.isComplete)
    #expect(result.rest == 3)
  }

  @Test func `the result does not depend on how the input is split`() throws {
    let bytes = Array(Self.body.utf8)
    for split in 0...bytes.count {
      let result = try decode([Array(bytes[..<split]), Array(bytes[split...])])
      #expect(result.data == Self.data, "in two at \(split)")
      #expect(result.isComplete, "in two at \(split)")
    }
    let single = try decode(bytes.map { [$0] })
    #expect(single.data == Self.data)
    #expect(single.isComplete)
  }

  @Test(arguments: [
    "5;a", "5;a=b", "5;a=b;c", "5;a=\"\"", "5;a=\"b;\\\"c=\\\\d\"", "5; a = b ; c", "5;a=\"\t\u{FF}\";b=c",
    "5;a=\"b\" ;c",
  ]) func `valid extensions of every form are ignored`(_ line: String) throws {
    let result = try decode(line + "\r\nhello\r\n0\r\n\r\n")
    #expect(result.data == "hello")
    #expect(result.isComplete)
  }

  @Test func `decoding stops when the output is full`() throws {
    var decoder = ChunkedDecoder(overheadLimit: 1024)
    let input = Array("5\r\nhello\r\n0\r\n\r\n".utf8)
    var room = [UInt8](repeating: 0, count: 3)
    let first = try input.withUnsafeBytes { input in
      try room.withUnsafeMutableBytes { try decoder.decode(input, into: $0) }
    }
    #expect(first == (6, 3))
    #expect(room == Array("hel".utf8))
    let second = try input[6...].withUnsafeBytes { input in
      try room.withUnsafeMutableBytes { try decoder.decode(input, into: $0) }
    }
    #expect(second == (9, 2))
    #expect(decoder.isComplete)
  }

  @Test(arguments: [
    "0x5\r\nhello\r\n0\r\n\r\n", "+5\r\nhello\r\n", "-5\r\nhello\r\n", " 5\r\nhello\r\n", "5 \r\nhello\r\n",
    "5_0\r\n", "\r\n", ";x\r\n", "g\r\n", "5\nhello\r\n", "5\r\nhelloX\r\n", "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n", "5\r\rhello", "5;x\ny\r\n", "5;x\0\r\n", "5;x\ry\r\n", "8000000000000000\r\n",
    "FFFFFFFFFFFFFFFF\r\n", "00000000000000001\r\n", "0\r\n X: y\r\n\r\n", "0\r\nX y: z\r\n\r\n",
    "0\r\n: z\r\n\r\n",
    "0\r\nX: y\nZ: a\r\n\r\n", "0\r\nX: \0\r\n\r\n", "0\r\n\n", "0\n\n",
  ]) func `a malformed coding is rejected`(_ text: String) {
    #expect(throws: ChunkedDecoder.Malformed.self) { try decode(text) }
  }

  @Test func `extensions are accepted up to their limit`() throws {
    // The semicolon counts as one byte. The bytes of all chunks count together.
    func body(_ count: Int) -> String {
      "1;" + String(repeating: "a", count: count / 2 - 1) + "\r\nx\r\n0;"
        + String(repeating: "b", count: count - count / 2 - 1) + "\r\n\r\n"
    }
    #expect(try decode(body(99), limit: 100).isComplete)
    #expect(try decode(body(100), limit: 100).isComplete)
    #expect(throws: ChunkedDecoder.Malformed.self) { try decode(body(101), limit: 100) }
  }

  @Test func `trailers count against the same limit`() throws {
    // The line consists of a name, a colon, the value and the line end.
    func body(_ count: Int) -> String { "0\r\nX:" + String(repeating: "a", count: count - 3) + "\r\n\r\n" }
    #expect(try decode(body(100), limit: 100).isComplete)
    #expect(throws: ChunkedDecoder.Malformed.self) { try decode(body(101), limit: 100) }
  }

  @Test func `the largest size is accepted`() throws {
    let result = try decode("7fffffffffffffff\r\nabc")
    #expect(result.data == "abc")
    #expect(!result.isComplete)
  }
}

import HTTPTypes
import Testing

@testable import HTTPEngine

@Suite struct FieldLinesTests {
  private func fields(_ lines: [UInt8], without names: FieldLines = .ofConnection) -> HTTPFields {
    HTTPFields(judgedLines: lines[...], without: names)
  }

  private func bytes(_ field: HTTPField?) -> [UInt8]? { field?.withUnsafeBytesOfValue { Array($0) } }

  @Test func `fields keep their order, and their values are trimmed`() {
    let made = fields(Array("B: 2\r\nA:\t1 1 \t\r\nb:3\r\nEmpty:\r\nBlank: \t \r\n\r\nC: not read\r\n".utf8))
    #expect(made.map(\.name.rawName) == ["B", "A", "b", "Empty", "Blank"])
    #expect(made.map(\.value) == ["2", "1 1", "3", "", ""])
  }

  @Test func `fields of the connection are removed, in any case`() {
    let made = fields(
      Array(
        "HOST: a\r\nHosts: b\r\nte: c\r\nt: d\r\nProxy-CONNECTION: e\r\nX-Upgrade: f\r\nupgrade: g\r\n\r\n"
          .utf8))
    #expect(made.map(\.name.canonicalName) == ["hosts", "t", "x-upgrade"])
  }

  @Test func `fields that belong to the head are removed from trailers`() {
    let lines = Array(
      "Content-Length: 5\r\nX-Checksum: 1\r\nHost: a\r\nAuthorization: b\r\nIf-Range: c\r\n".utf8)
    #expect(fields(lines, without: .neverTrailers).map(\.name.canonicalName) == ["x-checksum"])
  }

  @Test func `a value keeps its bytes, even if they are not UTF-8`() {
    for value: [UInt8] in [[0xFF, 0x61, 0xE9], Array("é".utf8), [0x61, 0x7E], [0xC3]] {
      let made = fields(Array("X-Raw: ".utf8) + value + Array("\r\n\r\n".utf8))
      #expect(bytes(made.first) == value)
    }
  }
}

import HTTPSemantics
import Testing

@Suite struct ByteRangesTests {
  @Test(
    arguments: [
      ("bytes=0-0", [0..<1]), ("bytes=0-99", [0..<100]), ("bytes=10-19", [10..<20]),
      ("bytes=90-", [90..<100]),
      ("bytes=0-", [0..<100]), ("bytes=-1", [99..<100]), ("bytes=-100", [0..<100]), ("bytes=-101", [0..<100]),
      ("bytes=50-1000", [50..<100]), ("BYTES=1-2", [1..<3]), ("bytes=99-", [99..<100]),
      ("bytes=0-1,5-6", [0..<2, 5..<7]), ("bytes= 0-1 ,\t5-6 ", [0..<2, 5..<7]),
      ("bytes=,0-1,,5-6,", [0..<2, 5..<7]),
      ("bytes=5-6,0-1", [5..<7, 0..<2]), ("bytes=0-1,200-300,-1", [0..<2, 99..<100]),
      ("bytes=200-,3-3", [3..<4]), ("bytes=50-99,0-49", [50..<100, 0..<50]),
      ("bytes=98-99999999999999999999999", [98..<100]), ("bytes=-99999999999999999999999", [0..<100]),
      ("bytes=98-9223372036854775807", [98..<100]), ("bytes=000000000000000000000000001-2", [1..<3]),
    ] as [(String, [Range<Int64>])])
  func `ranges of 100 bytes are served`(field: String, expected: [Range<Int64>]) {
    #expect(ByteRanges(field, size: 100) == .some(expected))
  }

  @Test(arguments: [
    "bytes=100-", "bytes=100-200", "bytes=-0", "bytes=9223372036854775807-", "bytes=99999999999999999999-",
    "bytes=100-,-0",
  ])
  func `ranges without any byte are unsatisfiable`(field: String) {
    #expect(ByteRanges(field, size: 100) == .unsatisfiable)
  }

  @Test(arguments: [
    nil, "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=0-1,2-1",
    "bytes 0-1",
    "lines=0-1", "bytes=0-1;x", "bytes=+0-1", "bytes=0--1", "bytes=0-1 2-3", "bytes=0x1-2", "bytes=1 -2",
    "bytes =0-1",
    "bytes=99999999999999999999-1",
  ])
  func `a malformed field counts as missing`(field: String?) {
    #expect(ByteRanges(field, size: 100) == .whole)
  }

  @Test(arguments: [
    "bytes=0-49,49-99", "bytes=0-49,0-49", "bytes=1-2,0-99", "bytes=5-6,1-2,6-7", "bytes=0-0,0-0",
    "bytes=90-,-5",
    "bytes=0-10,200-,10-11", "bytes=-1,-1",
  ])
  func `overlapping ranges get the whole content`(field: String) {
    #expect(ByteRanges(field, size: 100) == .whole)
  }

  @Test func `the largest size causes no overflow`() {
    #expect(ByteRanges("bytes=0-,0-,0-", size: .max) == .whole)
    #expect(ByteRanges("bytes=0-", size: .max) == .some([0..<Int64.max]))
  }

  @Test func `sixteen ranges are served, and with one more the whole content`() {
    func field(_ count: Int) -> String {
      "bytes=" + (0..<count).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ",")
    }
    func expected(_ count: Int64) -> ByteRanges { .some((0..<count).map { $0 * 2..<$0 * 2 + 1 }) }
    #expect(ByteRanges(field(15), size: 100) == expected(15))
    #expect(ByteRanges(field(16), size: 100) == expected(16))
    #expect(ByteRanges(field(17), size: 100) == .whole)
  }

  @Test func `an empty file has no ranges`() {
    #expect(ByteRanges("bytes=0-", size: 0) == .unsatisfiable)
    #expect(ByteRanges("bytes=0-0", size: 0) == .unsatisfiable)
    #expect(ByteRanges("bytes=-0", size: 0) == .unsatisfiable)
    #expect(ByteRanges("bytes=-5", size: 0) == .whole)
    #expect(ByteRanges(nil, size: 0) == .whole)
  }
}

import SnapshotViewer
import Testing

struct BinaryPropertyListTests {
  /// A binary property list of objects, each with its bytes.
  private func list(
    _ objects: [[UInt8]], top: Int = 0, offsetSize: Int = 2, referenceSize: Int = 1
  ) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    func big(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    for offset in offsets { bytes += big(offset, offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    return bytes + big(objects.count, 8) + big(top, 8) + big(table, 8)
  }

  private func json(
    _ bytes: [UInt8], _ limits: PropertyList.Limits = PropertyList.Limits()
  ) throws(PropertyListFailure) -> String {
    String(decoding: try PropertyList.json(of: bytes, .binary, limits: limits) ?? [], as: UTF8.self)
  }

  private func reason(
    _ bytes: [UInt8], _ limits: PropertyList.Limits = PropertyList.Limits()
  ) -> PropertyListFailure.Reason? {
    do throws(PropertyListFailure) {
      _ = try json(bytes, limits)
      return nil
    } catch {
      #expect(!error.description.isEmpty)
      return error.reason
    }
  }

  @Test func `a property list that another program has written becomes JSON`() throws {
    // Python: plistlib.dumps(…, fmt=FMT_BINARY, sort_keys=False)
    let hex = """
      62706c6973743030da0102030405060708090a0b0c0d0e0f1011121314546e616d65516e536e65675362696751665174547768656e\
      546461746153756964546c69737466004d006900720061002000e4100113fffffffffffffffb140000000000000000800000000000\
      0000233ff8000000000000093341c859226c00000047000168656c6c6f8005a30c1516a0d0081d2224282c2e30353a3e4350525b6c\
      75767f87898d8e000000000000010100000000000000170000000000000000000000000000008f
      """
    let digits = Array(hex.utf8).map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    #expect(
      try json(bytes)
        == "{\"name\":\"Mira ä\",\"n\":1,\"neg\":-5,\"big\":9223372036854775808,\"f\":1.5,\"t\":true,"
        + "\"when\":\t\"2026-11-21T21:30:00Z\",\"data\":\n\"AAFoZWxsbw==\",\"uid\":{\"CF$UID\":5},\"list\":[1,[],{}]}"
    )
  }

  @Test(
    arguments: [
      ([0x00], "null"), ([0x08], "false"), ([0x09], "true"),
      ([0x10, 0xFF], "255"), ([0x11, 0xFF, 0xFF], "65535"), ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], "4294967295"),
      ([0x13] + [UInt8](repeating: 0xFF, count: 8), "-1"),
      ([0x14] + [UInt8](repeating: 0xFF, count: 16), "-1"),
      ([0x14, 0x7F] + [UInt8](repeating: 0xFF, count: 15), "170141183460469231731687303715884105727"),
      ([0x22, 0x3F, 0x00, 0x00, 0x00], "0.5"), ([0x22, 0x3D, 0xCC, 0xCC, 0xCD], "0.1"),
      ([0x23, 0x40, 0x09, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18], "3.141592653589793"),
      ([0x23, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0], " \"inf\""), ([0x22, 0x7F, 0xC0, 0, 0], " \"nan\""),
      ([0x33, 0, 0, 0, 0, 0, 0, 0, 0], "\t\"2001-01-01T00:00:00Z\""),
      ([0x33, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0], "\t\"2001-01-01T00:00:00.500Z\""),
      ([0x33, 0x7E, 0x37, 0xE4, 0x3C, 0x88, 0, 0x75, 0x9C], "\t\"1e+300 seconds since 1970\""),
      ([0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], "\t\"nan seconds since 1970\""),
      ([0x40], "\n\"\""), ([0x43, 0xFF, 0xFE, 0xFD], "\n\"//79\""), ([0x41, 0xFF], "\n\"/w==\""),
      ([0x50], "\"\""), ([0x53, 0x61, 0x22, 0x0A], #""a\"\u000a""#),
      ([0x61, 0x20, 0xAC], "\"€\""), ([0x62, 0xD8, 0x3D, 0xDC, 0x4D], "\"👍\""),
      ([0x61, 0xD8, 0x3D], #""\ud83d""#), ([0x62, 0xDC, 0x4D, 0x00, 0x61], #""\udc4da""#),
      ([0x80, 7], #"{"CF$UID":7}"#),
      ([0x87] + [UInt8](repeating: 0xFF, count: 8), #"{"CF$UID":18446744073709551615}"#),
      ([0xA0], "[]"), ([0xC0], "\r[]"), ([0xD0], "{}"),
    ] as [([UInt8], String)])
  func `every object is written as JSON`(object: [UInt8], expected: String) throws {
    #expect(try json(list([object])) == expected)
  }

  @Test func `sizes of counts, offsets and references may vary`() throws {
    let text = [UInt8](repeating: 0x61, count: 300)
    for count in [[0x11, 1, 44], [0x12, 0, 0, 1, 44], [0x13, 0, 0, 0, 0, 0, 0, 1, 44]] as [[UInt8]] {
      #expect(try json(list([[0x5F] + count + text])).count == 302)
    }
    for size in 1...8 {
      let reference = [UInt8](repeating: 0, count: size - 1)
      let bytes = list(
        [[0xA2] + reference + [1] + reference + [1], [0x09]], offsetSize: size, referenceSize: size)
      #expect(try json(bytes) == "[true,true]")
    }
  }

  @Test func `a long text and long data are converted in pieces`() throws {
    let count = 100_001
    let head: [UInt8] = [0x12, 0, 1, 0x86, 0xA1]
    #expect(
      try json(list([[0x5F] + head + [UInt8](repeating: 0x61, count: count)], offsetSize: 4)).count == count
        + 2)
    let units = (0..<count).flatMap { _ in [0x20, 0xAC] as [UInt8] }
    #expect(
      try json(list([[0x6F] + head + units], offsetSize: 4)) == "\"\(String(repeating: "€", count: count))\"")
    let data = try json(list([[0x4F] + head + [UInt8](repeating: 0, count: count)], offsetSize: 4))
    #expect(data == "\n\"" + String(repeating: "A", count: 133_335) + "=\"")
  }

  @Test(
    arguments: [
      ([0x01], .type), ([0x0F], .type), ([0x15], .number), ([0x20], .number), ([0x32], .date),
      ([0x70], .type),
      ([0x88] + [UInt8](repeating: 0, count: 9), .number), ([0x13, 0], .incomplete),
      ([0x52, 0x61], .incomplete),
      ([0x5F], .incomplete), ([0x5F, 0x14], .type), ([0x5F, 0x23], .type), ([0x5F, 0x13, 0], .incomplete),
      ([0x5F, 0x13] + [UInt8](repeating: 0xFF, count: 8), .incomplete), ([0x51, 0xC3], .text),
      ([0x6F, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0], .incomplete), ([0xA1, 9], .reference),
      ([0xA2, 0], .incomplete),
      ([0xA1, 0], .cycle), ([0xD1, 0, 0], .type), ([0xDF, 0x10, 200], .incomplete),
    ] as [([UInt8], PropertyListFailure.Reason)])
  func `a malformed object is refused`(object: [UInt8], expected: PropertyListFailure.Reason) {
    #expect(reason(list([object])) == expected)
  }

  @Test func `a container that contains itself through others is refused`() {
    #expect(reason(list([[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]])) == .cycle)
    #expect(reason(list([[0xA2, 1, 1], [0xA1, 2], [0x09]])) == nil)
  }

  @Test func `an end that does not describe the file is refused`() {
    let whole = list([[0xA1, 1], [0x09]])
    for length in 8..<whole.count { #expect(reason(Array(whole[..<length])) != nil, "\(length)") }
    let trailer = whole.count - 32
    let changes: [(Int, UInt8)] = [
      (6, 0), (6, 9), (7, 0), (7, 9), (8, 0x80), (15, 0), (15, 200), (16, 0x80), (23, 2), (24, 0x80), (31, 8),
      (31, 255),
    ]
    for (place, value) in changes {
      var bytes = whole
      bytes[trailer + place] = value
      #expect(reason(bytes) != nil, "\(value) at \(place)")
    }
    #expect(reason(whole) == nil)
  }

  @Test func `nesting, values, bytes and size have limits`() throws {
    func nested(_ depth: Int) -> [UInt8] {
      list((1...depth).map { $0 < depth ? [0xA1, UInt8($0)] : [0xA0] })
    }
    var limits = PropertyList.Limits()
    limits.depth = 100
    #expect(reason(nested(100), limits) == nil)
    #expect(reason(nested(101), limits) == .depth(100))
    limits = .init()
    // Three values, 11 bytes.
    let three = list([[0xA2, 1, 1], [0x09]])
    (limits.values, limits.bytes, limits.size) = (3, 11, three.count)
    #expect(try json(three, limits) == "[true,true]")
    limits.values = 2
    #expect(reason(three, limits) == .values(2))
    (limits.values, limits.bytes) = (4, 10)
    #expect(reason(three, limits) == .bytes(10))
    (limits.bytes, limits.size) = (12, three.count - 1)
    #expect(reason(three, limits) == .size(three.count - 1))
  }

  @Test func `shared objects that would expand without end are stopped early`() {
    // Each of 64 arrays contains the next one twice.
    let objects = (1...64).map { [0xA2, UInt8($0), UInt8($0)] as [UInt8] } + [[0x09]]
    var limits = PropertyList.Limits()
    limits.values = 10_000
    #expect(reason(list(objects), limits) == .values(10_000))
    // A long text that an array contains 200 times.
    let array: [UInt8] = [0xAF, 0x10, 200] + [UInt8](repeating: 1, count: 200)
    let text: [UInt8] = [0x5F, 0x12, 0, 1, 0x86, 0xA0] + [UInt8](repeating: 0x61, count: 100_000)
    limits.bytes = 1 << 20
    #expect(reason(list([array, text], offsetSize: 4), limits) == .bytes(1 << 20))
  }
}

import JSONText
import Testing

@Suite struct JSONRunTests {
  @Test func `a run ends at the first byte of another kind, at any position`() {
    for length in [0, 1, 2, 7, 8, 9, 17] {
      for place in 0..<max(1, length) {
        for byte in UInt8.min...UInt8.max {
          var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          if place < length { bytes[place] = byte }
          // The bytes after the end can have any value.
          if place + 1 < length { bytes[place + 1] = byte ^ 0x80 }
          for start in [0, min(3, length)] {
            let plain = bytes[start...].firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C } ?? length
            let ascii = bytes[start..<plain].firstIndex { $0 >= 0x80 } ?? plain
            let ends = (JSONRun.plainEnd(bytes, from: start), JSONRun.asciiEnd(bytes, from: start))
            // An expectation for each case would take longer than everything else.
            if ends != (plain, ascii) { Issue.record("\(ends) in \(bytes) from \(start)") }
          }
        }
      }
    }
  }

  @Test func `white space is the white space of JSON`() {
    for byte in UInt8.min...UInt8.max {
      let isSpace = [0x20, 0x0A, 0x0D, 0x09].contains(byte)
      #expect(JSONRun.spaceEnd([0x61, 0x20, byte, 0x61], from: 1) == (isSpace ? 3 : 2))
    }
    #expect(JSONRun.spaceEnd([0x20, 0x20], from: 0) == 2)
    #expect(JSONRun.spaceEnd([], from: 0) == 0)
  }
}

import Dispatch
import SystemIO
import Testing

@Suite struct IOBufferTests {
  @Test func `filled bytes are counted, up to the capacity`() {
    let buffer = IOBuffer(capacity: 5)
    #expect(buffer.count == 0 && buffer.bytes.isEmpty)
    var expected: [UInt8] = []
    for bytes: [UInt8] in [[1, 2, 3], [], [4, 5]] {
      expected += bytes
      let written = buffer.fill { room in
        room.copyBytes(from: bytes)
        return bytes.count
      }
      #expect(written == bytes.count)
      #expect(buffer.bytes == expected)
    }
    #expect(buffer.count == buffer.capacity)
    #expect(buffer.fill { $0.count } == 0)
  }

  @Test func `a buffer can be handed over before its reader waits for it`() async {
    let queue = DispatchQueue(label: "filling")
    for number: UInt8 in 0..<20 {
      let buffer = await withCheckedContinuation { continuation in
        queue.async {
          let buffer = IOBuffer(capacity: 100)
          buffer.fill { room in
            room.initializeMemory(as: UInt8.self, repeating: number)
            return room.count
          }
          continuation.resume(returning: buffer)
        }
      }
      #expect(buffer.bytes == [UInt8](repeating: number, count: 100))
    }
  }
}

import SystemIO
import Testing

@Suite struct FreedMemoryTests {
  #if os(Linux)
    @Test func `the heap takes the setting, and goes on`() {
      #expect(FreedMemory.keep(upTo: 512 << 10))
    }
  #endif
}

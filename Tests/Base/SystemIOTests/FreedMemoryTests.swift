import SystemIO
import TestSupport
import Testing

@Suite struct FreedMemoryTests {
  #if os(Linux)
    @Test(.enabled(if: !Sanitizer.isActive, "A sanitizer's own heap takes none."))
    func `the heap takes the setting, and goes on`() {
      #expect(FreedMemory.keep(upTo: 512 << 10))
    }
  #endif
}

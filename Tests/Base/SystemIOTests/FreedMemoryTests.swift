import SystemIO
import TestSupport
import Testing

@Suite struct FreedMemoryTests {
  #if os(Linux)
    @Test(.enabled(if: !Sanitizer.isActive, "A sanitizer's heap ignores the setting."))
    func `the heap accepts the setting and still works`() {
      #expect(FreedMemory.keep(upTo: 512 << 10))
    }
  #endif
}

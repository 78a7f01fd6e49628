import SystemIO
import Testing

@Suite struct ProgramCodeTests {
  #if os(Linux)
    @Test func `a program continues after the pages of its code are released`() {
      #expect(ProgramCode.releasePages())
    }
  #endif
}

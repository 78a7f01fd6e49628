import SystemIO
import Testing

@Suite struct ProgramCodeTests {
  #if os(Linux)
    @Test func `a program goes on when the pages of its code were let go of`() {
      #expect(ProgramCode.releasePages())
    }
  #endif
}

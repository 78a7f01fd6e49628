import SystemIO
import Testing

@Suite struct DescriptorLimitTests {
  @Test func `the limit is raised and never lowered`() {
    let before = DescriptorLimit.current
    DescriptorLimit.raise(to: 1)
    #expect(DescriptorLimit.current == before)
    DescriptorLimit.raise(to: before)
    #expect(DescriptorLimit.current == before)
    DescriptorLimit.raise(to: .max)
    #expect(DescriptorLimit.current >= before)
  }
}

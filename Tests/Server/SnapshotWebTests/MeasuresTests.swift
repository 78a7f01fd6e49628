import Foundation
import Testing

@testable import SnapshotWeb

struct MeasuresTests {
  @Test(arguments: [
    (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1449, "1.4 kB"), (999_949, "999.9 kB"),
    (999_950, "1.0 MB"),
    (8_412_973, "8.4 MB"), (5_000_000_000, "5.0 GB"), (.max, "9,223,372.0 TB"),
  ])
  func `sizes are short`(_ bytes: Int64, _ text: String) {
    #expect(Measures.size(bytes) == text)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (.min, "-9,223,372,036,854,775,808"),
  ])
  func `numbers are grouped`(_ number: Int, _ text: String) {
    #expect(Measures.number(number) == text)
  }

  @Test func `times are in words, and in a form for machines`() {
    let fields = Measures.timeFields(Date(timeIntervalSince1970: 1_795_296_625.25))
    #expect(fields["human"] as? String == "21 Nov 2026, 21:30 UTC")
    #expect(fields["iso"] as? String == "2026-11-21T21:30:25.250Z")
    #expect(Measures.day(Date(timeIntervalSince1970: 0)) == "1 Jan 1970")
  }

  @Test func `a share is from one to a hundred hundredths, but of nothing`() {
    #expect(Measures.share(0, of: 10) == 0)
    #expect(Measures.share(1, of: .max) == 1)
    #expect(Measures.share(5, of: 10) == 50)
    #expect(Measures.share(11, of: 10) == 100)
    #expect(Measures.share(1, of: 0) == 0)
  }
}

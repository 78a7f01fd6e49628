import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct UTCTimeTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (1_700_000_000_125, "2023-11-14T22:13:20.125Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "0000-01-01T00:00:00.000Z"),
      (.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `a time is formatted as in RFC 3339`(milliseconds: Int64, text: String) {
    #expect(UTCTime(millisecondsSince1970: milliseconds).description == text)
  }

  @Test func `random times in four centuries have the same date as in Foundation`() {
    var generator = SeededGenerator(seed: 8)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for _ in 0..<2000 {
      let milliseconds = Int64.random(in: 0..<12_622_780_800_000, using: &generator)
      // The formatter truncates, so half a millisecond is added to round.
      let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
      #expect(UTCTime(millisecondsSince1970: milliseconds).description == date.formatted(style))
    }
  }
}

import Testing

@testable import SQLiteCatalog

@Suite struct PlaceTests {
  @Test func `places of later milliseconds come first`() {
    #expect(Place.range(7).upperBound < Place.range(6).lowerBound)
    #expect(Place.range(6...7) == Place.range(7).lowerBound...Place.range(6).upperBound)
    #expect([Place.range(7).upperBound, Place.range(6).lowerBound].map(Place.millisecond) == [7, 6])
  }
}

import SnapshotStore
import Testing

@testable import SQLiteCatalog

@Suite struct PlaceBookTests {
  @Test func `no place is assigned twice, and each belongs to its millisecond`() throws {
    var book = PlaceBook()
    var places: Set<Int64> = []
    var strangers = 0
    for index in 0..<300_000 {
      // Some milliseconds occur once, some twice, and one all the time.
      let millisecond: Int64 = index % 3 == 0 ? 1_700_000_000_000 : Int64(index / 3) * 977
      let place = try book.take(millisecond)
      if Place.millisecond(place) != millisecond { strangers += 1 }
      places.insert(place)
    }
    #expect(places.count == 300_000)
    #expect(strangers == 0)
  }

  @Test func `times within one millisecond get different places`() throws {
    var book = PlaceBook()
    let before = try [-1, -2, 0].map { try book.take($0) }
    let first = Place.range(0).lowerBound
    #expect(before == [first, first + 1, first + 2])
    let after = try [Int64.max, Int64.max - 1].map { try book.take($0) }
    #expect(Set(after).count == 2)
  }

  @Test func `places of later milliseconds come first`() {
    #expect(Place.range(7).upperBound < Place.range(6).lowerBound)
    #expect(Place.range(6...7) == Place.range(7).lowerBound...Place.range(6).upperBound)
    #expect([Place.range(7).upperBound, Place.range(6).lowerBound].map(Place.millisecond) == [7, 6])
  }

  @Test func `a millisecond has a limited number of places`() throws {
    var book = PlaceBook()
    let places = Place.range(5)
    for place in places where try book.take(5) != place { Issue.record("\(place) is left out") }
    #expect(throws: CatalogError.self) { try book.take(5) }
    #expect(throws: CatalogError.self) { try book.take(5) }
  }
}

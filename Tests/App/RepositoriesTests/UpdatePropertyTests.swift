import Foundation
import Repositories
import TestSupport
import Testing

/// Generates the same numbers for the same seed on every machine.
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random sequences of operations: failed updates change nothing, and only successful ones have an effect.
@Suite struct UpdatePropertyTests {
  private struct Abandoned: Error {}

  /// Attempts a change that fails.
  private static func fail(_ trips: CollectionRepository<Trip>, _ random: inout SeededGenerator) throws {
    let id = trips.all.randomElement(using: &random)?.id ?? 0
    let bad = DateRange(start: 1, end: 0)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try trips.insert(Trip(id: 1000, name: ""))
    case 1: try trips.insert(Trip(id: 1000, name: "new"), Trip(id: 1000, name: "twice"))
    case 2: try trips.update(-1) { $0.name = "nobody" }
    case 3: try trips.put(Trip(id: id, name: "x", dates: [bad]), Trip(id: 1001, name: "fine"))
    case 4: try trips.update { $0 = [Trip(id: 1, name: "x", dates: [bad])] }
    case 5:
      try trips.update {
        $0.removeAll(); throw Abandoned()
      }
    case 6:
      try trips.update {
        $0.shuffle(using: &random); $0.append(Trip(id: 2000, name: ""))
      }
    default:
      try trips.update { models in
        models.removeAll()
        try trips.insert(Trip(id: 3000, name: "nested"))
      }
    }
  }

  /// Makes a change that succeeds, and applies it to `model` as well.
  private static func succeed(
    _ trips: CollectionRepository<Trip>, _ model: inout [Trip], _ random: inout SeededGenerator
  ) throws {
    let trip = Trip(id: Int.random(in: 0..<20, using: &random), name: "\(random.next())")
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      try trips.remove(trip.id)
      model.removeAll { $0.id == trip.id }
    case 1:
      try trips.update { $0.reverse() }
      model.reverse()
    default:
      try trips.put(trip)
      if let index = model.firstIndex(where: { $0.id == trip.id }) {
        model[index] = trip
      } else {
        model.append(trip)
      }
    }
  }

  @Test(arguments: 0..<20) func `no sequence of failing updates changes the stored value`(seed: UInt64) throws
  {
    var random = SeededGenerator(state: seed)
    let folder = try TemporaryFolder()
    let file = folder.file("trips.json")
    let failing = FailingDisk()
    let trips = CollectionRepository<Trip>(
      storage: FileStorage(file: file, disk: failing.disk), validators: [.each(Trip.rules)])
    var model = [Trip(id: 0, name: "first")]
    try trips.insert(model[0])
    for _ in 0..<40 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: try Self.succeed(trips, &model, &random)
      case 1:
        failing.fault = Bool.random(using: &random) ? .writing(ENOSPC) : .powerCut
        var ignored = model
        #expect(throws: RepositoryError.self) { try Self.succeed(trips, &ignored, &random) }
        failing.fault = nil
      default:
        #expect(throws: (any Error).self) { try Self.fail(trips, &random) }
      }
      #expect(trips.all == model)
      for trip in model { #expect(trips.find(trip.id) == trip) }
      let stored = CollectionRepository<Trip>(storage: FileStorage(file: file)).all
      #expect(stored == model)
    }
  }

  @Test func `after concurrent failing and succeeding updates, only the succeeding ones have an effect`()
    async throws
  {
    let trips = CollectionRepository<Trip>(validators: [.each(Trip.rules)])
    let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
      for thread in 0..<8 {
        group.addTask {
          var count = 0
          for number in 0..<50 {
            let isGood = (number + thread).isMultiple(of: 3)
            do {
              try trips.insert(Trip(id: thread * 1000 + number, name: isGood ? "good" : ""))
              count += 1
            } catch is ValidationError {}
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(trips.count == inserted)
    #expect(
      inserted == (0..<8).map { thread in (0..<50).count { ($0 + thread).isMultiple(of: 3) } }.reduce(0, +))
    #expect(trips.validateUserData().isEmpty)
  }
}

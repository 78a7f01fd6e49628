import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

@Suite struct PowerCutTests {
  private func open(_ path: String) throws -> ValueRepository<Trip> {
    ValueRepository(
      Trip(id: 0, name: "initial"), storage: FileStorage(file: URL(filePath: path + "/deep/down/trip.json")))
  }

  @Test func `a commit is complete after a power failure at any time, and durable once update returns`()
    async throws
  {
    let disk = try PowerCutDisk(["initial"])
    let repository = try open(disk.path)
    for (former, name) in [("initial", "Coast"), ("Coast", "Mountains"), ("Mountains", "City")] {
      disk.promise { $0 = [former, name] }
      try repository.update { $0.name = name }
      disk.promise { $0 = [name] }
    }
    try await disk.forEachCut { remains in
      let name = try open(remains.path).value.name
      #expect(remains.promise.contains(name), "\(remains.label)")
    }
  }

  @Test func `files that are set aside or move back are durably renamed before anything else is written`()
    throws
  {
    let folder = try TemporaryFolder()
    let file = folder.file("trip.json")
    try folder.write(Data(#"{"schemaVersion":9,"value":0}"#.utf8), to: "trip.json")
    try folder.write(Data("damage".utf8), to: "trip.json.version-1")
    try folder.write(
      Data(#"{"schemaVersion":1,"value":{"id":1,"name":"back","dates":[]}}"#.utf8),
      to: "trip.json.undecoded-1")
    let renames = RenameLog(folder.url.path)
    let trip = ValueRepository(Trip(id: 0, name: ""), storage: FileStorage(file: file))
    #expect(trip.value.name == "back")
    #expect(
      renames.stop() == [
        "trip.json.version-9 flushed", "trip.json flushed", "trip.json.corrupt-1 flushed",
        "trip.json.corrupt-1.reason flushed", "trip.json flushed",
      ])
  }
}

import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

@Suite struct PowerCutTests {
  private func open(_ path: String) throws -> SingleRepository<Trip> {
    try SingleRepository(
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
}

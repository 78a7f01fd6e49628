#if os(Linux)
  import Foundation
  import Repositories
  import SystemIO
  import TestSupport
  import Testing

  /// A disk of 1 MB in memory, where this process may mount one.
  private final class TinyDisk {
    let folder: TemporaryFolder
    private var filler: URL { folder.file("filler") }

    init?() async throws {
      folder = try TemporaryFolder()
      guard let mount = Tool.find("mount") else { return nil }
      let outcome = try await Tool.run(mount, ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.path])
      guard outcome.status == 0 else { return nil }
    }

    /// Takes the room that is left, to the last page.
    func fill() throws {
      let file = try File(filler.path, .openOrCreate(mode: 0o600))
      var end: Int64 = try file.size
      do {
        while true {
          try file.write([UInt8](repeating: 1, count: 4096), at: end)
          end += 4096
        }
      } catch let error as SystemError where error.isOutOfSpace {}
    }

    func makeRoom() throws { try Folder.remove(filler.path) }

    func unmount() async throws { _ = try await Tool.run("umount", ["-l", folder.path]) }

    static var isPossible: Bool {
      get async throws {
        guard let disk = try await TinyDisk() else { return false }
        try await disk.unmount()
        return true
      }
    }
  }

  @Suite(.enabled("where a disk can be mounted") { try await TinyDisk.isPossible }) struct FullDiskTests {
    @Test func `a disk that fills up loses nothing, and the files follow when there is room`() async throws {
      let disk = try #require(try await TinyDisk())
      let log = EventLog()
      let (profileFile, tripsFile) = (disk.folder.file("profile.json"), disk.folder.file("trips.json"))
      let profile = try SingleRepository(Note(), storage: FileStorage(file: profileFile))
      let trips = try CollectionRepository<Trip>(
        storage: InMemoryStorageWithFilePersistence(file: tripsFile, onEvent: log.record))
      try profile.update { $0.text = "kept" }
      try trips.insert(Trip(id: 0, name: "before"))
      try await trips.flush()
      try disk.fill()

      let error = try #require(throws: RepositoryError.self) {
        try profile.update { $0.text = String(repeating: "x", count: 20_000) }
      }
      #expect(error.code == .outOfSpace)
      #expect(profile.value.text == "kept")
      for id in 1...20 {
        try trips.insert(Trip(id: id, name: String(repeating: "y", count: 1000)))
        let refusal = await #expect(throws: RepositoryError.self) { try await trips.flush() }
        #expect(refusal?.code == .outOfSpace)
      }
      #expect(trips.count == 21)
      #expect(log.kinds == [.notSaved])
      let stored = { try CollectionRepository<Trip>(storage: FileStorage(file: tripsFile)).count }
      #expect(try stored() == 1)
      #expect(try SingleRepository(Note(), storage: FileStorage(file: profileFile)).value.text == "kept")

      try disk.makeRoom()
      try await trips.flush()
      #expect(try stored() == 21)
      #expect(log.kinds == [.notSaved, .savedAgain])
      #expect(try Folder.entries(disk.folder.path) == ["profile.json", "trips.json"])
      try await disk.unmount()
    }
  }

  private struct Note: Codable, Sendable {
    var text = ""
  }
#endif

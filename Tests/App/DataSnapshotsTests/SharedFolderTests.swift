import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Several instances with one folder.
struct SharedFolderTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  private func second(_ sharing: SnapshotMode.Sharing) -> SnapshotMode {
    var configuration = app.configuration
    configuration.sharing = sharing
    return SnapshotMode(folder: app.storage, configuration: configuration)
  }

  @Test func `a second instance is disabled, says so, and changes nothing`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("first", "a")
    await mode.flush()
    let second = second(.exclusive)
    #expect(second.isShut && second.state == .disabled)
    second.state = .recording
    #expect(second.process("second", "a") == "second")
    second.attach(name: "log.txt", data: Data())
    await #expect(throws: BundleError.self) { try await second.makeSnapshot(to: app.temporary.file("a.zip")) }
    await #expect(throws: SystemError.self) { try await second.clear() }
    await second.flush()
    #expect(app.events.kinds == [.folderInUse])
    #expect(app.events.all.first?.reason.contains(app.storage.path) == true)
    mode.state = .replaying
    #expect(mode.process("live", "a") == "first")
    #expect(await mode.report().attachments == [])
  }

  @Test func `of two instances with a new folder, the first that records has it`() {
    let (mode, second) = (app.launch(), second(.exclusive))
    second.state = .recording
    mode.state = .recording
    #expect(second.state == .recording && mode.isShut)
    #expect(app.events.kinds == [.folderInUse])
  }

  @Test func `a closed instance lets the next one use the folder, and is disabled`() async {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "a")
    await mode.close()
    #expect(mode.state == .disabled)
    let next = second(.exclusive)
    #expect(next.state == .recording)
    next.state = .replaying
    #expect(next.process("live", "a") == "1")
  }

  @Test func `instances with folders of their own do not see each other`() async throws {
    let instances = (0..<3).map { _ in second(.perProcess) }
    for (number, mode) in instances.enumerated() {
      #expect(!mode.isShut)
      mode.state = .recording
      _ = mode.process("\(number)", "a")
    }
    for (number, mode) in instances.enumerated() {
      mode.state = .replaying
      #expect(mode.process("live", "a") == "\(number)")
      await mode.close()
    }
    #expect(second(.perProcess).process("live", "a") == "0")
    #expect(app.events.all.isEmpty)
  }

  @Test(.timeLimit(.minutes(5)), arguments: [false, true])
  func `two processes never mix their bytes`(isPerProcess: Bool) async throws {
    let folder = app.storage.path
    for round in 0..<5 {
      await withTaskGroup(of: Void.self) { group in
        for writer in 1...2 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [folder = folder as String, writer = writer as Int, isPerProcess = isPerProcess as Bool] in
              var configuration = SnapshotMode.Configuration()
              configuration.sharing = isPerProcess ? .perProcess : .exclusive
              let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
              mode.state = .recording
              let data = Data(repeating: UInt8(writer), count: 3000)
              for call in 0..<2000 {
                _ = mode.process(data: data, uniqueIdentifier: "\(writer) \(call % 200)")
              }
              await mode.close()
            }
          }
        }
      }
      let recordings = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.contains("recordings/")
      }
      #expect(recordings.count >= 200, "\(round)")
      for path in recordings {
        let name = try #require(RecordingName(fileName: String(path.split(separator: "/").last ?? "")))
        let writer = try #require(name.identifier?.first?.wholeNumberValue)
        let data = try Data(contentsOf: URL(filePath: folder).appending(path: path))
        #expect(data == Data(repeating: UInt8(writer), count: 3000), "\(path)")
      }
    }
  }
}

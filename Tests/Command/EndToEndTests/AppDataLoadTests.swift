import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Many files, large files, and a command that is killed.
@Suite struct AppDataLoadTests {
  private static let size = 3000

  @Test func `a killed preload leaves each file old or new, and the next one completes it`()
    async throws
  {
    let fixture = try AppDataFixture([:])
    let (old, new) = (String(repeating: "o", count: Self.size), String(repeating: "n", count: Self.size))
    let names = (1000..<2000).map { "Documents/\($0 % 10)/\($0)" }.sorted()
    for name in names {
      try fixture.write(new, to: name)
      try fixture.folder.write(Data(old.utf8), to: "container/" + name)
    }
    let process = try ChildProcess(
      Product.path, ["preload", fixture.bundle.path, "--into", fixture.container.path])
    // The first file is already replaced while the others are still old.
    while process.isRunning, try fixture.text(names[0]) == old {}
    process.signal(SIGKILL)
    _ = await process.waitForEnd()
    var texts: [String?] = []
    for name in names { texts.append(try fixture.text(name)) }
    #expect(texts.allSatisfy { $0 == old || $0 == new })
    #expect(texts.first == new)
    #expect(texts.last == old)

    let again = try await Product.run(["preload", fixture.bundle.path, "--into", fixture.container.path])
    let count = texts.count { $0 == new }
    #expect(
      again.text.hasPrefix("0 created, \(names.count - count) replaced, \(count) unchanged; "),
      "\(again.text)")
    for name in names { #expect(try fixture.text(name) == new) }
    #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
  }

  @Test func `ten thousand files are preloaded from a bundle and from a snapshot`() async throws {
    let fixture = try AppDataFixture([:], in: .forManyFiles(bytes: 256 << 20))
    for number in 0..<10_000 {
      try fixture.write("\(number)", to: "Documents/\(number % 100)/\(number).json")
    }
    let zip = fixture.folder.file("a.zip").path
    let pack = try await Product.run(["pack", fixture.bundle.path, "--xcappdata", "--output", zip])
    #expect(pack.status == 0, "\(pack.errors)")
    let paths = try AppDataFixture.paths(fixture.source(""))
    for (source, name) in [(fixture.bundle.path, "container"), (zip, "second")] {
      let container = fixture.folder.file(name)
      let outcome = try await Product.run(["preload", source, "--into", container.path])
      #expect(
        outcome.lines == ["10000 created, 0 replaced, 0 unchanged; 38.9 kB written"], "\(outcome.errors)")
      let text = try String(contentsOf: container.appending(path: "Documents/7/9907.json"), encoding: .utf8)
      #expect(text == "9907")
      #expect(try AppDataFixture.paths(container) == paths)
      let again = try await Product.run(["preload", source, "--into", container.path])
      #expect(again.lines == ["0 created, 0 replaced, 10000 unchanged; 0 B written"])
    }
  }

  #if os(Linux)
    @Test(.disabled(if: Sanitizer.isActive, "its memory is not the product's"))
    func `a large file needs no more memory than a small one`() async throws {
      let fixture = try AppDataFixture(["Documents/small": "s"])
      let size: Int64 = 256 << 20
      let large = try File(fixture.source("Documents/large").path, .create(mode: 0o644))
      try large.truncate(to: size)
      try large.write([1, 2, 3], at: size / 2)
      // The shell limits the process's additional memory to half of the file's size.
      let script = "ulimit -d \(size / 2 / 1024) && exec \"$0\" \"$@\""
      for expected in ["2 created, 0 replaced, 0 unchanged", "0 created, 0 replaced, 2 unchanged"] {
        let outcome = try await Tool.run(
          "bash",
          ["-c", script, Product.path, "preload", fixture.bundle.path, "--into", fixture.container.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.hasPrefix(expected), "\(outcome.text)")
      }
      let copy = try File(fixture.container.appending(path: "Documents/large").path)
      #expect(try copy.size == size)
      #expect(try copy.read(upTo: 4, at: size / 2) == [1, 2, 3, 0])
    }
  #endif
}

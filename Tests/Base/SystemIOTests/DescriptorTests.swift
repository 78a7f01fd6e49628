import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct DescriptorTests {
  #if DEBUG
    @Test func `a second owner of a descriptor ends a debug build`() async {
      await #expect(processExitsWith: .failure) {
        let descriptor = try Descriptor("open") { open("/dev/null", O_RDONLY | O_CLOEXEC) }
        _ = Descriptor(taking: descriptor.number)
      }
    }
  #endif

  @Test func `a descriptor is closed at the end of its owner's lifetime, unless it was released`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let reading = Descriptor(taking: ends[0])
    let writing = Descriptor(taking: ends[1]).release()
    var byte: UInt8 = 7
    #expect(write(writing, &byte, 1) == 1)
    #expect(read(reading.number, &byte, 1) == 1)
    // The reader sees the end of the pipe when the only writer is closed.
    _ = Descriptor(taking: writing)
    #expect(read(reading.number, &byte, 1) == 0)
  }

  @Test func `a failed call throws an error with its name, and closes nothing`() {
    #expect(throws: SystemError(operation: "open", path: "/nothing", code: ENOENT)) {
      _ = try Descriptor("open", "/nothing") { open("/nothing", O_RDONLY) }.number
    }
  }

  @Test func `only a descriptor's owner calls close`() throws {
    let root = PackageFolder.url()
    // Matches `close` of a number, but no method or label of that name, and no reference to the function.
    let call = #/(^|[^.\w])((Glibc|Darwin)\.)?close\(([\w.\[\]]+)\)[^"]*$/#
    var closing: [String] = []
    for folder in ["Sources", "Tests"] {
      let files = FileManager.default.enumerator(
        at: root.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        where line.contains(call) {
          closing.append("\(file.lastPathComponent): \(line.drop { $0 == " " })")
        }
      }
    }
    #expect(closing == ["Descriptor.swift: let result = close(number)"])
  }
}

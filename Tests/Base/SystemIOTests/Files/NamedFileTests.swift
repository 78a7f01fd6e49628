import Foundation
import SystemIO
import TestSupport
import Testing

/// Small files that a person names.
@Suite struct NamedFileTests {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private func path(_ name: String) -> String { temporary.file(name).path }

  private func failure(_ path: String, limit: Int = 10) -> NamedFile.Failure? {
    do throws(NamedFile.Failure) { _ = try NamedFile.read(path, limit: limit) } catch { return error }
    return nil
  }

  @Test func `a file is read, also through a link`() throws {
    try temporary.write(Data([1, 2, 3]), to: "file")
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "file")
    for name in ["file", "link"] { #expect(try NamedFile.read(path(name), limit: 3) == [1, 2, 3]) }
    #expect(failure(path("link"), limit: 2) == .tooLong(limit: 2))
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `nothing but a regular file is read, and no writer of a pipe is waited for`() throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "pipe")
    for name in [path("pipe"), path("link"), "/dev/zero"] { #expect(failure(name) == .notRegular) }
    #expect(failure(temporary.path) == .folder)
    try FileManager.default.createSymbolicLink(atPath: path("broken"), withDestinationPath: "nowhere")
    for name in ["none", "broken"] { #expect(failure(path(name)) == .missing) }
    for reason in [NamedFile.Failure.missing, .folder, .notRegular, .tooLong(limit: 1)] {
      #expect(!"\(reason)".contains("errno") && "\(reason)".contains(" "))
    }
  }
}

import Foundation
import SnapshotFormat
import SystemIO

/// A test that replays a snapshot and fails until its expectation is written.
struct WrittenTest {
  /// The maximum number of recordings, of modules and of lines of the note that its comment lists.
  static let listed = 20
  /// The maximum number of characters of a line that comes from the snapshot.
  static let lineLength = 200

  /// What the package needs for the test.
  static let requirement =
    "The target of the test needs the product SnapshotReplay, and exclude: [\"\(TestName.fixtures)\"] in Package.swift."

  let name: TestName
  let manifest: Manifest

  /// The command that runs the test.
  var command: String { "swift test --filter \(name.type)" }

  // MARK: - Writing

  /// Writes a copy of `fixture` and the test file into `folder`. Throws if one of them exists; then, and if the disk fails,
  /// neither is written.
  func write(fixture: URL, into folder: URL) throws(CommandFailure) {
    let fixtures = folder.appending(path: TestName.fixtures).path
    let (zip, test) = (folder.appending(path: name.fixture).path, folder.appending(path: name.file).path)
    for path in [zip, test] { try Self.checkFree(path) }
    let hadFolder = Folder.isFolder(fixtures)
    let staged = "\(fixtures)/.\(SnapshotID()).staged"
    do {
      try Folder.create(fixtures, mode: 0o755)
      defer { TemporaryPaths.forget(staged) }
      do {
        try copy(fixture, to: staged)
        try Folder.publish(staged, as: zip)
        do { try write(to: test) } catch {
          try Folder.removeIfPresent(zip)
          throw error
        }
      } catch {
        try Folder.removeIfPresent(staged)
        if !hadFolder, try Folder.entries(fixtures).isEmpty { try Folder.remove(fixtures) }
        throw error
      }
    } catch {
      throw CommandFailure("The test can't be written: \(error)")
    }
  }

  private static func checkFree(_ path: String) throws(CommandFailure) {
    let isTaken: Bool
    do { isTaken = try Folder.exists(path) } catch {
      throw CommandFailure("Cannot check the path \(path): \(error)")
    }
    guard !isTaken else {
      throw CommandFailure("\(path) exists already; pass another --name.", status: .refused)
    }
  }

  private func copy(_ fixture: URL, to staged: String) throws(SystemError) {
    let source = try File(fixture.path)
    let copy = try TemporaryPaths.create(staged) { () throws(SystemError) in
      try File(staged, .create(mode: 0o644))
    }
    var offset: Int64 = 0
    while true {
      let piece = try source.read(upTo: 1 << 20, at: offset)
      if piece.isEmpty { break }
      try copy.write(piece, at: offset)
      offset += Int64(piece.count)
    }
    try copy.synchronize()
  }

  private func write(to path: String) throws(SystemError) {
    let file = try TemporaryPaths.create(path) { () throws(SystemError) in
      try File(path, .create(mode: 0o644))
    }
    defer { TemporaryPaths.forget(path) }
    do { try file.write(Array(text.utf8), at: 0) } catch {
      try Folder.removeIfPresent(path)
      throw error
    }
  }

  // MARK: - Text

  /// The contents of the test file.
  var text: String {
    """
    import DataSnapshots
    import SnapshotReplay
    import Testing

    \(comment.map { $0.isEmpty ? "//" : "// \($0)" }.joined(separator: "\n"))

    struct \(name.type) {
      @Test("\(name.text)", .replaying("\(name.text)")) func showsWhatWasExpected() async throws {
        let mode = try #require(SnapshotMode.current)
        // Let the app work with `mode`: pass its data through `mode.process`, make its session with
        // `URLSession(configuration: mode.record(.ephemeral))` (import SnapshotURLSession), and take dates from `mode.now`.
        _ = mode
        Issue.record("Expect here what \(name.text) should have shown.")
      }
    }

    """
  }

  private var comment: [String] {
    let device = manifest.device
    let surroundings = [
      device.model, "\(device.system) \(device.systemVersion)", manifest.locale ?? device.locale,
      manifest.timeZone ?? "unknown time zone",
    ]
    let app = manifest.application
    var lines = [
      "Written by `snapshot test` from the snapshot \(manifest.id)\(manifest.report.map { " of \($0)" } ?? "").",
      Self.line("\(app.identifier) \(app.version) (\(app.build)) on \(surroundings.joined(separator: ", "))"),
    ]
    if let span = manifest.span {
      lines.append(
        "Recorded from \(SnapshotJSON.text(of: span.from)) to \(SnapshotJSON.text(of: span.to)).")
    }
    if let note = manifest.note, !note.isEmpty {
      lines += ["", "The user wrote:"] + Self.list(note.split(whereSeparator: \.isNewline).map(String.init))
    }
    if !manifest.modules.isEmpty {
      let recorded = Set(manifest.recordings.map(\.identifier))
      lines += ["", "Modules:"]
      lines += Self.list(
        manifest.modules.map { module in
          "\(module.name): \(module.files.filter(recorded.contains).count) of \(module.files.count) recorded"
        })
    }
    if !manifest.recordings.isEmpty { lines += ["", "Recorded:"] + Self.list(recordings) }
    return lines
  }

  /// The identifiers in the order in which they were first recorded, with the number of calls.
  private var recordings: [String] {
    var order: [String] = []
    var calls: [String: [Manifest.Recording]] = [:]
    for recording in manifest.recordings.sorted(by: { $0.recordedAt < $1.recordedAt }) {
      if calls[recording.identifier] == nil { order.append(recording.identifier) }
      calls[recording.identifier, default: []].append(recording)
    }
    return order.map { identifier in
      let all = calls[identifier] ?? []
      var answers = all.compactMap { recording in
        recording.exchange.map { exchange in exchange.response.map { "\($0.status)" } ?? "failed" }
      }
      if answers.count > 5 { answers = answers.prefix(5) + ["…"] }
      let number = all.count > 1 ? ["\(all.count) calls"] : []
      return ([identifier] + number + answers).joined(separator: ", ")
    }
  }

  private static func list(_ texts: [String]) -> [String] {
    let rest = texts.count - listed
    return texts.prefix(listed).map { "  " + line($0) } + (rest > 0 ? ["  … and \(rest) more"] : [])
  }

  /// A text from the snapshot on one line. It can't end the comment.
  private static func line(_ text: String) -> String {
    let line = Console.escaped(text)
    return line.count > lineLength ? line.prefix(lineLength) + "…" : line
  }
}

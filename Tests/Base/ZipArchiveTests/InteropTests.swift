import Foundation
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// An installed archive program.
enum Archiver: String {
  case unzip, zipinfo, python3, bsdtar, zip, sh

  var isInstalled: Bool { Tool.find(rawValue) != nil }

  /// Runs the program in `folder` until it ends. Returns its output and exit status.
  func run(_ arguments: [String], in folder: URL) async throws -> (output: String, status: Int32) {
    let outcome = try await Tool.run(
      rawValue, arguments, environment: ["LC_ALL": "C.UTF-8"], folder: folder)
    return (outcome.text + outcome.errors, outcome.status)
  }
}

/// Exchanges archives with common archive programs in both directions.
@Suite struct InteropTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let contents: [(name: String, bytes: [UInt8])] = [
    ("folder/", []),
    ("folder/😀 smile.txt", Array(String(repeating: "smile ", count: 5000).utf8)),
    ("folder/with some spaces", Array("x".utf8)),
    ("日本語/ファイル.json", Array(#"{"a": [1, 2, 3]}"#.utf8)),
    ("long/" + String(repeating: "n", count: 200), [1, 2, 3]),
    ("empty", []),
    ("noise", (0..<5000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }),
  ]

  private enum Kind: CaseIterable { case odd, thousands, empty }

  /// Writes an archive and returns its path.
  private func write(_ kind: Kind) throws -> String {
    let path = folder.path + "/\(kind).zip"
    let writer = try ZipWriter(File(path, .create(mode: 0o600)))
    switch kind {
    case .odd: for entry in Self.contents { try writer.add(entry.name, bytes: entry.bytes) }
    case .thousands:
      for index in 0..<3000 { try writer.add("\(index % 7)/\(index)", bytes: Array("\(index)".utf8)) }
    case .empty: break
    }
    try writer.finish()
    return path
  }

  @Test(.enabled(if: Archiver.unzip.isInstalled, "unzip isn't installed"))
  func `unzip reads written archives`() async throws {
    for kind in [Kind.odd, .thousands] {
      let (output, status) = try await Archiver.unzip.run(["-t", write(kind)], in: folder.url)
      #expect(status == 0 && output.contains("No errors detected"), "\(output.suffix(500))")
    }
  }

  @Test(.enabled(if: Archiver.zipinfo.isInstalled, "zipinfo isn't installed"))
  func `zipinfo lists the written names`() async throws {
    let (output, status) = try await Archiver.zipinfo.run(["-1", write(.odd)], in: folder.url)
    #expect(status == 0)
    #expect(output.split(separator: "\n").map(String.init) == Self.contents.map(\.name))
  }

  @Test(.enabled(if: Archiver.bsdtar.isInstalled, "bsdtar isn't installed"))
  func `bsdtar unpacks written archives`() async throws {
    let path = try write(.odd)
    let target = folder.file("unpacked")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    let (output, status) = try await Archiver.bsdtar.run(["-xf", path], in: target)
    #expect(status == 0, "\(output)")
    for entry in Self.contents where !entry.name.hasSuffix("/") {
      #expect(try Data(contentsOf: target.appending(path: entry.name)) == Data(entry.bytes))
    }
    #expect(try await Archiver.bsdtar.run(["-tf", write(.empty)], in: folder.url).status == 0)
  }

  @Test(.enabled(if: Archiver.python3.isInstalled, "python3 isn't installed"))
  func `Python reads written archives`() async throws {
    let script = """
      import sys, zipfile
      for path in sys.argv[1:]:
          with zipfile.ZipFile(path) as archive:
              assert archive.testzip() is None
              print(len(archive.namelist()))
      """
    let paths = try Kind.allCases.map(write)
    let (output, status) = try await Archiver.python3.run(["-c", script] + paths, in: folder.url)
    #expect(status == 0)
    #expect(output == "\(Self.contents.count)\n3000\n0\n")
  }

  /// An archive, and the results of Python and unzip.
  private func extractions(of bytes: [UInt8]) async throws -> [[String: Data]] {
    let name = "\(UInt64.random(in: 0 ... .max))"
    try folder.write(Data(bytes), to: name + ".zip")
    var found: [[String: Data]] = []
    for (tool, arguments) in [
      (Archiver.python3, ["-m", "zipfile", "-e", "../\(name).zip", "."]),
      (.unzip, ["-q", "-o", "../\(name).zip"]),
    ] {
      let target = folder.file("\(tool)-\(name)")
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      let (output, status) = try await tool.run(arguments, in: target)
      #expect(status == 0, "\(output)")
      var files: [String: Data] = [:]
      for path in try FileManager.default.subpathsOfDirectory(atPath: target.path) {
        let file = target.appending(path: path)
        if Folder.isRegularFile(file.path) { files[path] = try Data(contentsOf: file) }
      }
      found.append(files)
    }
    return found
  }

  @Test(
    .enabled(
      if: Archiver.unzip.isInstalled && Archiver.python3.isInstalled, "unzip or python3 isn't installed"))
  func `Python and unzip agree on archives that the strict profile accepts, not on others`() async throws {
    typealias Entry = ArchiveBuilder.Entry
    let name = "recordings/a"
    let field = ArchiveBuilder.unicodePath(name, for: Array(name.utf8))
    let time = ArchiveBuilder.extra(0x5455, [1, 0, 0, 0, 0])
    let good = ArchiveBuilder(
      Entry("recordings/", []).with { $0.attributes = 0o040755 << 16 | 0x10 },
      Entry(name).with { ($0.flags, $0.centralExtra, $0.localExtra) = (0, field + time, field) },
      Entry("attachments/é 😀?"), Entry("attachments/empty", []))
    let reader = try open(good.bytes, profile: .strict, in: folder)
    var checked: [String: Data] = [:]
    for entry in reader.entries where !entry.isFolder {
      checked[entry.name] = Data(try reader.contents(of: entry, upTo: 100))
    }
    #expect(try await extractions(of: good.bytes) == [checked, checked])

    // Different readers use different names: Python the one in the header, unzip the one in the extra field.
    let two = ArchiveBuilder.unicodePath("recordings/ä", for: Array(name.utf8))
    let bad = ArchiveBuilder(Entry(name).with { ($0.flags, $0.centralExtra, $0.localExtra) = (0, two, two) })
    let readings = try await extractions(of: bad.bytes)
    #expect(readings.first?.keys.sorted() == [name])
    #expect(try open(bad.bytes, in: folder).entries.map(\.name) == ["recordings/ä"])
    #expect(try refusal(of: bad, profile: .strict, in: folder)?.reason == .name(.otherUnicodePath))
  }

  /// The error of the strict profile for the archive at `path`.
  private func strictRefusal(_ path: String) throws -> ZipError? {
    do {
      try ZipReader(File(folder.path + "/" + path), profile: .strict).verify()
      return nil
    } catch let error as ZipError {
      return error
    }
  }

  /// Commands that zip the current folder, and the error of the strict profile for each result.
  private static let commands: [(tool: String, command: String, reason: ZipError.Reason?)] = [
    ("zip", "zip -q -r $zip *", nil),
    ("zip", "zip -q -X -D -0 -r $zip *", nil),
    ("zip", "rm e; zip -q -r - * | cat > $zip", nil),
    // An empty file is stored with a data descriptor.
    ("zip", "zip -q -r - * | cat > $zip", .storedWithDescriptor),
    ("zip", "mv e é; zip -q -r $zip *", .name(.unmarkedUnicode)),
    ("bsdtar", "mv e é; bsdtar -a -cf $zip *", nil),
    ("bsdtar", "bsdtar -a --options zip:compression=store -cf $zip *", .storedWithDescriptor),
    ("python3", "mv e é; python3 -m zipfile -c $zip *", nil),
    ("jar", "mv e é; jar -cMf $zip *", nil),
  ]

  @Test(arguments: commands.indices)
  func `archives of common programs pass the strict profile or are rejected for a known reason`(index: Int)
    async throws
  {
    let (tool, command, reason) = Self.commands[index]
    guard Tool.find(tool) != nil else { return }
    for (name, text) in [("d/deflated", String(repeating: "text ", count: 100)), ("d/s", "s"), ("e", "")] {
      try folder.write(Data(text.utf8), to: "tree/" + name)
    }
    let script = "zip=../made.zip; " + command
    let (output, status) = try await Archiver.sh.run(["-c", script], in: folder.file("tree"))
    #expect(status == 0, "\(output)")
    #expect(try strictRefusal("made.zip")?.reason == reason, "\(command)")
  }

  /// Writes the contents as files below a folder.
  private func makeTree() throws -> URL {
    for entry in Self.contents where !entry.name.hasSuffix("/") {
      try folder.write(Data(entry.bytes), to: "tree/" + entry.name)
    }
    return folder.file("tree")
  }

  /// Whether the archive at `path` has the expected contents.
  private func expectContents(_ path: String) throws {
    let reader = try ZipReader(File(path))
    for entry in Self.contents where !entry.name.hasSuffix("/") {
      let found = try #require(reader.entry(named: entry.name), "\(entry.name)")
      #expect(try reader.contents(of: found, upTo: 100_000) == entry.bytes)
    }
    try reader.verify()
  }

  @Test(.enabled(if: Archiver.zip.isInstalled, "zip isn't installed"))
  func `archives of zip are read, written to a file or a pipe`() async throws {
    let tree = try makeTree()
    let (output, status) = try await Archiver.zip.run(["-q", "-r", folder.path + "/a.zip", "."], in: tree)
    #expect(status == 0, "\(output)")
    try expectContents(folder.path + "/a.zip")
    try FileManager.default.createDirectory(at: folder.file("piped"), withIntermediateDirectories: true)
    let piped = try await Archiver.sh.run(["-c", "zip -q -r - . | cat > ../piped/b.zip"], in: tree)
    #expect(piped.status == 0, "\(piped.output)")
    try expectContents(folder.path + "/piped/b.zip")
  }

  @Test(.enabled(if: Archiver.bsdtar.isInstalled, "bsdtar isn't installed"))
  func `archives of bsdtar are read`() async throws {
    let names = ["folder", "日本語", "long", "empty", "noise"]
    let (output, status) = try await Archiver.bsdtar.run(
      ["-a", "-cf", folder.path + "/a.zip"] + names, in: makeTree())
    #expect(status == 0, "\(output)")
    try expectContents(folder.path + "/a.zip")
  }

  @Test(.enabled(if: Archiver.python3.isInstalled, "python3 isn't installed"))
  func `archives of Python are read, written to a file or a pipe, with and without ZIP64`() async throws {
    let script = """
      import os, sys, zipfile
      class Pipe:
          def __init__(self, file): self.file = file
          def write(self, bytes): return self.file.write(bytes)
          def flush(self): self.file.flush()
      def fill(archive, wide):
          for root, _, names in sorted(os.walk(".")):
              for name in sorted(names):
                  path = os.path.relpath(os.path.join(root, name))
                  with open(path, "rb") as source, archive.open(path, "w", force_zip64=wide) as target:
                      target.write(source.read())
      for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
          for wide in (False, True):
              with zipfile.ZipFile(f"../file-{method}-{wide}.zip", "w", method) as archive: fill(archive, wide)
              with open(f"../pipe-{method}-{wide}.zip", "wb") as file:
                  with zipfile.ZipFile(Pipe(file), "w", method) as archive: fill(archive, wide)
      with zipfile.ZipFile("../empty.zip", "w"): pass
      """
    let (output, status) = try await Archiver.python3.run(["-c", script], in: makeTree())
    #expect(status == 0, "\(output)")
    for kind in ["file", "pipe"] {
      for method in [0, 8] {
        for wide in ["False", "True"] { try expectContents(folder.path + "/\(kind)-\(method)-\(wide).zip") }
      }
    }
    #expect(try ZipReader(File(folder.path + "/empty.zip")).entries.isEmpty)
  }
}

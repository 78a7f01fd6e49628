import Foundation

/// Packs the folder of a snapshot, 500 files of JSON, 60 MB, and the manifest, at level 6: by `snapshot pack`, which
/// also hashes them, and by others, on all cores.
extension Bench {
  mutating func measureZip() throws {
    let folder = try makeSnapshotFolder()
    let (ours, snapshot) = ("snapshot pack", options.tools.snapshot)
    let programs: [(name: String, make: (String) -> Launch)] = [
      (ours, { Launch(snapshot, ["pack", folder, "--output", $0]) }),
      ("Info-ZIP", { Launch("sh", ["-c", "cd '\(folder)' && zip -6 -q -r '\($0)' ."]) }),
      ("Python", { Launch("python3", ["-m", "zipfile", "-c", $0, folder]) }),
      ("bsdtar", { Launch("bsdtar", ["--format", "zip", "-cf", $0, "-C", folder, "."]) }),
    ]
    var results: [String: Samples] = [:]
    for _ in 0..<min(3, effort.rounds) {
      for program in programs {
        let archive = "\(options.work)/archive.zip"
        let seconds = try ChildProcess.run(program.make(archive), log: "\(options.work)/zip.log")
        let megabytes = Double(try Payload.size(ofFile: archive)) / 1e6
        results[program.name, default: [:]].add([.seconds: seconds, .megabytes: megabytes])
        try FileManager.default.removeItem(atPath: archive)
      }
    }
    try checkThatCoresDoNotMatter(folder)
    let work = "zip of 500 JSON files, 60 MB"
    report.rows.append(Row(work, .seconds, ours: ours, results, [.of(.infoZip, 0.5)]))
    report.rows.append(Row(work, .megabytes, ours: ours, results, [.of(.infoZip, 1.0)]))
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Makes the folder of a snapshot with the files as its recordings.
  private func makeSnapshotFolder() throws -> String {
    let (files, folder, log) = ("\(options.work)/json", "\(options.work)/snapshot", "\(options.work)/zip.log")
    for path in [files, folder] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    for index in 0..<500 {
      let text = JSONText(seed: UInt64(index)).make(120_000)
      try Data(text).write(to: URL(filePath: "\(files)/\(index).json"))
    }
    let first = "\(options.work)/first.zip"
    _ = try ChildProcess.run(Launch(options.tools.snapshot, ["pack", files, "--output", first]), log: log)
    _ = try ChildProcess.run(Launch("bsdtar", ["-xf", first, "-C", folder]), log: log)
    try FileManager.default.removeItem(atPath: files)
    return folder
  }

  /// Checks that one core and all cores produce the same bytes.
  private func checkThatCoresDoNotMatter(_ folder: String) throws {
    var archives: [Data] = []
    for core in [0, Cores.all] {
      let archive = "\(options.work)/core\(core).zip"
      _ = try ChildProcess.run(
        Launch(options.tools.snapshot, ["pack", folder, "--output", archive]), core: core,
        log: "\(options.work)/zip.log")
      archives.append(try Data(contentsOf: URL(filePath: archive)))
    }
    guard archives[0] == archives[1] else {
      throw Failure("the archive of one core differs from that of all cores")
    }
  }
}

import Foundation
import Repositories
import TestSupport
import Testing

@Suite struct FormerDatabaseCleanerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ names: String...) throws {
    for (index, name) in names.enumerated() { try folder.write(Data(count: 10 * (index + 1)), to: name) }
  }

  /// All paths in the folder, including links.
  private var left: [String] {
    get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() }
  }

  private func cleaner(_ patterns: String...) throws -> FormerDatabaseCleaner {
    try FormerDatabaseCleaner(folder: folder.url, patterns: patterns)
  }

  @Test func `only matching files are removed, with their bytes in the report`() throws {
    try write(
      "Model.sqlite", "Model.sqlite-wal", "Model.sqlite-shm", "Model.sqlite.txt", "user.json",
      "a/Model.sqlite")
    let cleaner = try cleaner("Model.sqlite", "Model.sqlite-*")
    #expect(cleaner.find().map(\.path) == ["Model.sqlite", "Model.sqlite-shm", "Model.sqlite-wal"])
    let report = cleaner.clean()
    #expect(report.removed.map(\.path) == ["Model.sqlite", "Model.sqlite-shm", "Model.sqlite-wal"])
    #expect(report.removed.map(\.bytes) == [10, 30, 20])
    #expect(report.bytes == 60)
    #expect(report.failures.isEmpty)
    #expect(report.description.contains("removed Model.sqlite-wal: 20 bytes"))
    #expect(try left == ["Model.sqlite.txt", "a", "a/Model.sqlite", "user.json"])
  }

  @Test(arguments: [true, false])
  func `all files of a Realm database are removed, with their bytes`(isManagementFolder: Bool) throws {
    try write(
      "default.realm", "default.realm.lock", "default.realm.note", "default.realm.log_a",
      "default.realm.log_b",
      isManagementFolder
        ? "default.realm.management/access_control.control.mx" : "default.realm.management",
      "default.realm.backup", "default.realmx", "other.realm", "default.realm.log_c")
    let cleaner = try FormerDatabaseCleaner(folder: folder.url, patterns: FormerDatabaseCleaner.realm())
    let report = cleaner.clean()
    #expect(report.removed.count == 6)
    #expect(report.bytes == 10 + 20 + 30 + 40 + 50 + 60)
    #expect(report.failures.isEmpty)
    #expect(report.description.hasSuffix("210 bytes in total"))
    #expect(try left == ["default.realm.backup", "default.realm.log_c", "default.realmx", "other.realm"])
    #expect(cleaner.clean().bytes == 0)
  }

  @Test func `the pipes of a database are removed like its files`() throws {
    try write("default.realm", "default.realm.management/access_control.control.mx")
    for pipe in ["default.realm.note", "default.realm.management/access_control.pick_writer.cv"] {
      try #require(mkfifo(folder.file(pipe).path, 0o600) == 0)
    }
    let cleaner = try FormerDatabaseCleaner(folder: folder.url, patterns: FormerDatabaseCleaner.realm())
    let report = cleaner.clean()
    #expect(report.removed.count == 4 && report.bytes == 30 && report.failures.isEmpty)
    #expect(try left.isEmpty)
  }

  @Test func `a second call finds nothing to remove`() throws {
    try write("x.realm", "x.realm.management/a")
    let cleaner = try FormerDatabaseCleaner(folder: folder.url, patterns: FormerDatabaseCleaner.realm("x"))
    #expect(cleaner.clean().removed.count == 2)
    let again = cleaner.clean()
    #expect(again.removed.isEmpty && again.failures.isEmpty)
    #expect(try left.isEmpty)
  }

  @Test func `a missing folder contains nothing`() throws {
    let cleaner = try FormerDatabaseCleaner(folder: folder.file("absent"), patterns: ["*.db"])
    let again = cleaner.clean()
    #expect(again.removed.isEmpty && again.failures.isEmpty)
  }

  @Test func `patterns do not match across folders`() throws {
    try write("a/x.db", "a/b/x.db", "x.db", ".hidden.db", "ab/y.db")
    #expect(try cleaner("a/*.db").clean().removed.map(\.path) == ["a/x.db"])
    #expect(try cleaner("a?/*.db").clean().removed.map(\.path) == ["ab/y.db"])
    #expect(try cleaner("*.db").clean().removed.map(\.path) == ["x.db"])
    #expect(try cleaner(".*.db").clean().removed.map(\.path) == [".hidden.db"])
    #expect(try left == ["a", "a/b", "a/b/x.db", "ab"])
  }

  @Test func `a folder is removed with its contents, and only if a pattern means a folder`() throws {
    try write("old.db/one", "old.db/deep/two", "old.db/.three", "new.db")
    #expect(try cleaner("*.db").clean().removed.map(\.path) == ["new.db"])
    #expect(
      try cleaner("*.db/").clean().removed.map(\.path) == ["old.db/.three", "old.db/deep/two", "old.db/one"])
    #expect(try left.isEmpty)
  }

  @Test func `links are neither followed nor removed`() throws {
    let outside = try TemporaryFolder()
    try outside.write(Data("precious".utf8), to: "x.db")
    try write("old/real.db")
    for (link, target) in [
      ("link", outside.path), ("x.db", outside.file("x.db").path), ("old/link", outside.path),
    ] {
      try FileManager.default.createSymbolicLink(atPath: folder.file(link).path, withDestinationPath: target)
    }
    let report = try cleaner("*.db", "link/*.db", "link/", "old/").clean()
    #expect(report.removed.map(\.path) == ["old/real.db"])
    #expect(Array(report.failures.keys) == ["old"])
    #expect(try left == ["link", "old", "old/link", "x.db"])
    #expect(try String(contentsOf: outside.file("x.db"), encoding: .utf8) == "precious")
  }

  @Test func `a file that matches several patterns is counted once`() throws {
    try write("d/x.db")
    #expect(try cleaner("d/*.db", "d/x.*", "d/").clean().bytes == 10)
  }

  @Test(arguments: [
    "", "/etc/passwd", "../x.db", "a/../x.db", "./x", "a//b", "*", "a/*", "**", "?", "*/", "/",
  ])
  func `an ambiguous pattern is rejected`(pattern: String) throws {
    let error = try #require(throws: FormerDatabaseCleaner.PatternError.self) { try cleaner(pattern) }
    #expect(error.pattern == pattern)
  }

  @Test(arguments: [
    ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false), ("*.db", ".db", false), ("x?", "x", false),
    ("x?", "xé", true), ("*a*", "bab", true), ("a*", "a", true), ("a.b", "axb", false), ("[ab]", "a", false),
  ]) func `wildcards match as documented`(pattern: String, name: String, isMatch: Bool) throws {
    try write(name)
    #expect(try cleaner(pattern).find().map(\.path) == (isMatch ? [name] : []))
  }

  @Test func `the files of common databases are known`() throws {
    try write(
      "Model.sqlite", "Model.sqlite-wal", "Model.sqlite-shm", "Model.store-wal",
      ".Model_SUPPORT/_EXTERNAL_DATA/1",
      "default.realm", "default.realm.lock", "default.realm.note", "default.realm.management/x",
      "Other.sqlite")
    let cleaner = try FormerDatabaseCleaner(
      folder: folder.url, patterns: FormerDatabaseCleaner.coreData("Model") + FormerDatabaseCleaner.realm())
    #expect(cleaner.clean().removed.count == 9)
    #expect(try left == ["Other.sqlite"])
  }
}

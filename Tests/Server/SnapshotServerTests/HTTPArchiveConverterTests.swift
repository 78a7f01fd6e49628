import Foundation
import Logging
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import SystemIO
import TestSupport
import Testing

@Suite struct HTTPArchiveConverterTests {
  private static let archive = Array(
    """
    {"log":{"version":"1.2","entries":[{"startedDateTime":"2026-03-01T10:00:01.000Z","time":1,
     "request":{"method":"GET","url":"https://example.com/feed","headers":[]},
     "response":{"status":200,"headers":[],"content":{"size":2,"mimeType":"text/plain","text":"ok"}}}]}}
    """.utf8)

  private let folder: TemporaryFolder
  private var path: String { folder.file("archives").path }

  init() throws { folder = try TemporaryFolder() }

  private func converter(limit: Int64 = HTTPArchiveConverter.maximumSize, reserve: Int64 = 0)
    -> HTTPArchiveConverter
  {
    HTTPArchiveConverter(in: path, reserve: reserve, limit: limit, logger: Logger(label: "test"))
  }

  /// Converts an archive that arrives in pieces of `pieceSize` bytes.
  private func convert(
    _ archive: [UInt8] = Self.archive, by converter: HTTPArchiveConverter, pieceSize: Int = 64
  ) async throws -> Manifest {
    var rest = archive[...]
    let next = try await converter.bundle(of: "shop.har", for: try #require(ReportID("BUG-1"))) {
      defer { rest = rest.dropFirst(pieceSize) }
      return rest.isEmpty ? nil : IOBuffer(rest.prefix(pieceSize))
    }
    var bundle = Data()
    while let piece = try await next() { bundle += piece.bytes }
    try folder.write(bundle, to: "bundle.zip")
    return try SnapshotBundle.validate(zip: folder.file("bundle.zip"), depth: .full)
  }

  @Test(arguments: [1, 7, 10_000]) func `an archive becomes a bundle, in pieces of any size`(pieceSize: Int)
    async throws
  {
    let manifest = try await convert(by: converter(), pieceSize: pieceSize)
    #expect(manifest.recordings.map(\.identifier) == ["GET https://example.com/feed"])
    #expect(manifest.report == ReportID("BUG-1") && manifest.application.identifier == "shop.har")
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `an archive that is larger than the limit is refused`() async throws {
    let size = Int64(Self.archive.count)
    for limit in [size, size + 1] { _ = try await convert(by: converter(limit: limit)) }
    await #expect(throws: ConversionRefusal.self) { _ = try await convert(by: converter(limit: size - 1)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `the reserve of the disk is kept`() async throws {
    await #expect {
      _ = try await convert(by: converter(reserve: 1 << 60))
    } throws: {
      if case StoreError.outOfSpace = $0 { true } else { false }
    }
  }

  @Test func `what is no archive is refused, and nothing remains`() async throws {
    let refusal = await #expect(throws: ConversionRefusal.self) {
      _ = try await convert(Array("[]".utf8), by: converter())
    }
    #expect(refusal?.reason.contains("shop.har is no HTTP archive") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
  }

  @Test func `what an interrupted conversion left is removed`() async throws {
    try folder.write(Data("secret".utf8), to: "archives/parts/0")
    try converter().removeRemains()
    #expect(!FileManager.default.fileExists(atPath: path))
    try converter().removeRemains()
  }
}

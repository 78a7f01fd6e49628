import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO
import ZipArchive

/// A file in a bundle, on its way to a client.
///
/// What is deflated in the bundle goes out as it lies there to whoever takes gzip, a head and an end built around it
/// (RFC 1952), so that it costs no more than any file. For others it is inflated, piece by piece as they take it.
struct BundledFile: Sendable {
  /// The bundle.
  let bundle: StoredBundle
  /// The file's entry.
  let entry: ZipEntry
  let limits: ServiceLimits
  /// Where it is inflated.
  let queue: DispatchQueue

  /// What is sent in answer to `request`, a `GET` or `HEAD`.
  func representation(for request: HTTPServerRequest) async throws -> Representation {
    // Ranges are of the bytes that the app recorded, not of those that they were deflated to.
    if entry.method == .deflate, request.headerFields[.range] == nil,
      AcceptedCodings(request.headerFields).prefers("gzip")
    {
      return zipped
    }
    guard entry.method == .deflate else { return describe(.parts([storedBytes])) }
    guard entry.size > limits.inflatedAtOnce else { return describe(.bytes(try await inflated())) }
    guard entry.size <= limits.inflatedFileBytes else {
      throw HTTPProblem.onlyCompressed(limit: limits.inflatedFileBytes)
    }
    var representation = describe(
      .made(size: entry.size) { range in
        let pieces = InflatedPieces(bundle.file, entry, range)
        return { try await queue.perform { () throws(any Error) in try pieces.next() } }
      })
    // To get at a range all that lies before it has to be inflated.
    representation.hasRanges = entry.size <= limits.rangedFileBytes
    return representation
  }

  private var zipped: Representation {
    var head: [UInt8] = [0x1F, 0x8B, 8]  // No flags, no time, no level, made on an unknown system.
    head += [0, 0, 0, 0, 0, 0, 0xFF]
    let end = Self.littleEndian(entry.crc32) + Self.littleEndian(UInt32(truncatingIfNeeded: entry.size))
    var representation = describe(.parts([.bytes(head), storedBytes, .bytes(end)]), tagEnd: "-gzip")
    representation.headerFields[.contentEncoding] = "gzip"
    representation.hasRanges = false
    return representation
  }

  /// The bytes as they lie in the bundle.
  private var storedBytes: HTTPServerResponse.Part {
    .file(bundle.file, offset: entry.dataOffset, count: entry.compressedSize)
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private func inflated() async throws -> [UInt8] {
    let (file, entry) = (bundle.file, entry)
    return try await queue.perform { () throws(any Error) in
      do {
        let contents = try ZipContents(file, entry)
        var bytes: [UInt8] = []
        while let piece = try contents.next() { bytes += piece }
        return bytes
      } catch let error as ZipError {
        throw StoreError(reading: error)
      }
    }
  }

  private func describe(_ content: Representation.Content, tagEnd: String = "") -> Representation {
    let type = FileType(path: entry.name)
    let fileName = entry.name.split(separator: "/").last.map(String.init)
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition(
        kind: type.isShown ? "inline" : "attachment", fileName: fileName
      ).fieldValue,
      // Should a browser show it after all: no script, no address, no part of any other page.
      .contentSecurityPolicy: "default-src 'none'; sandbox",
      .crossOriginResourcePolicy: "same-origin",
    ]
    if entry.method == .deflate { fields[.vary] = "Accept-Encoding" }
    // A bundle never changes, and where an entry begins is no other's: both together name just these bytes.
    let digest = bundle.record.sha256.description.prefix(32)
    return Representation(
      content, contentType: type.mediaType,
      entityTag: .strong("\(digest)-\(String(entry.dataOffset, radix: 16))\(tagEnd)"), headerFields: fields)
  }
}

extension StoreError {
  /// What a bundle that was in order when it came is now.
  init(reading error: ZipError) {
    if case .system(let cause) = error.reason { self = .system(cause) } else { self = .damaged }
  }
}

/// The bytes of a range of an entry, inflated when they are asked for.
private final class InflatedPieces: Sendable {
  private let file: File
  private let entry: ZipEntry
  private let range: Range<Int64>
  private let contents = Mutex<ZipContents?>(nil)

  init(_ file: File, _ entry: ZipEntry, _ range: Range<Int64>) {
    self.file = file
    self.entry = entry
    self.range = range
  }

  /// The next piece; `nil` once all came.
  func next() throws(StoreError) -> [UInt8]? {
    try contents.withLock { contents throws(StoreError) in
      do throws(ZipError) {
        if contents == nil { contents = try ZipContents(file, entry, range: range) }
        return try contents?.next()
      } catch {
        throw StoreError(reading: error)
      }
    }
  }
}

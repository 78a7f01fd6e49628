import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotStore
import SystemIO
package import ZipArchive

/// A file in a bundle that is sent to a client.
///
/// A deflated file is sent unchanged to clients that accept gzip, with a gzip header and trailer around its bytes (RFC
/// 1952). This costs no more than sending any file. For other clients it is inflated while it is sent.
struct BundledFile: Sendable {
  /// The bundle.
  let bundle: StoredBundle
  /// The file's entry.
  let entry: ZipEntry
  let limits: ServiceLimits
  /// The queue on which the file is inflated.
  let queue: DispatchQueue

  /// Returns the representation for `request`, which is a `GET` or `HEAD`.
  func representation(for request: HTTPServerRequest) async throws -> Representation {
    // Ranges refer to the recorded bytes, not to the deflated ones.
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
    return describe(
      .made(size: entry.size) { range in
        let pieces = InflatedPieces(bundle.file, entry, range)
        return { try await queue.perform { () throws(any Error) in try pieces.next() } }
      },
      // To send a range, all bytes before it must be inflated.
      hasRanges: entry.size <= limits.rangedFileBytes)
  }

  private var zipped: Representation {
    var head: [UInt8] = [0x1F, 0x8B, 8]  // no flags, no time, no level, unknown system
    head += [0, 0, 0, 0, 0, 0, 0xFF]
    let end = Self.littleEndian(entry.crc32) + Self.littleEndian(UInt32(truncatingIfNeeded: entry.size))
    return describe(.parts([.bytes(head), storedBytes, .bytes(end)]), coding: "gzip", hasRanges: false)
  }

  /// The bytes as stored in the bundle.
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

  /// - Parameter coding: the coding of `content` (RFC 9110 §8.4); `nil` if it has none.
  private func describe(
    _ content: Representation.Content, coding: String? = nil, hasRanges: Bool = true
  ) -> Representation {
    let type = FileType(path: entry.name)
    let fileName = PortableName.decode(path: entry.name).split(separator: "/").last.map(String.init)
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition(
        kind: type.isShown ? "inline" : "attachment", fileName: fileName
      ).fieldValue,
      // In case a browser shows it nevertheless: no scripts, no origin, no use in other pages.
      .contentSecurityPolicy: "default-src 'none'; sandbox",
      .crossOriginResourcePolicy: "same-origin",
    ]
    if entry.method == .deflate { fields[.vary] = "Accept-Encoding" }
    if let coding { fields[.contentEncoding] = coding }
    // A bundle never changes, and every entry has its own offset: together they identify the bytes.
    let digest = bundle.record.sha256.description.prefix(32)
    let tagEnd = coding.map { "-\($0)" } ?? ""
    return Representation(
      content, contentType: type.mediaType,
      entityTag: .strong("\(digest)-\(String(entry.dataOffset, radix: 16))\(tagEnd)"),
      hasRanges: hasRanges, headerFields: fields)
  }
}

extension StoreError {
  /// Converts an error in a bundle that was valid when it was attached.
  package init(reading error: ZipError) {
    if case .system(let cause) = error.reason { self = .system(cause) } else { self = .damaged }
  }
}

/// The bytes of a range of an entry, inflated on demand.
private final class InflatedPieces: Sendable {
  private let file: File
  private let entry: ZipEntry
  private let range: Range<Int64>
  private let contents = Lock<ZipContents?>(nil)

  init(_ file: File, _ entry: ZipEntry, _ range: Range<Int64>) {
    self.file = file
    self.entry = entry
    self.range = range
  }

  /// Returns the next piece, or `nil` after the last one.
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

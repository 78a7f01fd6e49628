public import SystemIO

/// The reason why a ZIP archive or one of its entries is rejected.
public struct ZipError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the entry with the error, if a single entry causes it.
  public let entry: String?
  /// The kind of error.
  public let reason: Reason

  /// Creates an error for the whole archive or for one entry.
  public init(_ reason: Reason, entry: String? = nil) {
    self.reason = reason
    self.entry = entry
  }

  /// The kinds of errors.
  public enum Reason: Sendable, Hashable {
    /// There is no end-of-central-directory record.
    case notAnArchive
    /// The file ends before the end of its declared contents.
    case truncated
    /// Bytes follow after the archive and its comment.
    case trailingBytes
    /// Several end-of-central-directory records are possible.
    case ambiguousEnd
    /// The archive is one part of a multi-part archive.
    case severalParts
    /// The ZIP64 end record is malformed or contradicts the plain one.
    case endRecordsDisagree
    /// The position, length or number of entries of the central directory contradicts the end record.
    case malformedDirectory
    /// The bytes at this offset belong to no entry and no record.
    case unaccountedBytes(at: Int64)
    /// The entry shares bytes with another entry or with the directory.
    case overlap
    /// The extra fields are truncated, repeat a field that can occur only once, or have invalid lengths.
    case malformedExtraField
    /// The name is not allowed.
    case name(NameProblem)
    /// Another entry has the same name, ignoring letter case and Unicode normalization.
    case duplicateName
    /// The name is that of a file and of a folder that contains another entry.
    case fileAndFolder
    /// An entry for a folder has contents.
    case folderWithContents
    /// There is no local header at the offset in the directory.
    case noLocalHeader
    /// The local header differs from the directory.
    case localHeaderDiffers(HeaderField)
    /// The data descriptor is missing or differs from the directory.
    case descriptorDiffers
    /// The entry is a link, a device or a socket.
    case specialFile
    /// According to its attributes the entry is a file and according to its name a folder, or the reverse.
    case kindDiffers
    /// The permissions contain the set-user-ID or set-group-ID bit.
    case setUserID
    /// The entry is stored without compression but has two different lengths.
    case storedSizesDiffer
    /// The entry is stored without compression and has a data descriptor, so the end of its contents is not known in
    /// advance.
    case storedWithDescriptor
    /// The extra field with this number is unknown.
    case unknownExtraField(UInt16)
    /// The archive or entry exceeds one of ``ZipLimits``.
    case limit(Limit)
    /// The entry is encrypted.
    case encrypted
    /// The entry uses an unsupported compression method or contains patched data.
    case unsupportedMethod(UInt16)
    /// The entry requires this version of the format, times ten (63 is 6.3).
    case unsupportedVersion(UInt8)
    /// The compressed data is not a valid deflate stream, or does not end at the end of the entry.
    case corruptData
    /// The uncompressed size differs from the declared size.
    case sizeDiffers
    /// The CRC-32 of the contents differs from the declared one.
    case checksumDiffers
    /// The entry has more bytes than the caller accepts.
    case larger(than: Int)
    /// The source isn't a regular file.
    case notARegularFile
    /// The source became shorter while it was read.
    case sourceChanged
    /// The archive is finished and accepts no more entries.
    case finished
    /// zlib could not allocate memory.
    case outOfMemory
    /// A system call failed.
    case system(SystemError)
  }

  /// The reason why a name is not allowed. The raw value completes a sentence that begins with “its name”.
  public enum NameProblem: String, Sendable, Hashable, CaseIterable {
    case empty = "is empty"
    case notUTF8 = "is marked as UTF-8 but is not valid UTF-8"
    case controlCharacter = "contains a control character"
    case absolute = "is an absolute path"
    case driveLetter = "begins with a drive letter"
    case emptyPart = "has an empty component"
    case dotPart = "has a component of only dots and spaces"
    case otherUnicodePath = "differs from its Unicode path field"
    case unmarkedUnicode = "is neither ASCII nor marked as UTF-8"
    case backslash = "contains a backslash, which is a separator only on Windows"
    case colon = "contains a colon, which selects an alternate data stream on Windows"
    case deviceName = "is a device name on Windows"
  }

  /// A field of the local header.
  public enum HeaderField: String, Sendable, Hashable, CaseIterable {
    case name, flags, method, time, checksum, size
    case compressedSize = "compressed size"
  }

  /// A limit of ``ZipLimits``, named like its property.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    case entries, nameLength, depth, folders, entrySize, totalSize, ratio, leadingBytes
  }

  /// A sentence with the entry and the reason. Control characters in the name are escaped.
  public var description: String {
    guard let entry else { return "The archive \(reason.words)." }
    return "The entry \(entry.debugDescription) \(reason.words)."
  }
}

extension ZipError.Reason {
  /// The predicate of a sentence whose subject is the archive or the entry, without a full stop.
  var words: String {
    switch self {
    case .notAnArchive: "is not a ZIP archive: it has no end-of-central-directory record"
    case .truncated: "is truncated"
    case .trailingBytes: "is followed by bytes that are not part of it"
    case .ambiguousEnd: "has more than one end-of-central-directory record"
    case .severalParts: "is one part of a multi-part archive"
    case .endRecordsDisagree: "has a ZIP64 end record that is malformed or differs from the plain one"
    case .malformedDirectory: "has a central directory that contradicts the end record"
    case .unaccountedBytes(let offset): "has bytes at offset \(offset) that belong to no entry"
    case .overlap: "shares bytes with another entry or with the directory"
    case .malformedExtraField: "has malformed extra fields"
    case .name(let problem): "is refused because its name \(problem.rawValue)"
    case .duplicateName: "has the same name as another entry"
    case .fileAndFolder: "is both a file and a folder"
    case .folderWithContents: "is a folder but has contents"
    case .noLocalHeader: "has no local header at the offset in the directory"
    case .localHeaderDiffers(let field):
      "has a local header whose \(field.rawValue) differs from the directory"
    case .descriptorDiffers: "has a data descriptor that is missing or differs from the directory"
    case .specialFile: "is a link, a device or a socket"
    case .kindDiffers: "has the attributes of a file but the name of a folder, or the reverse"
    case .setUserID: "has the set-user-ID or set-group-ID bit"
    case .storedSizesDiffer: "is stored uncompressed but has two different sizes"
    case .storedWithDescriptor: "is stored uncompressed but has a data descriptor"
    case .unknownExtraField(let id): "has the unknown extra field 0x\(String(id, radix: 16))"
    case .limit(let limit): limit.words
    case .encrypted: "is encrypted"
    case .unsupportedMethod(let number): "is compressed by method \(number), which isn't supported"
    case .unsupportedVersion(let version): "needs version \(version / 10).\(version % 10) of the format"
    case .corruptData: "has corrupt compressed data"
    case .sizeDiffers: "inflates to another size than declared"
    case .checksumDiffers: "has contents whose checksum differs from the declared one"
    case .larger(let limit): "holds more than \(limit) bytes"
    case .notARegularFile: "has a source that is not a regular file"
    case .sourceChanged: "has a source that changed while it was read"
    case .finished: "is already finished"
    case .outOfMemory: "needs more memory than is available"
    case .system(let error): "failed with \(error)"
    }
  }
}

extension ZipError.Limit {
  /// The predicate of a sentence whose subject is the archive or the entry that exceeds the limit.
  fileprivate var words: String {
    switch self {
    case .entries: "has more entries than allowed"
    case .nameLength: "has a name that is longer than allowed"
    case .depth: "is nested in more folders than allowed"
    case .folders: "would create more folders than allowed"
    case .entrySize: "inflates to more bytes than allowed"
    case .totalSize: "would inflate to more bytes in total than allowed"
    case .ratio: "has a higher compression ratio than allowed"
    case .leadingBytes: "has more bytes before it than allowed"
    }
  }
}

/// Runs `body` and converts a failed system call into a ``ZipError``.
@inline(__always)
func mapSystemError<Result: ~Copyable>(
  entry: String? = nil, _ body: () throws(SystemError) -> Result
) throws(ZipError) -> Result {
  do { return try body() } catch { throw ZipError(.system(error), entry: entry) }
}

public import SystemIO

/// Why a ZIP archive, or one entry of it, is refused.
public struct ZipError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The entry that is to blame, where one is.
  public let entry: String?
  /// What is wrong.
  public let reason: Reason

  /// Names what is wrong, and with which entry.
  public init(_ reason: Reason, entry: String? = nil) {
    self.reason = reason
    self.entry = entry
  }

  /// Everything that can be wrong.
  public enum Reason: Sendable, Hashable {
    /// There is no end-of-central-directory record.
    case notAnArchive
    /// The file ends before what its records declare.
    case truncated
    /// More follows the archive's end than its comment.
    case trailingBytes
    /// More than one end-of-central-directory record could be meant.
    case ambiguousEnd
    /// The archive is a part of several.
    case severalParts
    /// The ZIP64 end record is malformed or says something else than the plain one.
    case endRecordsDisagree
    /// The central directory isn't where, as long, or as many entries as the end record says.
    case malformedDirectory
    /// Bytes at that offset belong to no entry and no record.
    case unaccountedBytes(at: Int64)
    /// The entry shares bytes with another one or with the directory.
    case overlap
    /// The extra fields are cut off, repeat what may stand there once, or have impossible lengths.
    case malformedExtraField
    /// The name can't be taken.
    case name(NameProblem)
    /// Another entry has that name, where case and composition of characters don't count.
    case duplicateName
    /// The name is a file's and the folder of another entry as well.
    case fileAndFolder
    /// A folder that holds bytes.
    case folderWithContents
    /// No local header stands where the directory says.
    case noLocalHeader
    /// The local header says something else than the directory.
    case localHeaderDiffers(HeaderField)
    /// The data descriptor is missing or says something else than the directory.
    case descriptorDiffers
    /// A link, a device or a socket.
    case specialFile
    /// The attributes say file where the name says folder, or the other way round.
    case kindDiffers
    /// The permissions ask for the owner's or the group's rights.
    case setUserID
    /// Stored without compression, and yet two different lengths.
    case storedSizesDiffer
    /// Stored without compression in front of a data descriptor: nothing says where the contents end.
    case storedWithDescriptor
    /// An extra field of that number, whose meaning is not known here.
    case unknownExtraField(UInt16)
    /// One of ``ZipLimits``.
    case limit(Limit)
    /// Needs a password.
    case encrypted
    /// Compressed by a method that isn't read here, or holds patched data.
    case unsupportedMethod(UInt16)
    /// Needs a reader of that version of the format, times ten.
    case unsupportedVersion(UInt8)
    /// The compressed data is no valid deflate stream, or doesn't end where it should.
    case corruptData
    /// The entry inflates to another length than declared.
    case sizeDiffers
    /// The contents' CRC-32 isn't the declared one.
    case checksumDiffers
    /// The entry holds more bytes than the caller takes.
    case larger(than: Int)
    /// The source isn't a regular file.
    case notARegularFile
    /// The source became shorter while it was read.
    case sourceChanged
    /// The archive is finished: nothing can be added.
    case finished
    /// zlib found no memory.
    case outOfMemory
    /// A system call failed.
    case system(SystemError)
  }

  /// What is wrong with a name.
  public enum NameProblem: String, Sendable, Hashable, CaseIterable {
    case empty = "is empty"
    case notUTF8 = "is marked as UTF-8 and isn't"
    case controlCharacter = "holds a control character"
    case absolute = "is an absolute path"
    case driveLetter = "begins with a drive letter"
    case emptyPart = "has an empty part"
    case dotPart = "has a part of nothing but dots and spaces"
    case otherUnicodePath = "differs from its Unicode path field"
    case unmarkedUnicode = "is not ASCII and not marked as UTF-8"
    case backslash = "holds a backslash, which separates folders on Windows alone"
    case colon = "holds a colon, behind which Windows hides contents in another file"
    case deviceName = "is a device's on Windows"
  }

  /// A field of the local header.
  public enum HeaderField: String, Sendable, Hashable, CaseIterable {
    case name, flags, method, time, checksum, size
    case compressedSize = "compressed size"
  }

  /// A limit of ``ZipLimits``, by its property's name.
  public enum Limit: String, Sendable, Hashable, CaseIterable {
    case entries, nameLength, depth, folders, entrySize, totalSize, ratio, leadingBytes
  }

  /// One sentence that names the entry and the reason. Control characters of a name are escaped.
  public var description: String {
    guard let entry else { return "The archive \(reason.words)." }
    return "The entry \(entry.debugDescription) \(reason.words)."
  }
}

extension ZipError.Reason {
  /// What is said of the archive or the entry, without its subject and the full stop.
  var words: String {
    switch self {
    case .notAnArchive: "is no ZIP archive: it has no end-of-central-directory record"
    case .truncated: "is cut off"
    case .trailingBytes: "is followed by bytes that don't belong to it"
    case .ambiguousEnd: "has more than one end-of-central-directory record"
    case .severalParts: "is one part of several"
    case .endRecordsDisagree: "has a ZIP64 end record that is malformed or differs from the plain one"
    case .malformedDirectory: "has a central directory that differs from what its end record says"
    case .unaccountedBytes(let offset): "has bytes at offset \(offset) that belong to no entry"
    case .overlap: "shares bytes with another entry or with the directory"
    case .malformedExtraField: "has malformed extra fields"
    case .name(let problem): "is refused because its name \(problem.rawValue)"
    case .duplicateName: "has a name that another entry has too"
    case .fileAndFolder: "is a file and a folder at once"
    case .folderWithContents: "is a folder and yet has contents"
    case .noLocalHeader: "has no local header where the directory says"
    case .localHeaderDiffers(let field):
      "has a local header whose \(field.rawValue) differs from the directory's"
    case .descriptorDiffers: "has a data descriptor that is missing or differs from the directory"
    case .specialFile: "is a link, a device or a socket"
    case .kindDiffers: "has attributes that say file where its name says folder, or the other way round"
    case .setUserID: "asks for the rights of its owner or group"
    case .storedSizesDiffer: "is stored uncompressed with two different sizes"
    case .storedWithDescriptor: "is stored uncompressed and yet followed by a data descriptor"
    case .unknownExtraField(let id): "has the extra field 0x\(String(id, radix: 16)), which is not known here"
    case .limit(let limit): limit.words
    case .encrypted: "is encrypted"
    case .unsupportedMethod(let number): "is compressed by method \(number), which isn't supported"
    case .unsupportedVersion(let version): "needs version \(version / 10).\(version % 10) of the format"
    case .corruptData: "has corrupt compressed data"
    case .sizeDiffers: "inflates to another size than declared"
    case .checksumDiffers: "has contents whose checksum differs from the declared one"
    case .larger(let limit): "holds more than \(limit) bytes"
    case .notARegularFile: "was to be made from something that is no regular file"
    case .sourceChanged: "was to be made from a file that changed meanwhile"
    case .finished: "is finished already"
    case .outOfMemory: "needs more memory than there is"
    case .system(let error): "failed with \(error)"
    }
  }
}

extension ZipError.Limit {
  /// What is said of the archive or the entry that is over the limit.
  fileprivate var words: String {
    switch self {
    case .entries: "has more entries than are taken"
    case .nameLength: "has a longer name than is taken"
    case .depth: "lies in more folders than are taken"
    case .folders: "would make more folders than are taken"
    case .entrySize: "inflates to more bytes than are taken"
    case .totalSize: "would inflate to more bytes in all than are taken"
    case .ratio: "would inflate to so many times its size that it is taken for a bomb"
    case .leadingBytes: "has more bytes in front of it than are taken"
    }
  }
}

/// Runs `body` and turns a failed system call into a ``ZipError``.
@inline(__always)
func mapSystemError<Result: ~Copyable>(
  entry: String? = nil, _ body: () throws(SystemError) -> Result
) throws(ZipError) -> Result {
  do throws(SystemError) { return try body() } catch { throw ZipError(.system(error), entry: entry) }
}

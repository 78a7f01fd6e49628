import SystemIO

/// Converts property lists to JSON, so that they are shown as JSON is: in a file without a name, in one pass, with a
/// fixed amount of memory.
///
/// Dates become text in RFC 3339 format, data becomes base64, sets become arrays, and a UID becomes an object with the
/// key `CF$UID`, as in `plutil`. ``PropertyListType`` tells them apart from strings and arrays. Numbers keep their
/// digits; those that JSON does not have are strings. An archive of `NSKeyedArchiver` is shown as it is stored.
package enum PropertyList {
  /// The formats.
  package enum Form: Sendable, Hashable {
    case binary, xml
  }

  /// Limits for a property list and for the JSON made from it. In binary property lists, objects can be referred to
  /// many times, so that a small file can be converted to much text.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a property list.
    package var size = 64 << 20
    /// The maximum nesting of dictionaries, arrays and sets. That of JSON is the same.
    package var depth = 512
    /// The maximum number of values and of bytes of the JSON document.
    package var values = 4_000_000
    package var bytes = 128 << 20
    /// The maximum number of bytes of a number, a date, a tag or a declaration in XML.
    package var word = 512

    /// Creates limits with the default values.
    package init() {}
  }

  /// A property list as JSON.
  package struct Document: Sendable {
    /// The format of the property list.
    package let form: Form
    /// The JSON document.
    package let bytes: ViewedBytes
    /// Whether it is an archive of `NSKeyedArchiver`.
    package let isKeyedArchive: Bool
  }

  /// The outcome of a conversion.
  package enum Outcome: Sendable {
    case document(Document)
    /// The property list is malformed or beyond a limit.
    case invalid(Form, PropertyListFailure)
    /// The file is XML, but not a property list.
    case other
  }

  /// The format of a file that begins with `head`, if it can be a property list.
  package static func form(of head: some Collection<UInt8>) -> Form? {
    if head.starts(with: BinaryPropertyList.header) { return .binary }
    var rest = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head.dropFirst(3) : head[...]
    rest = rest.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    let starts = ["<?xml", "<!DOCTYPE plist", "<plist"]
    return starts.contains { rest.starts(with: $0.utf8) } ? .xml : nil
  }

  /// Converts a file.
  /// - Parameters:
  ///   - space: the space for the JSON document.
  ///   - ignoresEncoding: whether the encoding that the file declares is ignored, because it was converted to UTF-8.
  package static func convert(
    _ bytes: ViewedBytes, _ form: Form, in space: CopySpace, ignoresEncoding: Bool = false,
    limits: Limits = Limits()
  ) throws(ViewerError) -> Outcome {
    let copy = try space.makeCopy()
    var size = 0
    do {
      let isKeyedArchive = try convert(
        form, size: bytes.size, ignoresEncoding: ignoresEncoding, limits: limits,
        read: { count, offset throws(ViewerError) in try bytes.read(upTo: count, at: offset) },
        write: { piece, offset throws(ViewerError) in
          try copy.write(piece, at: offset)
          size = max(size, offset + piece.count)
        })
      return .document(
        Document(form: form, bytes: ViewedBytes(copy, size: size), isKeyedArchive: isKeyedArchive))
    } catch {
      switch error {
      case .otherXML: return .other
      case .malformed(let failure): return .invalid(form, failure)
      case .viewer(let error): throw error
      }
    }
  }

  /// Converts a property list in memory; `nil` if it is XML, but not a property list.
  package static func json(
    of bytes: [UInt8], _ form: Form, ignoresEncoding: Bool = false, limits: Limits = Limits()
  ) throws(PropertyListFailure) -> [UInt8]? {
    var json: [UInt8] = []
    do {
      _ = try convert(
        form, size: bytes.count, ignoresEncoding: ignoresEncoding, limits: limits,
        read: { count, offset in Array(bytes[offset..<min(offset + count, bytes.count)]) },
        write: { piece, _ in json += piece })
      return json
    } catch {
      if case .malformed(let failure) = error { throw failure }
      return nil
    }
  }

  /// Converts a property list. Returns whether it is an archive of `NSKeyedArchiver`.
  private static func convert(
    _ form: Form, size: Int, ignoresEncoding: Bool = false, limits: Limits, read: @escaping PropertyListRead,
    write: @escaping PropertyListWriter.Write
  ) throws(PropertyListError) -> Bool {
    guard size <= limits.size else {
      throw .malformed(PropertyListFailure(.size(limits.size), offset: nil))
    }
    var writer = PropertyListWriter(limits, write)
    switch form {
    case .binary:
      var parser = try BinaryPropertyList(PropertyListBlocks(size: size, read), writer)
      writer = try parser.run()
    case .xml:
      var parser = XMLPropertyList(
        PropertyListStream(size: size, read), writer, limits, ignoresEncoding: ignoresEncoding)
      writer = try parser.run()
    }
    try writer.finish()
    return writer.isKeyedArchive
  }
}

/// Reads at most a number of bytes at an offset.
typealias PropertyListRead = (_ count: Int, _ offset: Int) throws(ViewerError) -> [UInt8]

/// Why a conversion stops.
enum PropertyListError: Error {
  case malformed(PropertyListFailure)
  case otherXML
  case viewer(ViewerError)
}

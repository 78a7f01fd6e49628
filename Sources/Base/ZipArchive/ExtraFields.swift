/// The extra fields of a header that affect how the entry is read (APPNOTE 4.5).
struct ExtraFields {
  /// The ZIP64 field's data (APPNOTE 4.5.3).
  private(set) var zip64: [UInt8]?
  /// The Unicode path field (APPNOTE 4.6.9).
  private(set) var unicodePath: UnicodePath?
  /// The identifiers of all fields, in their order.
  private(set) var ids: [UInt16] = []
  /// Whether no bytes remain after the last field.
  let isWhole: Bool

  /// A name in UTF-8 that replaces the name in the header.
  struct UnicodePath: Equatable {
    var version: UInt8
    /// The CRC-32 of the name in the header at the time when the field was written.
    var crc32: UInt32
    var name: [UInt8]
  }

  /// Parses the fields. Up to three bytes can remain, because some writers use them as padding.
  /// - Returns: `nil` if a field extends past the end, or if a ZIP64 or Unicode path field occurs twice, or if a
  ///   Unicode path field is too short.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    var index = 0
    while index + 4 <= bytes.count {
      let start = index + 4
      let end = start + Int(bytes.u16(index + 2))
      guard end <= bytes.count else { return nil }
      let id = bytes.u16(index)
      ids.append(id)
      switch id {
      case 0x0001:
        guard zip64 == nil else { return nil }
        zip64 = Array(bytes[start..<end])
      case 0x7075:
        guard unicodePath == nil, end - start >= 5 else { return nil }
        unicodePath = UnicodePath(
          version: bytes[start], crc32: bytes.u32(start + 1), name: Array(bytes[(start + 5)..<end]))
      default: break
      }
      index = end
    }
    isWhole = index == bytes.count
  }

  /// The numbers of an entry, with ZIP64 values applied.
  struct Numbers: Equatable {
    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64 = 0
    var disk: UInt32 = 0
  }

  /// The numbers of a local header; `nil` if the ZIP64 field does not match it.
  func widened(_ header: CommonHeader) -> Numbers? {
    guard let wide = widened([header.size, header.compressedSize]) else { return nil }
    return Numbers(size: wide[0], compressedSize: wide[1])
  }

  /// The numbers of a central header; `nil` if the ZIP64 field does not match it.
  func widened(_ header: CentralHeader) -> Numbers? {
    let narrow = [header.common.size, header.common.compressedSize, header.offset]
    guard header.disk == 0xFFFF else {
      var others = self
      // If the field contains all four numbers, the last is the disk, which must then match the header.
      if let zip64, zip64.count == 28 {
        guard zip64.u32(24) == UInt32(header.disk) else { return nil }
        others.zip64?.removeLast(4)
      }
      guard let wide = others.widened(narrow) else { return nil }
      return Numbers(
        size: wide[0], compressedSize: wide[1], offset: wide[2], disk: UInt32(header.disk))
    }
    // The disk is the last number in the field, with four bytes.
    guard var rest = zip64, rest.count >= 4 else { return nil }
    let disk = rest.u32(rest.count - 4)
    rest.removeLast(4)
    var others = self
    others.zip64 = rest
    guard let wide = others.widened(narrow) else { return nil }
    return Numbers(size: wide[0], compressedSize: wide[1], offset: wide[2], disk: disk)
  }

  /// Replaces each number that has the maximum value by the next number in the ZIP64 field.
  ///
  /// The field contains either exactly these numbers, or the first two or all numbers. In the second case, numbers that
  /// the header contains as well must be equal.
  private func widened(_ narrow: [UInt32]) -> [UInt64]? {
    guard let zip64 else { return narrow.contains(.max) ? nil : narrow.map(UInt64.init) }
    let needed = narrow.count { $0 == .max }
    if zip64.count == 8 * needed {
      var next = 0
      return narrow.map { number in
        guard number == .max else { return UInt64(number) }
        defer { next += 8 }
        return zip64.u64(next)
      }
    }
    let given = zip64.count / 8
    guard given * 8 == zip64.count, given >= 2, given <= narrow.count else { return nil }
    var wide: [UInt64] = []
    for (index, number) in narrow.enumerated() {
      guard index < given else {
        guard number != .max else { return nil }
        wide.append(UInt64(number))
        continue
      }
      let value = zip64.u64(8 * index)
      guard number == .max || value == UInt64(number) else { return nil }
      wide.append(value)
    }
    return wide
  }
}

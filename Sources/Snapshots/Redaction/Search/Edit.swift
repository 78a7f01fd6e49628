/// A replacement of some bytes of a document.
struct Edit: Hashable {
  var range: Range<Int>
  var bytes: [UInt8]
}

extension [Edit] {
  /// The edits in order, without overlaps. An edit inside another one is left out; two that overlap in part become one.
  func merged() -> [Edit] {
    var merged: [Edit] = []
    merged.reserveCapacity(count)
    // The outer one of two edits comes first; of two edits of the same range, the one that was found first.
    let ordered = enumerated().sorted { first, second in
      let (one, other) = (first.element.range, second.element.range)
      if one.lowerBound != other.lowerBound { return one.lowerBound < other.lowerBound }
      if one.upperBound != other.upperBound { return one.upperBound > other.upperBound }
      return first.offset < second.offset
    }
    for (_, edit) in ordered {
      if let last = merged.last, edit.range.lowerBound < last.range.upperBound {
        guard edit.range.upperBound > last.range.upperBound else { continue }
        merged[merged.count - 1] = Edit(
          range: last.range.lowerBound..<edit.range.upperBound, bytes: RedactionRule.markBytes)
      } else {
        merged.append(edit)
      }
    }
    return merged
  }

  /// Returns `bytes` with all replacements. The edits are in order and do not overlap.
  func applied(to bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var position = 0
    for edit in self {
      result += bytes[position..<edit.range.lowerBound]
      result += edit.bytes
      position = edit.range.upperBound
    }
    return result + bytes[position...]
  }
}

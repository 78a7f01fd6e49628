/// A binary property list, whose values can be replaced.
///
/// Its objects refer to each other by number, and the same object can have several places. So the reference to a secret
/// is changed, and only what is still referred to is written.
struct PropertyListFormat {
  private enum Object {
    /// Anything without references, as in the file.
    case leaf([UInt8])
    /// An array or a set, with its kind of marker.
    case list(UInt8, [Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private static let mark = Array("bplist00".utf8)
  private static let trailer = 32
  private var objects: [Object] = []
  private var top: Int

  /// Reads a property list; `nil` if it is not valid.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: Self.mark), bytes.count >= Self.mark.count + Self.trailer else { return nil }
    let trailer = bytes.count - Self.trailer
    let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, let count = Self.integer(bytes, trailer + 8, 8),
      let top = Self.integer(bytes, trailer + 16, 8), let table = Self.integer(bytes, trailer + 24, 8),
      table <= trailer, count > 0, count <= (trailer - table) / offsetSize, top < count
    else { return nil }
    self.top = top
    objects.reserveCapacity(count)
    // Objects that overlap would multiply the size.
    var left = table
    for number in 0..<count {
      guard let offset = Self.integer(bytes, table + number * offsetSize, offsetSize), offset < table,
        let (object, size) = Self.object(bytes, offset, table, referenceSize, count), size <= left
      else { return nil }
      left -= size
      objects.append(object)
    }
  }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard size <= 8, start >= 0, start + size <= bytes.count else { return nil }
    var value: UInt64 = 0
    for byte in bytes[start..<start + size] { value = value << 8 | UInt64(byte) }
    return Int(exactly: value)
  }

  private static func object(
    _ bytes: [UInt8], _ start: Int, _ end: Int, _ referenceSize: Int, _ objects: Int
  ) -> (Object, size: Int)? {
    let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 0xF))
    func leaf(_ size: Int) -> (Object, Int)? {
      start + size <= end ? (.leaf(Array(bytes[start..<start + size])), size) : nil
    }
    switch kind {
    case 0x0: return leaf(1)
    case 0x1 where low <= 4, 0x2 where low <= 3: return leaf(1 + 1 << low)
    case 0x3 where low == 3: return leaf(9)
    case 0x8: return leaf(2 + low)
    case 0x4, 0x5, 0x6, 0xA, 0xC, 0xD:
      guard let (count, head) = length(bytes, start, end) else { return nil }
      switch kind {
      case 0x4, 0x5: return count <= end - start - head ? leaf(head + count) : nil
      case 0x6: return count <= (end - start - head) / 2 ? leaf(head + 2 * count) : nil
      default:
        let references = kind == 0xD ? 2 * count : count
        guard count <= end, references <= (end - start - head) / referenceSize else { return nil }
        var numbers: [Int] = []
        for index in 0..<references {
          guard let number = integer(bytes, start + head + index * referenceSize, referenceSize),
            number < objects
          else { return nil }
          numbers.append(number)
        }
        let size = head + references * referenceSize
        guard kind == 0xD else { return (.list(kind, numbers), size) }
        return (.dictionary(keys: Array(numbers[..<count]), values: Array(numbers[count...])), size)
      }
    default: return nil
    }
  }

  /// The number of elements, and the size of the marker with that number.
  private static func length(_ bytes: [UInt8], _ start: Int, _ end: Int) -> (count: Int, head: Int)? {
    let low = Int(bytes[start] & 0xF)
    guard low == 0xF else { return (low, 1) }
    guard start + 1 < end, bytes[start + 1] >> 4 == 1, bytes[start + 1] & 0xF <= 3 else { return nil }
    let size = 1 << Int(bytes[start + 1] & 0xF)
    guard start + 2 + size <= end, let count = integer(bytes, start + 2, size) else { return nil }
    return (count, 2 + size)
  }

  // MARK: - Values

  /// The text of a string; `nil` for another object.
  private static func text(_ leaf: [UInt8]) -> [UInt8]? {
    guard let (_, head) = length(leaf, 0, leaf.count) else { return nil }
    switch leaf[0] >> 4 {
    case 0x5: return Array(leaf[head...])
    case 0x6:
      let units = stride(from: head, to: leaf.count - 1, by: 2).map {
        UInt16(leaf[$0]) << 8 | UInt16(leaf[$0 + 1])
      }
      return Array(String(decoding: units, as: UTF16.self).utf8)
    default: return nil
    }
  }

  private static func leaf(kind: UInt8, _ contents: [UInt8], count: Int) -> Object {
    guard count >= 0xF else { return .leaf([kind << 4 | UInt8(count)] + contents) }
    let number = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    return .leaf([kind << 4 | 0xF, 0x13] + number + contents)
  }

  private static func string(_ text: [UInt8]) -> Object {
    if text.allSatisfy({ $0 < 0x80 }) { return leaf(kind: 0x5, text, count: text.count) }
    let units = Array(String(decoding: text, as: UTF8.self).utf16)
    return leaf(kind: 0x6, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, count: units.count)
  }

  /// What replaces a secret, of the same type.
  private static func placeholder(_ object: Object, _ placeholders: Placeholders) -> Object {
    switch object {
    case .list(let kind, _): return .list(kind, [])
    case .dictionary: return .dictionary(keys: [], values: [])
    case .leaf(let bytes):
      return switch bytes[0] >> 4 {
      case 0x0: .leaf([bytes[0] == 0x09 ? 0x08 : bytes[0]])
      case 0x1: .leaf([0x10, 0])
      case 0x2: .leaf([0x22, 0, 0, 0, 0])
      case 0x3: .leaf([0x33, 0, 0, 0, 0, 0, 0, 0, 0])
      case 0x4: .leaf([0x40])
      case 0x8: object
      default: string(placeholders.text(text(bytes) ?? []))
      }
    }
  }

  // MARK: - Cleaning

  /// Returns the property list without secrets; the same bytes are not promised, but the same values.
  func cleaned(_ search: SecretSearch, _ depth: Int) throws(RedactionLimit) -> [UInt8] {
    var list = self
    let count = list.objects.count
    for number in 0..<count {
      switch objects[number] {
      case .leaf(let bytes):
        if let left = try Self.cleaned(bytes, search, depth) { list.objects[number] = left }
      case .dictionary(let keys, let values):
        let secret = secretMembers(keys, values, search.judge)
        guard !secret.isEmpty else { continue }
        var left = values
        for index in secret {
          list.objects.append(Self.placeholder(objects[values[index]], search.judge.placeholders))
          left[index] = list.objects.count - 1
        }
        list.objects[number] = .dictionary(keys: keys, values: left)
      case .list: break
      }
    }
    return list.written()
  }

  private func secretMembers(_ keys: [Int], _ values: [Int], _ judge: Judge) -> [Int] {
    var secret: [Int] = []
    var pairValues: [Int] = []
    var isSecretPair = false
    for (index, key) in keys.enumerated() {
      guard case .leaf(let bytes) = objects[key], let name = Self.text(bytes) else { continue }
      let verdict = judge.verdict(name)
      if verdict.isSecret {
        secret.append(index)
      } else if verdict.role == .value {
        pairValues.append(index)
      } else if verdict.role == .name, case .leaf(let bytes) = objects[values[index]],
        let text = Self.text(bytes)
      {
        isSecretPair = isSecretPair || judge.verdict(text).isSecret
      }
    }
    return isSecretPair ? secret + pairValues : secret
  }

  private static func cleaned(_ leaf: [UInt8], _ search: SecretSearch, _ depth: Int) throws(RedactionLimit)
    -> Object?
  {
    if let text = text(leaf) {
      let edits = try search.edits(in: text, depth + 1)
      return edits.isEmpty ? nil : string(edits.applied(to: text))
    }
    switch leaf[0] >> 4 {
    case 0x1:
      guard let value = integer(leaf, 1, leaf.count - 1) else { return nil }
      return search.judge.matches(in: Array("\(value)".utf8)).isEmpty ? nil : .leaf([0x10, 0])
    case 0x4:
      guard let (_, head) = length(leaf, 0, leaf.count), leaf.count > head else { return nil }
      let data = Array(leaf[head...])
      guard let left = try search.cleanedContents(data, depth + 1), left != data else { return nil }
      return Self.leaf(kind: 0x4, left, count: left.count)
    default: return nil
    }
  }

  // MARK: - Writing

  private func written() -> [UInt8] {
    // The numbers of what is still referred to.
    var numbers = [Int?](repeating: nil, count: objects.count)
    var order: [Int] = []
    var waiting = [top]
    while let number = waiting.popLast() {
      guard numbers[number] == nil else { continue }
      numbers[number] = order.count
      order.append(number)
      switch objects[number] {
      case .leaf: break
      case .list(_, let elements): waiting += elements
      case .dictionary(let keys, let values): waiting += values + keys
      }
    }
    let referenceSize = Self.size(of: order.count)
    var bytes = Self.mark
    var offsets: [Int] = []
    func append(_ numbered: [Int]) {
      for number in numbered { Self.append(numbers[number] ?? 0, referenceSize, to: &bytes) }
    }
    for number in order {
      offsets.append(bytes.count)
      switch objects[number] {
      case .leaf(let leaf): bytes += leaf
      case .list(let kind, let elements):
        bytes += Self.head(kind, elements.count)
        append(elements)
      case .dictionary(let keys, let values):
        bytes += Self.head(0xD, keys.count)
        append(keys)
        append(values)
      }
    }
    let table = bytes.count
    let offsetSize = Self.size(of: table)
    for offset in offsets { Self.append(offset, offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for value in [order.count, numbers[top] ?? 0, table] { Self.append(value, 8, to: &bytes) }
    return bytes
  }

  private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    guard case .leaf(let head) = leaf(kind: kind, [], count: count) else { return [] }
    return head
  }

  private static func size(of value: Int) -> Int {
    value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
  }

  private static func append(_ value: Int, _ size: Int, to bytes: inout [UInt8]) {
    for index in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (index * 8))) }
  }
}

import Foundation
import JSONText
import ZipArchive

/// The name in a bundle of a file or folder of `attachments/` and `app-data/`.
///
/// A bundle contains only names that are distinct files on every file system, so `:` and names that differ only in case
/// are not allowed. Such a name is encoded like the identifier of a recording (``RecordingName``): `%%`, and the name with
/// some of its bytes as `%` and two hexadecimal digits, and some of its letters as `^` and the letter in lower case. For
/// example, `sceneID:default` becomes `%%sceneID%3adefault`. Percent-encoded text never begins with `%%`; a name that does
/// is encoded too.
public enum PortableName {
  private static let mark = "%%"

  /// The name that `part`, a component of a path in a bundle, encodes; `nil` if it encodes none.
  public static func decode(_ part: String) -> String? {
    guard part.utf8.starts(with: mark.utf8), let bytes = unescaped(part.utf8.dropFirst(mark.utf8.count)),
      let name = String(validating: bytes, as: UTF8.self), isFileName(name)
    else { return nil }
    return name
  }

  /// The path that `path`, a path in a bundle, encodes; the same path if it encodes none.
  public static func decode(path: String) -> String {
    let folders = [BundleLayout.attachments, BundleLayout.appData]
    guard folders.contains(where: path.hasPrefix), path.utf8.contains(UInt8(ascii: "%")) else { return path }
    return path.components.map { decode($0) ?? $0 }.joined(separator: "/")
  }

  /// Whether a file can have the name.
  package static func isFileName(_ name: String) -> Bool {
    !["", ".", ".."].contains(name) && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  /// The names in a bundle of the files of one folder, in the same order. `nil` for a name that can't be made distinct.
  static func encode(siblings names: [String]) -> [String?] {
    var encoded = names.map(encode)
    let groups = Dictionary(grouping: encoded.indices) { ZipProfile.folded(encoded[$0]) }
    for group in groups.values where group.count > 1 {
      for index in group { encoded[index] = distinct(names[index]) }
    }
    var taken: Set<String> = []
    return encoded.map { taken.insert(ZipProfile.folded($0)).inserted ? $0 : nil }
  }

  /// The name, encoded if a bundle can't contain it.
  private static func encode(_ name: String) -> String {
    let isPlain =
      !ZipProfile.strict.refuses(name) && !ZipProfile.folded(name).utf8.starts(with: mark.utf8)
      && !joinsSlash(name)
    guard !isPlain else { return name }
    return mark + escaped(name, isDistinct: false)
  }

  /// The name, encoded so that it differs from every other name on every file system.
  package static func distinct(_ name: String) -> String {
    let encoded = escaped(name, isDistinct: true)
    return encoded.utf8.elementsEqual(name.utf8) ? encode(name) : mark + encoded
  }
}

// MARK: - Escape sequences

extension PortableName {
  private static func escaped(_ name: String, isDistinct: Bool) -> String {
    let scalars = name.unicodeScalars
    // Two names that are not composed can be canonically equivalent, and some file systems ignore characters.
    let keepsUnicode =
      isDistinct
      ? name.precomposedStringWithCanonicalMapping.utf8.elementsEqual(name.utf8)
      : !ZipProfile.folded(name).isEmpty
    let escapesFirst = ZipProfile.isDevice(name) || joinsSlash(name)
    var escaped = ""
    for index in scalars.indices {
      let scalar = scalars[index]
      let isLast = scalars.index(after: index) == scalars.endIndex
      let isFirst = index == scalars.startIndex
      if isDistinct, ("A"..."Z").contains(scalar) {
        escaped += "^" + scalar.properties.lowercaseMapping
      } else if isLast && (scalar == "." || scalar == " ") || isFirst && escapesFirst || isSpecial(scalar)
        || !scalar.isASCII && !keepsUnicode || isDistinct && !isStable(scalar)
      {
        for byte in String(scalar).utf8 { escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16) }
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Whether the name begins with a combining mark or a joiner, which would be a part of the character before it.
  private static func joinsSlash(_ name: String) -> Bool { !("/" + name).hasPrefix("/") }

  /// Whether no bundle contains the character in a name, or it is part of an escape sequence.
  private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "%", "^", ":", "\\", "/": true
    default: scalar.properties.generalCategory == .control
    }
  }

  /// Whether the character is the same on every file system.
  private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.canonicalCombiningClass == .notReordered
      && (scalar == " " || scalar == "."
        || ZipProfile.folded(String(scalar)).utf8.elementsEqual(String(scalar).utf8))
  }

  /// The bytes of a text with escape sequences; `nil` if it has none, or a malformed one.
  private static func unescaped(_ text: Substring.UTF8View) -> [UInt8]? {
    var rest = text
    var bytes: [UInt8] = []
    var hasEscapes = false
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "^") || byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      hasEscapes = true
      if byte == UInt8(ascii: "^") {
        guard let letter = rest.popFirst(), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) else {
          return nil
        }
        bytes.append(letter & ~0x20)
      } else {
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
          return nil
        }
        bytes.append(high << 4 | low)
      }
    }
    return hasEscapes ? bytes : nil
  }

  /// The value of a lower-case hexadecimal digit.
  private static func digit(_ byte: UInt8) -> UInt8? {
    (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) ? nil : Hexadecimal.value(byte)
  }
}

extension String {
  /// The components of a path. Bytes are split, because a slash and a following combining mark are one character.
  var components: [String] {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
  }

  /// The rest of a path below the folder `place`, which ends in a slash; `nil` if it is not below it.
  func path(below place: String) -> String? {
    utf8.starts(with: place.utf8) ? String(decoding: utf8.dropFirst(place.utf8.count), as: UTF8.self) : nil
  }
}

/// The paths in a bundle of files and folders, which are encoded where necessary.
struct PortablePaths {
  /// The paths that a bundle can't contain, such as those that are too long. What is below such a folder is not listed.
  private(set) var leftOut: [String] = []

  private let place: String
  /// The encoded paths, by the bytes of the paths: different paths can be equal as strings.
  private var encoded: [[UInt8]: String] = [:]

  /// Encodes paths.
  /// - Parameters:
  ///   - paths: the paths of the files, and of folders if anything depends on them.
  ///   - place: the folder of the bundle that they are below, with a slash at its end.
  ///   - areEncoded: whether some of the names are already encoded, as in a snapshot's folder on a file system that
  ///     can't hold the names themselves.
  init(_ paths: some Sequence<String>, below place: String, areEncoded: Bool) {
    self.place = place
    var children: [[UInt8]: [String]] = [[]: []]
    var folders: [[UInt8]] = [[]]
    for path in paths {
      var parent: [UInt8] = []
      for part in path.components where !part.isEmpty {
        let child = (parent.isEmpty ? [] : parent + [UInt8(ascii: "/")]) + Array(part.utf8)
        if children[child] == nil {
          children[child] = []
          children[parent]?.append(part)
          folders.append(child)
        }
        parent = child
      }
    }
    encoded[[]] = ""
    // A folder comes before what is in it.
    for folder in folders {
      guard let names = children[folder], !names.isEmpty, let path = encoded[folder] else { continue }
      let originals = areEncoded ? names.map { PortableName.decode($0) ?? $0 } : names
      for (name, part) in zip(names, PortableName.encode(siblings: originals)) {
        let child = (folder.isEmpty ? [] : folder + [UInt8(ascii: "/")]) + Array(name.utf8)
        let long = part.map { path.isEmpty ? $0 : path + "/" + $0 }
        if let long, BundleLayout.isShort(place + long + "/") {
          encoded[child] = long
        } else {
          leftOut.append(String(decoding: child, as: UTF8.self))
        }
      }
    }
  }

  /// The path in the bundle; `nil` if the file or folder is left out.
  subscript(path: String) -> String? {
    let key = path.utf8.last == UInt8(ascii: "/") ? Array(path.utf8.dropLast()) : Array(path.utf8)
    return encoded[key].map { place + $0 }
  }
}

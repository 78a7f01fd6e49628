public import Foundation

extension Manifest {
  /// How much a manifest may hold, whether it is read or written.
  public struct Limits: Sendable, Hashable {
    /// The most bytes of `manifest.json`.
    public var size = 16 << 20
    /// The most recordings.
    public var recordings = 50_000
    /// The most bytes of an identifier's UTF-8.
    public var identifierLength = 64 << 10
    /// The most bytes of text that describe the application, the device and the modules: a server keeps them in
    /// memory for each snapshot, and sends them in lists.
    public var descriptionLength = 256 << 10

    /// The limits above.
    public init() {}

    /// The limits above.
    public static let `default` = Limits()
  }

  /// Reads `manifest.json` and checks it: no two recordings share an identifier or a path (nor do paths differ in
  /// case alone, which some disks can't tell apart), every path is one file name in ASCII below `recordings/`.
  /// - Throws: ``BundleError/manifestMalformed(_:)`` or ``BundleError/formatTooNew(found:supported:)``.
  public init(json: Data, limits: Limits = .default) throws(BundleError) {
    guard json.count <= limits.size else {
      throw .manifestMalformed("it has more than \(limits.size) bytes")
    }
    // No JSON holds a NUL, but every other encoding than UTF-8 has some of them.
    let bytes = Array(json)
    guard !bytes.contains(0) else { throw .manifestMalformed("it is no JSON in UTF-8") }
    do {
      self = try SnapshotJSON.decode(Manifest.self, from: json)
    } catch {
      throw BundleError(reading: error)
    }
    if let key = RepeatedKey.first(in: bytes) {
      throw .manifestMalformed("‘\(key.prefix(200))’ is there twice in one object")
    }
    try check(limits)
  }

  /// `manifest.json`, for people and programs; refuses what ``init(json:limits:)`` would refuse.
  public func json(limits: Limits = .default) throws(BundleError) -> Data {
    try check(limits)
    let json: Data
    do {
      json = try SnapshotJSON.encode(self, pretty: true)
    } catch {
      throw .manifestMalformed("it can't be written as JSON (\(error))")
    }
    guard json.count <= limits.size else {
      throw .manifestMalformed("it would have \(json.count) bytes, the most are \(limits.size)")
    }
    return json
  }

  private func check(_ limits: Limits) throws(BundleError) {
    guard recordings.count <= limits.recordings else {
      throw .manifestMalformed("it names \(recordings.count) recordings, the most are \(limits.recordings)")
    }
    guard descriptionLength <= limits.descriptionLength else {
      throw .manifestMalformed(
        """
        application, device and modules have \(descriptionLength) bytes of text, the most are \
        \(limits.descriptionLength)
        """)
    }
    var identifiers: Set<String> = []
    var paths: Set<String> = []
    for (index, recording) in recordings.enumerated() {
      let problem: String? =
        if recording.identifier.utf8.count > limits.identifierLength {
          """
          identifier: it has \(recording.identifier.utf8.count) bytes, the most are \(limits.identifierLength)
          """
        } else if !identifiers.insert(recording.identifier).inserted {
          "identifier: ‘\(recording.identifier.prefix(200))’ is there twice"
        } else if !recording.hasValidPath {
          "path: ‘\(recording.path.prefix(200))’ is not recordings/ and a file name in ASCII"
        } else if !paths.insert(recording.path.lowercased()).inserted {
          "path: ‘\(recording.path)’ is there twice, or differs from another in upper and lower case alone"
        } else if recording.size < 0 {
          "size: it is less than nothing"
        } else {
          nil
        }
      if let problem { throw .manifestMalformed("recordings[\(index)].\(problem)") }
    }
  }
}

extension Manifest {
  /// The bytes of text in what a record takes over, and one for each text.
  fileprivate var descriptionLength: Int {
    let few = [
      application.identifier, application.version, application.build, device.model, device.system,
      device.systemVersion, device.locale,
    ]
    let length = few.reduce(0) { $0 + $1.utf8.count + 1 }
    return modules.reduce(length) { sum, module in
      module.files.reduce(sum + module.name.utf8.count + 1) { $0 + $1.utf8.count + 1 }
    }
  }
}

extension Manifest.Recording {
  /// Whether the path is one file name below `recordings/`; in ASCII, as other text has several spellings that some
  /// disks take for one.
  fileprivate var hasValidPath: Bool {
    guard path.hasPrefix(BundleLayout.recordings) else { return false }
    let name = path.utf8.dropFirst(BundleLayout.recordings.utf8.count)
    let isPrintable = name.allSatisfy {
      (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
    }
    return isPrintable && (1...255).contains(name.count) && ![".", ".."].contains(String(name))
  }
}

extension BundleError {
  /// What a decoder says, as a person would say it: where in the manifest, and what is wrong there.
  fileprivate init(reading error: any Error) {
    switch error {
    case let error as BundleError:
      self = error
    case DecodingError.keyNotFound(let key, let context):
      self = .manifestMalformed("‘\(Self.place(context.codingPath + [key]))’ is missing")
    case DecodingError.valueNotFound(_, let context):
      self = .manifestMalformed("‘\(Self.place(context.codingPath))’ is null")
    case DecodingError.typeMismatch(let type, let context) where context.codingPath.isEmpty:
      self = .manifestMalformed("it should be \(Self.name(of: type))")
    case DecodingError.typeMismatch(let type, let context):
      self = .manifestMalformed("‘\(Self.place(context.codingPath))’ should be \(Self.name(of: type))")
    case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
      self = .manifestMalformed(
        "it is no JSON, or a whole number in it has a fraction or is too large (\(context.debugDescription))")
    case DecodingError.dataCorrupted(let context):
      let problem = context.debugDescription
      self = .manifestMalformed(
        "\(Self.place(context.codingPath)): \(problem.hasSuffix(".") ? String(problem.dropLast()) : problem)")
    default:
      self = .manifestMalformed("\(error)")
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    path.reduce(into: "") { place, key in
      if let index = key.intValue {
        place += "[\(index)]"
      } else {
        place += (place.isEmpty ? "" : ".") + key.stringValue
      }
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Int.Type, is Int64.Type: "a whole number"
    case is [Any].Type: "a list"
    case is [String: Any].Type: "an object"
    default: "a \(type)"
    }
  }
}

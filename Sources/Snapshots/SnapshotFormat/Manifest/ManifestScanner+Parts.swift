import Foundation

/// The objects that a manifest is made of. Keys that are not known are passed over.
extension ManifestScanner {
  /// What was read of a key that has to be there; else what is wrong with it.
  static func require<Value>(_ reading: Reading<Value>?, _ key: String) throws(Failure) -> Value {
    switch reading {
    case .success(let value): return value
    case .failure(let problem): throw .problem(problem.below(key))
    case nil: throw .problem(ManifestProblem(.missing, at: key))
    }
  }

  mutating func id() throws(Failure) -> SnapshotID {
    let text = try string()
    if let id = SnapshotID(text) { return id }
    throw .problem(ManifestProblem(.wrong("‘\(text.prefix(200))’ is not a UUID")))
  }

  mutating func report() throws(Failure) -> ReportID {
    let text = try string()
    do throws(ReportID.Refusal) {
      return try ReportID(validating: text)
    } catch {
      // The sentence goes on in another one, which has a full stop of its own.
      throw .problem(ManifestProblem(.wrong(String(error.description.dropLast()))))
    }
  }

  mutating func application() throws(Failure) -> Manifest.Application {
    var (identifier, version, build): (Reading<String>?, Reading<String>?, Reading<String>?)
    try object { scanner, key throws(Failure) in
      switch key {
      case "identifier": identifier = try scanner.attempt { json throws(Failure) in try json.string() }
      case "version": version = try scanner.attempt { json throws(Failure) in try json.string() }
      case "build": build = try scanner.attempt { json throws(Failure) in try json.string() }
      default: return false
      }
      return true
    }
    return Manifest.Application(
      identifier: try Self.require(identifier, "identifier"), version: try Self.require(version, "version"),
      build: try Self.require(build, "build"))
  }

  mutating func device() throws(Failure) -> Manifest.Device {
    var (model, system): (Reading<String>?, Reading<String>?)
    var (systemVersion, locale): (Reading<String>?, Reading<String>?)
    try object { scanner, key throws(Failure) in
      switch key {
      case "model": model = try scanner.attempt { json throws(Failure) in try json.string() }
      case "system": system = try scanner.attempt { json throws(Failure) in try json.string() }
      case "systemVersion": systemVersion = try scanner.attempt { json throws(Failure) in try json.string() }
      case "locale": locale = try scanner.attempt { json throws(Failure) in try json.string() }
      default: return false
      }
      return true
    }
    return Manifest.Device(
      model: try Self.require(model, "model"), system: try Self.require(system, "system"),
      systemVersion: try Self.require(systemVersion, "systemVersion"),
      locale: try Self.require(locale, "locale"))
  }

  /// - Parameter keeps: Gets each text, and answers whether there is room for it.
  mutating func module(_ keeps: (String) -> Bool) throws(Failure) -> Module {
    var name: Reading<String>?
    var files: Reading<[String]>?
    try object { scanner, key throws(Failure) in
      switch key {
      case "name":
        name = try scanner.attempt { json throws(Failure) in try json.string() }
        if case .success(let name) = name { _ = keeps(name) }
      case "files":
        files = try scanner.attempt { scanner throws(Failure) in
          var files: [String] = []
          try scanner.array { scanner throws(Failure) in
            let file = try scanner.string()
            if keeps(file) { files.append(file) }
          }
          return files
        }
      default: return false
      }
      return true
    }
    return Module(name: try Self.require(name, "name"), files: try Self.require(files, "files"))
  }

  mutating func recording() throws(Failure) -> Manifest.Recording {
    var (identifier, path): (Reading<String>?, Reading<String>?)
    var size: Reading<Int64>?
    var sha256: Reading<ContentDigest>?
    var recordedAt: Reading<Date>?
    var call: Reading<Int64?>?
    try object { scanner, key throws(Failure) in
      switch key {
      case "identifier": identifier = try scanner.attempt { json throws(Failure) in try json.string() }
      case "path": path = try scanner.attempt { json throws(Failure) in try json.string() }
      case "size": size = try scanner.attempt { json throws(Failure) in try json.integer() }
      case "sha256": sha256 = try scanner.attempt { json throws(Failure) in try json.digest() }
      case "recordedAt": recordedAt = try scanner.attempt { json throws(Failure) in try json.time() }
      case "call":
        call = try scanner.attempt { scanner throws(Failure) in
          try scanner.optional { json throws(Failure) in try json.integer() }
        }
      default: return false
      }
      return true
    }
    return Manifest.Recording(
      identifier: try Self.require(identifier, "identifier"), path: try Self.require(path, "path"),
      size: try Self.require(size, "size"), sha256: try Self.require(sha256, "sha256"),
      recordedAt: try Self.require(recordedAt, "recordedAt"),
      call: try Self.require(call ?? .success(nil), "call").map { Int($0) })
  }
}

import JSONText
import SnapshotClient
import SnapshotFormat
import SnapshotViewer

/// A tool that agents call.
protocol MCPTool: Sendable {
  /// The name by which it is called.
  var name: String { get }
  /// A name for people.
  var title: String { get }
  /// What it does, for the agent.
  var description: String { get }
  /// Its arguments.
  var parameters: [ToolParameter] { get }
  /// Whether it writes files.
  var writes: Bool { get }

  /// Does the work, and appends to `answer`. Throws ``ToolFailure`` or any error of the command's code.
  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws
}

extension MCPTool {
  var writes: Bool { false }

  /// The description in the protocol.
  var json: JSONValue {
    var required: [JSONValue] = []
    var properties: [String: JSONValue] = [:]
    for parameter in parameters {
      properties[parameter.name] = parameter.json
      if parameter.isRequired { required.append(.string(parameter.name)) }
    }
    return .object([
      "name": .string(name), "title": .string(title), "description": .string(description),
      "inputSchema": .object([
        "type": .string("object"), "properties": .object(properties), "required": .array(required),
        "additionalProperties": .boolean(false),
      ]),
      "annotations": .object([
        "readOnlyHint": .boolean(!writes), "destructiveHint": .boolean(false),
        "idempotentHint": .boolean(!writes), "openWorldHint": .boolean(false),
      ]),
    ])
  }
}

/// An argument of a tool.
struct ToolParameter: Sendable {
  /// The types of arguments.
  enum Kind: Sendable {
    case text
    case number(ClosedRange<Int>)
    case boolean
  }

  let name: String
  let kind: Kind
  let description: String
  var isRequired = false

  init(_ name: String, _ kind: Kind, _ description: String, isRequired: Bool = false) {
    (self.name, self.kind, self.description, self.isRequired) = (name, kind, description, isRequired)
  }

  /// The name of a snapshot.
  static let snapshot = ToolParameter(
    "snapshot", .text,
    "A UUID or at least six digits of its beginning, a report such as BUG-123 (its newest snapshot), or a path as find_snapshots lists it.",
    isRequired: true)
  /// Where an answer goes on.
  static let cursor = ToolParameter(
    "cursor", .text, "The cursor at the end of the previous answer, with otherwise the same arguments.")

  fileprivate var json: JSONValue {
    switch kind {
    case .text:
      .object([
        "type": .string("string"), "description": .string(description),
        "maxLength": .integer(Int64(ToolArguments.maximumText)),
      ])
    case .number(let range):
      .object([
        "type": .string("integer"), "description": .string(description),
        "minimum": .integer(Int64(range.lowerBound)), "maximum": .integer(Int64(range.upperBound)),
      ])
    case .boolean: .object(["type": .string("boolean"), "description": .string(description)])
    }
  }
}

/// The reason why a tool fails, in this program's own words and in those of others.
struct ToolFailure: Error {
  /// One sentence that contains nothing that others wrote.
  let sentence: String
  /// What can contain texts of others, such as the nearest identifiers.
  var details: [String] = []

  init(_ sentence: String, details: [String] = []) { (self.sentence, self.details) = (sentence, details) }

  /// The failure for an error of the command's code, which can name identifiers, files and what a server said. Rethrows
  /// other errors, such as a cancellation.
  init(_ error: any Error) throws {
    switch error {
    case let failure as ToolFailure: self = failure
    case let error as SnapshotClientError:
      self.init("The server did not answer as expected.", details: [CommandFailure(error).description])
    case is CommandFailure, is BundleError, is ViewerError:
      self.init("The call failed.", details: ["\(error)"])
    default: throw error
    }
  }
}

/// The checked arguments of a call.
struct ToolArguments: Sendable {
  /// The maximum number of bytes of a text.
  static let maximumText = 4096

  private let values: [String: JSONValue]

  /// Checks the arguments. Throws a ``ToolFailure`` that says which one is wrong.
  init(_ values: [String: JSONValue], for parameters: [ToolParameter]) throws(ToolFailure) {
    let names = parameters.map(\.name).joined(separator: ", ")
    // A null is what some clients send for an argument that is left out.
    self.values = values.filter { $0.value != .null }
    guard values.keys.allSatisfy({ name in parameters.contains { $0.name == name } }) else {
      throw ToolFailure("There is an unknown argument; the arguments are \(names).")
    }
    for parameter in parameters {
      guard let value = self.values[parameter.name] else {
        if parameter.isRequired { throw ToolFailure("The argument \(parameter.name) is missing.") }
        continue
      }
      switch (parameter.kind, value) {
      case (.text, .string(let text)):
        guard text.utf8.count <= Self.maximumText else {
          throw ToolFailure("The argument \(parameter.name) has more than \(Self.maximumText) bytes.")
        }
      case (.number(let range), .integer(let number)):
        guard let number = Int(exactly: number), range.contains(number) else {
          throw ToolFailure(
            "The argument \(parameter.name) must be from \(range.lowerBound) to \(range.upperBound).")
        }
      case (.boolean, .boolean): break
      case (.text, _): throw ToolFailure("The argument \(parameter.name) must be a string.")
      case (.number, _): throw ToolFailure("The argument \(parameter.name) must be an integer.")
      case (.boolean, _): throw ToolFailure("The argument \(parameter.name) must be a boolean.")
      }
    }
  }

  /// The text; `nil` if there is none or an empty one.
  func text(_ name: String) -> String? {
    if case .string(let text)? = values[name], !text.isEmpty { text } else { nil }
  }

  /// A required text. Throws if it is empty.
  func required(_ name: String) throws(ToolFailure) -> String {
    guard let text = text(name) else { throw ToolFailure("The argument \(name) is empty.") }
    return text
  }

  func number(_ name: String) -> Int? {
    if case .integer(let number)? = values[name] { Int(exactly: number) } else { nil }
  }

  func boolean(_ name: String) -> Bool? {
    if case .boolean(let value)? = values[name] { value } else { nil }
  }

  /// The place at which the answer goes on, which tools count themselves; 0 for the beginning.
  func position() throws(ToolFailure) -> Int {
    guard let text = text("cursor") else { return 0 }
    guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let place = Int(text)
    else { throw ToolFailure("This is not a cursor of an earlier answer; leave it out to begin.") }
    return place
  }
}

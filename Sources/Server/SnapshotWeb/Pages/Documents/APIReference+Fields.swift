import HTTPTypes
import JSONText
import Observability
import SnapshotAPI

extension APIReference {
  /// The values of the template `reference`. The id of a call's heading is its operation id.
  var fields: Fields {
    let rows = calls.map { call in [[Span.link(call.name, call.id)], Span.spans(call.documentation.summary)] }
    return [
      "introduction": Span.paragraphs(introduction),
      "list": table("Calls", ["call", "what it does"], rows),
      "calls": calls.map(\.fields),
      "shared": problems.map { calls, kinds in ["calls": calls, "kinds": kinds.map(\.fields)] as Fields },
      "objects": schemas.sorted { $0.key < $1.key }.map(Self.fields),
    ]
  }

  /// Describes a schema: by a table of its members if it is one of objects.
  private static func fields(_ name: String, _ schema: JSONValue) -> Fields {
    let members = SchemaText.members(schema)
    guard !members.isEmpty else {
      let text = schema["description"]?.text.map { [Span.text(": ")] + Span.spans($0) }
      return ["name": name, "members": nil, "type": Span.fields(SchemaText.type(schema) + (text ?? []))]
    }
    let rows = members.map { name, member, isRequired in
      var text = member["description"]?.text.map(Span.spans) ?? []
      if !isRequired { text.append(.text(text.isEmpty ? "Optional." : " Optional.")) }
      return [[Span.code(name)], SchemaText.type(member), text]
    }
    return [
      "name": name, "members": table(name, ["member", "type", "meaning"], rows), "type": nil,
    ]
  }
}

extension APIReference.Call {
  fileprivate var fields: Fields {
    let about = [documentation.summary, documentation.detail, access + " Operation `\(id)`."]
    let body = (documentation.body ?? [:]).sorted { $0.key < $1.key }
      .map { type, description in Span.fields(Self.content(type, description["schema"])) }
    return [
      "id": id, "name": name,
      "paragraphs": about.flatMap(Span.paragraphs),
      "parameters": documentation.parameters.isEmpty ? nil : parameters,
      "body": body.isEmpty ? nil : ["types": body] as Fields,
      "responses": responses,
      "problems": problems.isEmpty ? nil : ["kinds": problems.map(\.fields)] as Fields,
    ]
  }

  private var parameters: Fields {
    let rows = documentation.parameters.map { parameter in
      var text = Span.spans(parameter.text)
      let type = SchemaText.type(parameter.schema)
      if !type.isEmpty, type != [.text("string")] { text += [.text(" Type: ")] + type + [.text(".")] }
      if parameter.isRequired, parameter.place != .path { text.append(.text(" Required.")) }
      return [[Span.code(parameter.name)], [.text(parameter.place.rawValue)], text]
    }
    return table(name + ": Parameters", ["name", "in", "meaning"], rows)
  }

  private var responses: Fields {
    let rows = documentation.responses.map { response in
      let contents = response.content.sorted { $0.key < $1.key }.map { Self.content($0.key, $0.value) }
      let fields = Set(response.fields + documentation.fields).sorted().map { [Span.code($0)] }
      return [
        [Span.code("\(response.status)")], Span.spans(response.text), SchemaText.joined(contents),
        SchemaText.joined(fields),
      ]
    }
    return table(name + ": Responses", ["status", "meaning", "content", "fields"], rows)
  }

  /// Returns a media type, and the type of the content if it has a schema.
  private static func content(_ mediaType: String, _ schema: JSONValue?) -> [Span] {
    let type = schema.map(SchemaText.type) ?? []
    return [.code(mediaType)] + (type.isEmpty || type == [.text("string")] ? [] : [.text(": ")] + type)
  }
}

extension ProblemKind {
  fileprivate var fields: Fields {
    let statuses = statuses.map { "\($0.code)" }.joined(separator: ", ")
    return Span.fields([.text(statuses + " "), .code(rawValue), .text(": ")] + Span.spans(text))
  }
}

/// A part of a text.
private enum Span: Equatable {
  case text(String)
  case code(String)
  /// A link to the heading with an id; its text is code.
  case link(String, String)

  /// Divides a text at its backticks, between which is code.
  static func spans(_ text: String) -> [Span] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.element.isEmpty }
      .map { $0.offset.isMultiple(of: 2) ? .text(String($0.element)) : .code(String($0.element)) }
  }

  /// Returns the values of the paragraphs between empty lines.
  static func paragraphs(_ text: String) -> [Fields] {
    text.split(separator: "\n\n").map { fields(spans(String($0))) }
  }

  /// Returns the values of the template `spans`.
  static func fields(_ spans: [Span]) -> Fields {
    let spans = spans.map { span -> Fields in
      switch span {
      case .text(let text): ["text": text, "code": nil, "link": nil]
      case .code(let text): ["text": nil, "code": text, "link": nil]
      case .link(let text, let id): ["text": nil, "code": nil, "link": ["name": text, "id": id] as Fields]
      }
    }
    return ["spans": spans]
  }
}

/// Returns the values of the template `table`.
private func table(_ caption: String, _ header: [String], _ rows: [[[Span]]]) -> Fields {
  [
    "caption": caption,
    // A table of three columns does not fit on a phone.
    "isWide": header.count >= 3,
    "header": header,
    "rows": rows.map { ["cells": $0.map(Span.fields)] as Fields },
  ]
}

/// Texts about the schemas of the API's JSON.
private enum SchemaText {
  /// Returns the members of an object by name.
  static func members(_ schema: JSONValue) -> [(name: String, schema: JSONValue, isRequired: Bool)] {
    guard case .object(let properties)? = schema["properties"] else { return [] }
    let required = Set((schema["required"]?.items ?? []).compactMap(\.text))
    return properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value, required.contains($0.key)) }
  }

  /// Returns the type of the values that conform to a schema. Empty if it accepts any value.
  static func type(_ schema: JSONValue) -> [Span] {
    if let name = schema["$ref"]?.text?.split(separator: "/").last {
      return [.link(String(name), "object-\(name)")]
    }
    if let values = schema["enum"]?.items { return joined(values.map { [.code($0.shown)] }, " or ") }
    if let value = schema["const"] { return [.code(value.shown)] }
    guard let type = schema["type"]?.text else { return [] }
    switch type {
    case "array": return [.text("array of ")] + (schema["items"].map(self.type) ?? [])
    case "object":
      let names = members(schema).map { [Span.code($0.name)] }
      return [.text(names.isEmpty ? "object" : "object of ")] + joined(names)
    case "string": return [.text(schema["format"]?.text == "date-time" ? "time" : "string")]
    default: return [.text(type)]
    }
  }

  static func joined(_ parts: [[Span]], _ separator: String = ", ") -> [Span] {
    Array(parts.joined(separator: [Span.text(separator)]))
  }
}

extension JSONValue {
  fileprivate subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  fileprivate var items: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The value as in JSON, texts without quotation marks.
  fileprivate var shown: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let text): text
    case .array, .object: "…"
    }
  }
}

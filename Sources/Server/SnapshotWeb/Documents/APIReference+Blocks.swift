import HTTPTypes
import JSONText
import Observability
import SnapshotAPI

extension APIReference {
  /// The text of the page that describes every call. The id of a call's heading is its operation id.
  var blocks: [Markdown.Block] {
    let list = Markdown.Block.table(
      header: [[.text("call")], [.text("what it does")]],
      rows: calls.map { call in
        [[.link([.code(call.name)], "#\(call.id)")], Markdown.spans(call.documentation.summary)]
      })
    var blocks = Markdown(introduction).blocks
    blocks += [
      .paragraph([
        .text("Programs can read the same description as OpenAPI 3.1: "),
        .link([.code(Self.document)], Self.document), .text("."),
      ]),
      .heading(level: 2, id: "calls", [.text("Calls")]), list,
    ]
    blocks += calls.flatMap(\.blocks)
    blocks.append(.heading(level: 2, id: "problems", [.text("Problems of many calls")]))
    for (calls, kinds) in problems {
      blocks.append(.paragraph([.strong([.text(calls)]), .text(" can have these problems:")]))
      blocks.append(.list(isOrdered: false, items: kinds.map(\.item)))
    }
    blocks.append(.heading(level: 2, id: "objects", [.text("JSON")]))
    for (name, schema) in schemas.sorted(by: { $0.key < $1.key }) { blocks += Self.blocks(name, schema) }
    return blocks
  }

  private static let document = "/openapi.json"

  /// Returns the description of a schema: a table of its members if it is one of objects.
  private static func blocks(_ name: String, _ schema: JSONValue) -> [Markdown.Block] {
    let heading = Markdown.Block.heading(level: 3, id: SchemaText.id(name), [.code(name)])
    let members = SchemaText.members(schema)
    guard !members.isEmpty else {
      var spans = SchemaText.type(schema)
      if let text = schema["description"]?.text { spans += [.text(": ")] + Markdown.spans(text) }
      return [heading, .paragraph(spans)]
    }
    let rows = members.map { name, member, isRequired -> [[Markdown.Span]] in
      var text = member["description"]?.text.map(Markdown.spans) ?? []
      if !isRequired { text.append(.text(text.isEmpty ? "Optional." : " Optional.")) }
      return [[.code(name)], SchemaText.type(member), text]
    }
    return [
      heading, .table(header: [[.text("member")], [.text("type")], [.text("meaning")]], rows: rows),
    ]
  }
}

extension APIReference.Call {
  fileprivate var blocks: [Markdown.Block] {
    var blocks: [Markdown.Block] = [
      .heading(level: 3, id: id, [.link([.code(name)], "#\(id)")]),
      .paragraph(Markdown.spans(documentation.summary)),
    ]
    blocks += Markdown(documentation.detail).blocks
    blocks.append(.paragraph(Markdown.spans(access + " Operation `\(id)`.")))
    func add(_ title: String, _ block: Markdown.Block) {
      blocks.append(.heading(level: 4, id: "\(id)-\(Markdown.id(title))", [.text(title)]))
      blocks.append(block)
    }
    if !documentation.parameters.isEmpty { add("Parameters", parameters(documentation.parameters)) }
    if let body = documentation.body, !body.isEmpty {
      let items = body.sorted { $0.key < $1.key }.map { type, description in
        [Markdown.Block.paragraph(Self.content(type, description["schema"]))]
      }
      add("Body", .list(isOrdered: false, items: items))
    }
    add("Responses", responses(documentation))
    if !problems.isEmpty { add("Problems", .list(isOrdered: false, items: problems.map(\.item))) }
    return blocks
  }

  private func parameters(_ parameters: [Endpoint.Parameter]) -> Markdown.Block {
    let rows = parameters.map { parameter -> [[Markdown.Span]] in
      var text = Markdown.spans(parameter.text)
      let type = SchemaText.type(parameter.schema)
      if !type.isEmpty, type != [.text("string")] { text += [.text(" Type: ")] + type + [.text(".")] }
      if parameter.isRequired, parameter.place != .path { text.append(.text(" Required.")) }
      return [[.code(parameter.name)], [.text(parameter.place.rawValue)], text]
    }
    return .table(header: [[.text("name")], [.text("in")], [.text("meaning")]], rows: rows)
  }

  private func responses(_ documentation: Endpoint.Documentation) -> Markdown.Block {
    let rows = documentation.responses.map { response -> [[Markdown.Span]] in
      let contents = response.content.sorted { $0.key < $1.key }.map { Self.content($0.key, $0.value) }
      let fields = Set(response.fields + documentation.fields).sorted().map { [Markdown.Span.code($0)] }
      return [
        [.code("\(response.status)")], Markdown.spans(response.text), SchemaText.joined(contents),
        SchemaText.joined(fields),
      ]
    }
    return .table(
      header: [[.text("status")], [.text("meaning")], [.text("content")], [.text("fields")]], rows: rows)
  }

  /// Returns a media type, and the type of the content if it has a schema.
  private static func content(_ mediaType: String, _ schema: JSONValue?) -> [Markdown.Span] {
    let type = schema.map(SchemaText.type) ?? []
    return [.code(mediaType)] + (type.isEmpty || type == [.text("string")] ? [] : [.text(": ")] + type)
  }
}

extension ProblemKind {
  /// The item of the kind in a list.
  fileprivate var item: [Markdown.Block] {
    let statuses = statuses.map { "\($0.code)" }.joined(separator: ", ")
    return [.paragraph([.text(statuses + " "), .code(rawValue), .text(": ")] + Markdown.spans(text))]
  }
}

/// Texts about the schemas of the API's JSON.
private enum SchemaText {
  /// Returns the id of the heading of a schema.
  static func id(_ name: String) -> String { "object-" + name }

  /// Returns the members of an object by name.
  static func members(_ schema: JSONValue) -> [(name: String, schema: JSONValue, isRequired: Bool)] {
    guard case .object(let properties)? = schema["properties"] else { return [] }
    let required = Set((schema["required"]?.items ?? []).compactMap(\.text))
    return properties.sorted { $0.key < $1.key }.map { ($0.key, $0.value, required.contains($0.key)) }
  }

  /// Returns the type of the values that conform to a schema. Empty if it accepts any value.
  static func type(_ schema: JSONValue) -> [Markdown.Span] {
    if let name = schema["$ref"]?.text?.split(separator: "/").last {
      return [.link([.code(String(name))], "#" + id(String(name)))]
    }
    if let values = schema["enum"]?.items { return joined(values.map { [.code($0.shown)] }, " or ") }
    if let value = schema["const"] { return [.code(value.shown)] }
    guard let type = schema["type"]?.text else { return [] }
    switch type {
    case "array": return [.text("array of ")] + (schema["items"].map(self.type) ?? [])
    case "object":
      let names = members(schema).map { [Markdown.Span.code($0.name)] }
      return [.text(names.isEmpty ? "object" : "object of ")] + joined(names)
    case "string": return [.text(schema["format"]?.text == "date-time" ? "time" : "string")]
    default: return [.text(type)]
    }
  }

  static func joined(_ parts: [[Markdown.Span]], _ separator: String = ", ") -> [Markdown.Span] {
    Array(parts.joined(separator: [Markdown.Span.text(separator)]))
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

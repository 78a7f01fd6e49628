import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import TestSupport
import Testing

@Suite struct APIDescriptionTests {
  private let api: TestAPI
  private let document = DescribedAnswers.document

  init() {
    var observation = Observation()
    observation.metricsText = (text: { "a 1\n" }, contentType: "text/plain; version=0.0.4; charset=utf-8")
    api = TestAPI(observation: observation)
  }

  @Test func `the description lists every call with its methods, and nothing else`() {
    let calls = Set(api.calls.map(\.name))
    #expect(calls.count == api.calls.count)
    var described: Set<String> = []
    for path in document["paths"]?.keys ?? [] {
      let methods = document["paths"]?[path]?.keys ?? []
      #expect(methods.contains("options"), "\(path)")
      #expect(methods.contains("head") == methods.contains("get"), "\(path)")
      for method in methods where method != "head" && method != "options" {
        described.insert("\(method.uppercased()) \(path)")
      }
    }
    #expect(described == Set(calls.map { $0.replacing("...}", with: "}") }))
  }

  @Test func `described paths are answered, and allow exactly the described methods`() async throws {
    for path in document["paths"]?.keys ?? [] {
      let methods = (document["paths"]?[path]?.keys ?? []).map { $0.uppercased() }.sorted()
      let concrete = path.replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(SnapshotID())")
      let options = try await api.send(.options, concrete)
      #expect(options.fields[.allow] == methods.joined(separator: ", "), "\(path)")
    }
  }

  @Test func `every path parameter is described, and no other`() {
    for endpoint in api.calls {
      let names = endpoint.template.split(separator: "/").filter { $0.hasPrefix("{") }
        .map { $0.dropFirst().prefix { $0 != "}" && $0 != "." } }
      let described = (endpoint.documentation?.parameters ?? []).filter { $0.place == .path }.map(\.name)
      #expect(Set(names.map(String.init)) == Set(described), "\(endpoint.id)")
    }
  }

  @Test func `the schema of problems lists every kind, each with its own type`() {
    let types = document["components"]?["schemas"]?["Problem"]?["properties"]?["type"]?["enum"]?.items ?? []
    #expect(types.count == Set(types.compactMap(\.text)).count)
    #expect(
      Set(types.compactMap(\.text)) == Set(ProblemKind.allCases.map(\.type)).union(["about:blank"]))
  }

  @Test(
    arguments: [
      .badRequest(""), .noSuchPath(), .methodNotAllowed(.get, allowed: ""), .unknownMethod(.get),
      .preconditionFailed(), .rangeNotSatisfiable(size: 1),
    ] as [HTTPProblem]) func `the engine's own refusals are described with their real texts`(
      problem: HTTPProblem
    ) throws
  {
    let kind = try #require(ProblemKind(problem))
    #expect(kind.statuses == [problem.status])
    #expect(kind.title == problem.title)
  }

  @Test func `every reference resolves, and every operation has a unique name`() throws {
    for reference in Set(document.texts(under: "$ref")) {
      var place: JSONValue? = document
      for step in reference.split(separator: "/").dropFirst() { place = place?[String(step)] }
      #expect(place != nil, "\(reference)")
    }
    let names = document.texts(under: "operationId")
    #expect(Set(names).count == names.count)
  }

  @Test func `the schema of records has the keys of records`() async throws {
    let bundle = try ZippedSample()
    let answer = try await api.upload(bundle.bytes)
    let record = try answer.decode(JSONValue.self)
    let schema = try #require(document["components"]?["schemas"]?["Snapshot"])
    let known = Set(schema["properties"]?.keys ?? [])
    let required = Set((schema["required"]?.items ?? []).compactMap(\.text))
    #expect(Set(record.keys).isSubset(of: known))
    #expect(required.isSubset(of: record.keys))
    for part in ["application", "device"] {
      #expect(record[part]?.keys == schema["properties"]?[part]?["properties"]?.keys)
    }
    // Every property of a record in Swift that the API sends is described, even if this record has no value for it.
    let properties = Mirror(reflecting: try answer.decode(SnapshotRecord.self)).children.compactMap(\.label)
    #expect(known == Set(properties).union(["bundle"]).subtracting(["identifiers", "revision", "attempt"]))
  }

  @Test func `the server serves its description`() async throws {
    let answer = try await api.send(.get, "/openapi.json")
    #expect(answer.status == 200)
    #expect(answer.fields[.contentType] == "application/json")
    #expect(try answer.decode(JSONValue.self) == APIDescription(api.calls, isOpen: true).document)
    let tag = try #require(answer.fields[.eTag])
    #expect(try await api.send(.get, "/openapi.json", [.ifNoneMatch: tag]).status == 304)
  }

  @Test(arguments: ["/", "/openapi.json"])
  func `an unchanged document is not sent again`(path: String) async throws {
    #expect(try await api.send(.get, path, [.ifNoneMatch: "*"]).status == 304)
    #expect(try await api.send(.head, path, [.ifNoneMatch: "*"]).status == 304)
    #expect(try await api.send(.get, path, [.ifMatch: "\"another\""]).status == 412)
  }

  @Test func `part of a JSON document is never sent`() async throws {
    let bundle = try ZippedSample()
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    for path in ["/v1/snapshots/\(bundle.id)", "/openapi.json"] {
      let answer = try await api.send(.get, path, [.range: "bytes=1-5,7-9"])
      #expect(answer.status == 200)
      #expect(answer.fields[.acceptRanges] == nil)
      _ = try answer.decode(JSONValue.self)
    }
  }

  @Test func `digests of other algorithms are ignored`() async throws {
    let bundle = try ZippedSample()
    #expect(try await api.upload(bundle.bytes, fields: [.reprDigest: "null,null"]).status == 201)
  }

  @Test func `public calls are described as public, and all others with the token they need`() {
    for route in api.calls {
      let path = route.template.replacing("...}", with: "}")
      let operation = document["paths"]?[path]?[route.method.rawValue.lowercased()]
      #expect(operation?["security"]?.items?.isEmpty == (route.permission == .open), "\(route.template)")
      let text = operation?["description"]?.text ?? ""
      #expect(text.contains("Needs a token") == (route.permission != .open), "\(route.template)")
    }
  }
}

import Foundation
package import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
package import SnapshotFormat
import Testing

/// Verifies that every response in a test conforms to the description of the API.
package enum DescribedAnswers {
  /// The description of every route, as clients read it.
  package static let document: JSONValue = {
    var observation = Observation()
    observation.metricsText = (text: { "" }, contentType: "text/plain")
    return APIDescription(TestAPI(observation: observation).calls).document
  }()

  /// Fields that do not depend on the call.
  private static let plain: Set<String> = ["content-type", "content-length"]

  /// Whether the response is not one of the API.
  private static func isPage(_ route: String, _ answer: TestAPI.Answer) -> Bool {
    let isShared = document["paths"]?[String(route.drop { $0 != "/" })] != nil
    return pages.contains(route)
      && (!isShared || answer.fields[.contentType] == "text/html; charset=utf-8" || answer.status == 303)
  }

  private static let pages = Set(
    TestAPI().pages.map { $0.name } + ["GET /assets/{name}"])

  /// Verifies that the response's status, fields and kind of problem are in the description of its route.
  package static func check(_ request: HTTPServerRequest, _ answer: TestAPI.Answer) {
    guard let route = (request.userInfo as? RequestContext)?.facts.route?.name, !isPage(route, answer) else {
      return
    }
    let path = String(route.drop { $0 != "/" }.replacing("...}", with: "}"))
    let operation = document["paths"]?[path]?[request.method.rawValue.lowercased()]
    let name = "\(request.method) \(path)"
    guard let operation else {
      Issue.record("\(name) is not described")
      return
    }
    guard let response = operation["responses"]?["\(answer.status)"] else {
      Issue.record("\(name) is not said to answer \(answer.status)")
      return
    }
    for field in answer.fields where !plain.contains(field.name.canonicalName) {
      let isDescribed = response["headers"]?.keys.contains { $0.lowercased() == field.name.canonicalName }
      if isDescribed != true { Issue.record("\(name), \(answer.status): \(field.name) is not described") }
    }
    if let problem = answer.problem {
      let schemas = response["content"]?["application/problem+json"]?["schema"]?["allOf"]?.items ?? []
      let types = schemas.compactMap { $0["properties"]?["type"]?["enum"]?.items }.joined()
      if request.method != .head, !types.contains(.string(problem.type)) {
        Issue.record("\(name), \(answer.status): \(problem.type) is not described")
      }
      if ProblemKind(problem)?.statuses.contains(problem.status) != true {
        Issue.record("\(problem.type) is described with another status")
      }
    } else if let type = answer.fields[.contentType]?.prefix(while: { $0 != ";" }), request.method != .head {
      if response["content"]?[String(type)] == nil {
        Issue.record("\(name), \(answer.status): \(type) is not described")
      }
    }
  }
}

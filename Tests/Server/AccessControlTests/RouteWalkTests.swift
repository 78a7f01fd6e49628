import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import Testing

/// Requests every route of the router with every kind of token.
@Suite struct RouteWalkTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
  }

  private func path(_ template: String, _ id: SnapshotID) -> String {
    template.replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(id)")
      .replacing(/\{[^}]*\}/, with: "x")
  }

  /// Requests every route with each of its methods, for a snapshot that exists and for one that does not.
  private func walk(
    _ fields: HTTPFields, _ check: (Endpoint, TestAPI.Answer) throws -> Void
  ) async throws {
    #expect(guarded.api.calls.count > 8)
    for route in guarded.api.calls {
      for method in route.method == .get ? [.get, .head] : [route.method] {
        for id in [bundle.id, SnapshotID()] {
          let body = HTTPRequestBody(declaredLength: 10) {
            Issue.record("\(method) \(route.template) reads a body")
            return nil
          }
          let isRefused = route.permission != .open
          let answer = try await guarded.api.send(
            method, path(route.template, id), fields, body: isRefused ? body : .empty)
          try check(route, answer)
        }
      }
    }
    #expect(try await guarded.api.store.record(bundle.id).id == bundle.id)
  }

  @Test func `only routes that disclose nothing of snapshots are open`() {
    let open = guarded.api.calls.filter { $0.permission == .open }.map(\.template)
    #expect(Set(open).isSubset(of: ["/", "/healthz", "/readyz", "/openapi.json"]))
    #expect(open.contains("/healthz"))
  }

  @Test(arguments: [
    "none", "malformed", "another scheme", "two", "wrong", "wrong secret", "unknown", "expired", "revoked",
    "empty",
  ])
  func `no route admits a request without a valid token`(kind: String) async throws {
    let right = try guarded.token(.admin)
    let secret = try #require(right.fields[.authorization]).dropFirst("Bearer ".count)
    let other = try #require(try GuardedAPI().token(.admin).fields[.authorization])
    var fields: HTTPFields = [:]
    switch kind {
    case "none": break
    case "malformed": fields = GuardedAPI.bearer("x y")
    case "another scheme": fields[.authorization] = "Basic \(secret)"
    case "two": fields[.authorization] = "Bearer \(secret), Bearer \(secret)"
    case "wrong": fields = GuardedAPI.bearer(String(secret.dropLast()) + (secret.last == "A" ? "E" : "A"))
    case "wrong secret": fields = GuardedAPI.bearer(secret.prefix(22) + String(repeating: "A", count: 43))
    case "unknown": fields[.authorization] = other
    case "expired":
      fields = try guarded.token(.admin, expiresAt: guarded.clock.now.addingTimeInterval(10)).fields
      guarded.clock.pass(.seconds(10))
    case "revoked":
      fields = right.fields
      try guarded.tokens.revoke(right.id)
    default: fields = GuardedAPI.bearer("")
    }
    try await walk(fields) { route, answer in
      if route.permission == .open {
        #expect(answer.status == 200, "\(route.template)")
      } else {
        #expect(answer.status == 401, "\(route.method) \(route.template)")
        let challenge = try #require(answer.fields[.wwwAuthenticate])
        #expect(challenge.hasPrefix("Bearer realm="))
        #expect(challenge.contains("invalid_token") == (kind != "none"))
        #expect(answer.fields[.xContentTypeOptions] == "nosniff")
      }
    }
  }

  @Test(
    arguments: [
      (.attach, [.open, .attach, .status]), (.read, [.open, .status, .bundle, .read]),
      (.comment, [.open, .comment]), (.delete, [.open, .comment, .delete]),
    ] as [(Scope, Set<Permission>)])
  func `a token is admitted to the routes of its scope, and no others`(
    scope: Scope, permissions: Set<Permission>
  ) async throws {
    let token = try guarded.token(scope)
    let routes = guarded.api.calls
    #expect(!routes.filter { !permissions.contains($0.permission) }.isEmpty)
    for route in routes where !permissions.contains(route.permission) {
      for id in [bundle.id, SnapshotID()] {
        let answer = try await guarded.api.send(route.method, path(route.template, id), token.fields)
        #expect(answer.status == 403, "\(route.method) \(route.template)")
        #expect(answer.kind == "not-permitted")
        #expect(answer.fields[.wwwAuthenticate]?.contains("insufficient_scope") == true)
      }
    }
    #expect(try await guarded.api.store.record(bundle.id).id == bundle.id)
    // Links to attach need the scope attach as well.
    let linking = ["createAttachLink", "listAttachLinks", "revokeAttachLink"]
    for route in routes where permissions.contains(route.permission) && !linking.contains(route.id) {
      let answer = try await guarded.api.send(route.method, path(route.template, SnapshotID()), token.fields)
      #expect(![401, 403].contains(answer.status), "\(route.method) \(route.template)")
    }
  }

  @Test func `an admin is admitted to every route`() async throws {
    let token = try guarded.token(.admin)
    for route in guarded.api.calls {
      let answer = try await guarded.api.send(route.method, path(route.template, SnapshotID()), token.fields)
      #expect(![401, 403].contains(answer.status), "\(route.method) \(route.template)")
    }
  }

  @Test func `scopes are cumulative`() async throws {
    let token = try guarded.token(.read, .delete)
    #expect(try await guarded.api.send(.get, "/v1/snapshots/\(bundle.id).zip", token.fields).status == 200)
    #expect(try await guarded.api.upload(bundle.bytes, fields: token.fields).status == 403)
    #expect(try await guarded.api.send(.delete, "/v1/snapshots/\(bundle.id)", token.fields).status == 204)
  }
}

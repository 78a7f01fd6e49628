public import HTTPEngine

/// Decides who may make which call.
///
/// Asked before anything of a request's body is read, so that a refusal comes in place of `100 (Continue)`.
public struct AccessControl: Sendable {
  /// Lets everybody do everything.
  public static let open = AccessControl()

  /// Admits the caller of a call that needs `permission`, or throws the ``HTTPProblem`` that says why not.
  public func admit(_ routed: RoutedRequest, _ permission: Permission) async throws -> Caller {
    Caller(
      .none, scopes: permission == .open ? [] : Set(Scope.allCases),
      address: Self.address(routed.request.peer))
  }

  /// A peer without its port.
  private static func address(_ peer: String) -> String {
    guard let colon = peer.lastIndex(of: ":"), peer[colon...].dropFirst().allSatisfy(\.isNumber),
      peer.first == "[" || peer.firstIndex(of: ":") == colon
    else { return peer }
    return String(peer[..<colon])
  }
}

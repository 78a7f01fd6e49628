import DataSnapshots
import Foundation
import SystemIO

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What belongs to one configuration: the mode, the rules, and the session that sends requests.
final class SessionBinding: Sendable {
  private struct Owner {
    weak var mode: SnapshotMode?
  }

  let rules: ExchangeRules
  /// The settings for sending requests.
  let configuration: URLSessionConfiguration
  private let owner: Lock<Owner>
  private let live = Lock<LiveSession?>(nil)

  init(_ mode: SnapshotMode, _ configuration: URLSessionConfiguration, _ rules: ExchangeRules) {
    owner = Lock(Owner(mode: mode))
    self.configuration = configuration
    self.rules = rules
  }

  /// `nil` if the app has released it.
  var mode: SnapshotMode? { owner.withLock { $0.mode } }

  /// The session that sends requests, which is made when it is first needed.
  var session: LiveSession {
    live.withLock { live in
      let session = live ?? LiveSession(configuration)
      live = session
      return session
    }
  }

  /// Lets the requests under way end, and releases the session.
  func close() { live.withLock { $0.take() }?.close() }
}

/// Knows which configuration a protocol class belongs to.
///
/// A session makes its protocols from classes, and says nothing of itself to them. So each configuration gets a class of its
/// own. It is made at run time, from a generic class with a number as its type argument, and never used again for another
/// configuration: a session that outlives its mode can't reach another one.
final class SessionBindings: Sendable {
  static let shared = SessionBindings()
  /// The maximum number of configurations in a process. A class takes about a kilobyte.
  static let limit = 10_000

  private struct Table {
    var count = 0
    var bindings: [ObjectIdentifier: SessionBinding] = [:]
  }

  private let table = Lock(Table())

  /// Returns the class of a new configuration; `nil` if there are too many.
  func bind(_ binding: SessionBinding) -> SnapshotURLProtocol.Type? {
    let (made, released) = table.withLock { table -> (SnapshotURLProtocol.Type?, [SessionBinding]) in
      let released = table.bindings.filter { $0.value.mode == nil }
      for identifier in released.keys { table.bindings[identifier] = nil }
      guard table.count < Self.limit else { return (nil, Array(released.values)) }
      table.count += 1
      let made = makeClass(table.count, Zero.self)
      table.bindings[ObjectIdentifier(made)] = binding
      return (made, Array(released.values))
    }
    for binding in released { binding.close() }
    return made
  }

  subscript(protocolClass: AnyClass) -> SessionBinding? {
    table.withLock { $0.bindings[ObjectIdentifier(protocolClass)] }
  }
}

/// A number as a type, in binary digits, the last one outermost.
protocol Number {}
enum Zero: Number {}
enum Even<Half: Number>: Number {}
enum Odd<Half: Number>: Number {}

/// Returns the class with the digits of `number` before those of `Digits`.
private func makeClass<Digits: Number>(_ number: Int, _: Digits.Type) -> SnapshotURLProtocol.Type {
  if number == 0 { return NumberedURLProtocol<Digits>.self }
  if number.isMultiple(of: 2) { return makeClass(number / 2, Even<Digits>.self) }
  return makeClass(number / 2, Odd<Digits>.self)
}

private final class NumberedURLProtocol<Digits: Number>: SnapshotURLProtocol {}

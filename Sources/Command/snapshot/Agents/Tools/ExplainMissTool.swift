import DataSnapshots
import Foundation
import Redaction
import SnapshotFormat

/// Says why a replay has no answer to a request or an identifier.
struct ExplainMissTool: MCPTool {
  /// The maximum number of calls that are listed.
  private static let mostCalls = 50

  let snapshots: OfferedSnapshots

  let name = "explain_miss"
  let title = "Explain a missing recording"
  let description = """
    Says why a replay of the snapshot has no recording for an identifier or a request, such as \
    GET https://example.com/feed?page=2 or GET /feed?page=2: whether it was dropped, which module expects it, which \
    recordings are the nearest, and in what they differ.
    """
  let parameters: [ToolParameter] = [
    .snapshot,
    ToolParameter(
      "identifier", .text,
      "The identifier or the request that was asked for. Of a request with a body, its identifier.",
      isRequired: true),
  ]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let opened = try await snapshots.open(arguments.required("snapshot"))
    let manifest = opened.snapshot.manifest
    let recorded = manifest.recordings.map(\.identifier)
    let wanted = try Self.requests(arguments.required("identifier"), hostsOf: recorded)
    let known = Set(wanted)

    let calls = manifest.recordings.filter { known.contains($0.identifier) }
    if !calls.isEmpty {
      answer.say(
        "It is recorded, with \(Console.count(calls.count, "call")). A replay misses it only after the last call, or if its redaction or body differs."
      )
      answer.quote(
        "the calls",
        calls.prefix(Self.mostCalls).map { recording in
          let call = recording.call.map { ", call \($0)" } ?? ""
          let outcome = recording.exchange.map { " → \($0.outcome)" } ?? ""
          return "\(recording.identifier)\(call)\(outcome), \(Console.size(recording.size))"
        })
      return
    }
    answer.say("It is not recorded.")
    let dropped = manifest.dropped.filter { known.contains($0.identifier ?? "") }
    if !dropped.isEmpty { answer.quote("that it was dropped", dropped.map { "\($0)" }) }
    let modules = manifest.modules.filter { $0.files.contains(where: known.contains) }
    if !modules.isEmpty { answer.quote("modules that expect it", modules.prefix(20).map(\.name)) }
    var identifiers: [String] = []
    var seen: Set<String> = []
    for identifier in recorded where seen.insert(identifier).inserted { identifiers.append(identifier) }
    let nearest = Self.nearest(to: wanted, among: identifiers)
    guard !nearest.isEmpty else {
      return answer.say("No recorded identifier is similar. The snapshot has \(identifiers.count).")
    }
    answer.quote("the nearest recordings, and in what the request differs from them", nearest)
    answer.say(
      "The app asked for something else than when it was recorded, or the call came after the snapshot.")
  }

  /// The identifiers that a request can have: with every recorded host if it has only a path.
  private static func requests(_ text: String, hostsOf recorded: [String]) -> [String] {
    let words = text.split(separator: " ", maxSplits: 1)
    guard words.count == 2, let method = words.first, method.allSatisfy({ $0.isUppercase || $0 == "-" }),
      let target = words.last
    else { return [text] }
    var hosts: [String] = []
    if target.hasPrefix("/") {
      for identifier in recorded {
        if let host = ExchangeIdentifier(identifier)?.host, !hosts.contains(host), hosts.count < 20 {
          hosts.append(host)
        }
      }
    }
    let urls = target.hasPrefix("/") ? hosts.map { $0 + target } : [String(target)]
    let rules = ExchangeRules()
    let redactor = Redactor(rules: [])
    let identifiers = urls.compactMap { url in
      // A body's digest, or the name of an operation, is a part of an identifier, and not of a URL.
      url.contains(" ")
        ? nil
        : URL(string: url).map { rules.identifier(method: String(method), url: $0, body: Data(), redactor) }
    }
    return [text] + identifiers
  }

  private static func nearest(to wanted: [String], among recorded: [String]) -> [String] {
    var lines: [String] = []
    for text in wanted {
      guard let request = ExchangeIdentifier(text) else { continue }
      for name in request.nearest(among: recorded) where !lines.contains(where: { $0.hasPrefix(name + ":") })
      {
        guard let other = ExchangeIdentifier(name) else { continue }
        lines.append("\(name): the request differs in \(request.difference(from: other))")
      }
    }
    guard lines.isEmpty, let first = wanted.first else { return Array(lines.prefix(5)) }
    return NearestIdentifiers.find(first, among: recorded)
  }
}

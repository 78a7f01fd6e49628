import ArgumentParser
import Foundation
import HTTPSemantics
import SnapshotServer

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: """
      Examines a server on this machine: storage, settings, permissions, clock, disk, certificate and proxy.
      """,
    discussion: """
      Changes nothing, except that its requests are in the audit log. Prints what is wrong and how to correct it. With \
      --url, also examines the address that others use: certificate, proxy and the field Forwarded. To examine webhooks \
      it needs a token with the scope admin in the environment variable SNAPSHOT_TOKEN. Run it as the user of the server. The exit code is 2 if something is wrong.
      """)

  @Option(
    help: ArgumentHelp(
      "The address that others use, such as https://snapshots.example.org.", valueName: "url"))
  var url: String?

  @Option(help: ArgumentHelp("The folder or archive of a backup, to examine its age.", valueName: "backup"))
  var backup: String?

  @Flag(help: "Print only warnings and errors.")
  var quiet = false

  @Flag(help: "Print the findings as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    var flags: [String: String] = [:]
    flags["server.storage"] = options.storage
    let source = SettingsSource(
      flags: flags, file: options.config ?? "Config/server.yaml", fileIsRequired: options.config != nil)
    let (read, problems) = try source.inspect()
    var findings = Self.examine(source, problems)
    findings += StorageExamination(read.settings).run()
    findings += MachineExamination(settings: read.settings).run()
    if let backup { findings.append(BackupExamination(backup: backup).run()) }
    let certificates = CertificateExamination(settings: read.settings).run()
    findings += certificates.findings
    let server = ServerExamination(read.settings, pin: certificates.pin)
    findings += await server.runLocally()
    let token = ProcessInfo.processInfo.environment["SNAPSHOT_TOKEN"]?.trimmedSecret
    findings += await WebhookExamination(
      settings: read.settings, pin: certificates.pin, token: token?.isEmpty == false ? token : nil
    ).run()
    if let url {
      guard let url = URL(string: url), ["http", "https"].contains(url.scheme), url.host() != nil else {
        throw CommandFailure(
          "‘\(url)’ is not an address such as https://snapshots.example.org.", status: .refused)
      }
      findings += await server.run(through: url)
    }
    show(findings.filter { !quiet || $0.severity != .ok })
    let count = findings.count { $0.severity == .error }
    guard count == 0 else {
      throw CommandFailure(count == 1 ? "1 thing is wrong." : "\(count) things are wrong.", status: .refused)
    }
  }

  private static func examine(_ source: SettingsSource, _ problems: [String]) -> [Finding] {
    let errors = problems.map {
      Finding.error("settings", $0, mend: "Correct \(source.file) or the environment variable.")
    }
    let warnings = source.unknownVariables.map {
      Finding.warning(
        "settings", "The environment variable \($0) is not a setting.",
        mend: "Correct its name, or remove it.")
    }
    return errors.isEmpty ? [.ok("settings", "The settings are valid.")] + warnings : errors + warnings
  }

  private func show(_ findings: [Finding]) {
    if json { return Console.print(json: findings) }
    let width = findings.map(\.topic.count).max() ?? 0
    for finding in findings {
      let (mark, color): (String, Console.Color) =
        switch finding.severity {
        case .ok: ("ok     ", .green)
        case .warning: ("warning", .yellow)
        case .error: ("error  ", .red)
        }
      let topic = Columns.padded(finding.topic, to: width)
      Console.print("\(Console.colored(mark, color))  \(topic)  \(Console.escaped(finding.text))")
      if let mend = finding.mend {
        Console.print(String(repeating: " ", count: 11 + width) + "→ " + Console.escaped(mend))
      }
    }
  }
}

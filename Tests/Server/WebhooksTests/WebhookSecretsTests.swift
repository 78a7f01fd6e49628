import Foundation
import SystemIO
import TestSupport
import Testing
import Webhooks

/// The secrets, and the signatures that they make.
@Suite struct WebhookSecretsTests {
  @Test func `the example of the standard has its signature`() throws {
    let secrets = try WebhookSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    #expect(
      secrets.signatures(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
        body: Data(#"{"test": 2432232314}"#.utf8))
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  private static func secret(_ count: Int) -> String {
    "whsec_" + Data(repeating: 7, count: count).base64EncodedString()
  }

  @Test(arguments: [(23, false), (24, true), (64, true), (65, false)])
  func `the length of a secret is limited`(count: Int, isValid: Bool) {
    #expect(((try? WebhookSecrets(Self.secret(count))) != nil) == isValid)
  }

  @Test(arguments: [0, 1, 2, 3])
  func `there are one or two secrets`(count: Int) {
    let text = (0..<count).map { _ in Self.secret(24) }.joined(separator: "\r\n\n")
    #expect(((try? WebhookSecrets(text)) != nil) == (1...2).contains(count))
  }

  @Test(arguments: [
    "whsec_", "whsec_&&&&", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
  ])
  func `a malformed secret is named by its line, and not repeated`(text: String) {
    let error = #expect(throws: WebhookSecrets.Failure.self) {
      try WebhookSecrets(Self.secret(24) + "\n" + text)
    }
    #expect(error == .malformed(line: 2))
  }

  @Test func `a file that is missing or too long is refused`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: WebhookSecrets.Failure.file(.missing)) {
      try WebhookSecrets(path: folder.file("missing").path)
    }
    let secret = Self.secret(24)
    let padding = String(repeating: "\n", count: WebhookLimits.secretFileBytes - secret.utf8.count)
    let longest = try folder.write(Data((secret + padding).utf8), to: "longest")
    _ = try WebhookSecrets(path: longest.path)
    let longer = try folder.write(Data((secret + padding + "\n").utf8), to: "longer")
    #expect(throws: WebhookSecrets.Failure.file(.tooLong(limit: WebhookLimits.secretFileBytes))) {
      try WebhookSecrets(path: longer.path)
    }
  }
}

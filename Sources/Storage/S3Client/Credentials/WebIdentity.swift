package import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
import SystemIO

/// Temporary credentials for the identity that an orchestrator has given to this process, such as Kubernetes to the
/// account of a service. A file has the token of the identity, which the security token service exchanges for credentials
/// of a role (`AssumeRoleWithWebIdentity`). Thread-safe.
///
/// Credentials are exchanged again when the rest of their lifetime is ``S3Limits/credentialsMargin``. If that fails, those
/// that have not expired are used.
package final class WebIdentity: Sendable {
  private struct Session {
    let credentials: S3Credentials
    let expiration: Date

    /// Reads the answer to `AssumeRoleWithWebIdentity`; `nil` if it lacks a part.
    init?(_ answer: Data) {
      let document: XMLElement
      do { document = try XMLElement(document: answer) } catch { return nil }
      guard
        let element = document.first("AssumeRoleWithWebIdentityResult")?.first("Credentials"),
        let accessKey = element["AccessKeyId"], let secretKey = element["SecretAccessKey"],
        let token = element["SessionToken"],
        let credentials = S3Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: token),
        let expiration = element["Expiration"].flatMap({ UTCTime.milliseconds(rfc3339: Array($0.utf8)[...]) })
      else { return nil }
      self.credentials = credentials
      self.expiration = Date(timeIntervalSince1970: Double(expiration) / 1000)
    }
  }

  private struct State {
    var session: Session?
    /// When credentials can be exchanged again, after a failure.
    var pause = Date.distantPast
    /// Requests that need credentials at the same time share an exchange.
    var running: Task<Result<Session, S3Error>, Never>?
  }

  private enum Step {
    case use(S3Credentials)
    case wait(Task<Result<Session, S3Error>, Never>)
  }

  private let endpoint: URL
  private let role: String
  private let sessionName: String
  private let tokenPath: String
  private let state = Lock(State())

  /// Names a role. Nothing is read or sent before the first request.
  /// - Parameters:
  ///   - endpoint: the security token service.
  ///   - role: the identifier of the role (ARN).
  ///   - sessionName: the name under which the service logs what is done with the credentials.
  ///   - tokenPath: the file with the token, which can change at any time.
  package init(endpoint: URL, role: String, sessionName: String, tokenPath: String) {
    self.endpoint = endpoint
    self.role = role
    self.sessionName = sessionName
    self.tokenPath = tokenPath
  }

  /// The present credentials.
  func credentials(over transport: any Transport, at now: Date) async throws(S3Error) -> S3Credentials {
    let step = state.withLock { state -> Step in
      if let session = state.session, now < session.expiration,
        now < max(session.expiration - S3Limits.credentialsMargin, state.pause)
      {
        return .use(session.credentials)
      }
      if let running = state.running { return .wait(running) }
      // The task is not a part of the caller's: others may wait for it when the caller is cancelled.
      let task = Task { [self] in
        let result: Result<Session, S3Error>
        do throws(S3Error) { result = .success(try await exchange(transport)) } catch {
          result = .failure(error)
        }
        end(result, at: now)
        return result
      }
      state.running = task
      return .wait(task)
    }
    switch step {
    case .use(let credentials): return credentials
    case .wait(let task):
      do throws(S3Error) { return try await task.value.get().credentials } catch {
        guard let session = state.withLock({ $0.session }), now < session.expiration else { throw error }
        return session.credentials
      }
    }
  }

  private func end(_ result: Result<Session, S3Error>, at now: Date) {
    state.withLock { state in
      state.running = nil
      switch result {
      case .success(let session): state.session = session
      case .failure: state.pause = now + S3Limits.credentialsPause
      }
    }
  }

  private func exchange(_ transport: any Transport) async throws(S3Error) -> Session {
    let token: String
    do {
      // Orchestrators provide such files as symbolic links.
      let file = try File(URL(filePath: tokenPath).resolvingSymlinksInPath().path)
      let text = String(decoding: try file.read(upTo: S3Limits.credentialsBytes, at: 0), as: UTF8.self)
      token = text.trimmedSecret
    } catch {
      throw .credentials("the file of the identity's token can't be read: \(error)")
    }
    guard !token.isEmpty else { throw .credentials("\(tokenPath) has no token") }
    let parameters = [
      ("Action", "AssumeRoleWithWebIdentity"), ("RoleArn", role), ("RoleSessionName", sessionName),
      ("Version", "2011-06-15"), ("WebIdentityToken", token),
    ]
    let form = parameters.map { "\($0)=\(S3Encoding.encode($1))" }.joined(separator: "&")
    let request = HTTPRequest(
      method: .post, scheme: endpoint.scheme, authority: Self.authority(of: endpoint),
      path: endpoint.path.isEmpty ? "/" : endpoint.path,
      headerFields: [.contentType: "application/x-www-form-urlencoded"])
    let response: TransportResponse
    do {
      response = try await transport.send(
        request, body: .bytes(Data(form.utf8)), destination: .memory(limit: S3Limits.errorBytes),
        timeouts: TransportTimeouts(), events: nil)
    } catch {
      throw .transport(error)
    }
    guard response.head.status.kind == .successful else { throw Self.refusal(response) }
    guard let session = Session(response.body) else {
      throw .credentials("the answer of \(endpoint.host() ?? "") has none")
    }
    return session
  }

  private static func refusal(_ response: TransportResponse) -> S3Error {
    let refusal = S3Refusal(response)
    if refusal.isTemporary { return .refused(refusal) }
    return .credentials(
      "the identity was refused with status \(refusal.status)"
        + (refusal.code.isEmpty ? "" : " and \(refusal.code)"))
  }

  private static func authority(of endpoint: URL) -> String {
    (endpoint.host() ?? "") + (endpoint.port.map { ":\($0)" } ?? "")
  }
}

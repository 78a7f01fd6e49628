import HTTPTypes
import Logging
import Synchronization

extension Connection {
  /// Sends an interim answer to the request `number`, and waits until the client's system has taken it.
  /// - Returns: whether it went out.
  func sendInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields, number: UInt64) async -> Bool {
    let wasSent = Mutex(false)
    do {
      try await onLoop(number) {
        let isSent = self.writeInterim(status, fields)
        wasSent.withLock { $0 = isSent }
      }
    } catch {
      return false
    }
    return wasSent.withLock { $0 }
  }

  /// Whether an interim answer may go out: none once the final one has begun (RFC 9110 §15.2).
  var mayAnswerInterim: Bool {
    phase == .request && !exchange.isQueued && held == nil && exchange.status == 0
      && !exchange.isUnheard
  }

  private func writeInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
    // HTTP/1.0 has no interim answers: its clients would take one for the final (§15.2).
    guard mayAnswerInterim, exchange.minorVersion > 0 else { return false }
    loop.output.removeAll()
    do throws(ResponseHead.Unlawful) {
      try ResponseHead.writeInterim(status, fields, into: loop.output)
    } catch {
      loop.context.logger.error("unlawful interim answer", metadata: ["status": "\(status.code)"])
      return false
    }
    queueInterim()
    return mayAnswerInterim
  }

  /// Sends what stands in the loop's buffer, behind interim answers that wait.
  func queueInterim() {
    if output.isEmpty { sendHead() } else { output.append(Array(loop.output.bytes)) }
  }
}

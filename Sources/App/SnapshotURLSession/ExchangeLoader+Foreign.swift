import DataSnapshots
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking

  /// FoundationNetworking gives a protocol neither the body of an upload task nor a place for the file of a download task:
  /// its own protocol answers them.
  extension ExchangeLoader {
    /// Answers an upload or a download task. Returns `false` for other tasks.
    func startForeign() -> Bool {
      guard let task = client.task, task is URLSessionUploadTask || task is URLSessionDownloadTask else {
        return false
      }
      let (request, mode, rules) = (client.request, mode, binding.rules)
      let identify: @Sendable () -> String = { Self.identifier(of: request, Data(), mode, rules) }
      mode.refuseExchange(
        identify(), .unsupported, bytes: 0, "upload and download tasks can't be recorded on this system")
      mode.replayExchange(identify, body: Data()) { [client, binding] answer in
        switch answer {
        case .live: client.handOver(to: binding.configuration.protocolClasses ?? [])
        case .recorded: client.fail(URLError(.cannotCreateFile))
        case .failed(let error): client.fail(error)
        }
      }
      return true
    }
  }
#else
  extension ExchangeLoader {
    func startForeign() -> Bool { false }
  }
#endif

import SnapshotServer
import SystemIO

extension ServerSettings {
  /// Takes the sockets that a service manager has opened, if there are any. They replace the address in the settings,
  /// so that an address that other machines reach needs a token, whoever has opened it.
  mutating func takeListeners(_ environment: [String: String]) throws(CommandFailure) -> [Socket] {
    let listeners: [Socket]
    do { listeners = try InheritedSockets.take(from: environment) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    do throws(SystemError) {
      var addresses: [SocketAddress] = []
      for listener in listeners { addresses.append(try listener.localAddress) }
      if let address = addresses.first(where: { !$0.host.isLoopback }) ?? addresses.first {
        (host, port) = ("\(address.host)", Int(address.port))
      }
    } catch {
      throw CommandFailure("\(error)")
    }
    return listeners
  }
}

package import AccessControl
import HTTPSemantics
package import HTTPTypes
import SystemIO

extension TrustedUsers {
  /// Users whom a proxy at 127.0.0.1 names: developers read and attach, testers attach, and admins do everything.
  package static let ofLoopback: TrustedUsers = {
    var users = TrustedUsers()
    users.groupsHeader = "Remote-Groups"
    users.sources = AddressBlock("127.0.0.1").map { [.network($0)] } ?? []
    users.scopes = ["developers": [.read, .attach], "testers": [.attach], "admins": [.admin]]
    return users
  }()
}

extension HTTPField.Name {
  /// The field with the name of a user.
  package static let remoteUser = constant("Remote-User")
  /// The field with the groups of a user.
  package static let remoteGroups = constant("Remote-Groups")
}

extension HTTPFields {
  /// The fields of a request as the proxy forwards it.
  package static func user(_ name: String, _ groups: String? = nil, _ more: HTTPFields = [:]) -> HTTPFields {
    var fields: HTTPFields = [.remoteUser: name]
    fields[.remoteGroups] = groups
    return fields + more
  }
}

import SnapshotAPI

extension PageFrame {
  func fields(title: String, isHome: Bool) -> Fields {
    var fields: Fields = [
      "title": isHome ? "Data Snapshots" : PageText.cut(title, to: 200).text + " – Data Snapshots",
      "stylesheet": PagePath.asset(.stylesheet).description,
      "script": PagePath.asset(.script).description,
      "icon": PagePath.asset(.icon).description,
      "home": PagePath.home().description,
      "documentation": PagePath.documentation.description,
      "reference": PagePath.reference.description,
      "notice": notice?.words,
      "formToken": formToken,
      "formTokenField": PageField.formToken.rawValue,
      "hasSearch": account != .signedOut && !isHome,
      "searchField": SearchField.text.rawValue,
      "isOpen": account == .open,
      "signIn": account == .signedOut && !hasOneUser && !isForGuests ? PagePath.signIn().description : nil,
      "account": nil,
    ]
    var budget = PageBudget(48)
    switch account {
    case .signedIn(let name) where !hasOneUser:
      fields["account"] = ["name": budget.name(name), "signOut": PagePath.signOut.description] as Fields
    case .user(let name): fields["account"] = ["name": budget.name(name), "signOut": nil] as Fields
    case .open, .signedOut, .signedIn: break
    }
    return fields
  }
}

extension PageNotice {
  /// A sentence about the action.
  var words: String {
    switch self {
    case .attached: "The snapshot was uploaded."
    case .commented: "The comment was added."
    case .deleted: "The snapshot was deleted."
    case .severalDeleted: "The snapshots were deleted."
    case .pinned: "The snapshot is pinned. It does not expire."
    case .unpinned: "The snapshot is no longer pinned. It can expire."
    case .good: "The snapshot is marked as good. Others are compared with it."
    case .linkRevoked: "The link is revoked."
    case .notGood: "The snapshot is no longer marked as good."
    }
  }
}

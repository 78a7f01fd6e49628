/// The parts of a page around its content: the account, and a notice about the last action.
struct PageFrame: Sendable, Hashable {
  /// The visitor's account.
  enum Account: Sendable, Hashable {
    /// An anonymous visitor of a server that requires no tokens.
    case open
    /// A visitor who has not signed in.
    case signedOut
    /// A visitor who has signed in with the token of this name.
    case signedIn(name: String)
    /// A visitor who has signed in at a proxy as the user of this name, and can sign out only there.
    case user(name: String)
  }

  /// The visitor's account.
  var account: Account
  /// The path below which the visitor sees the server. All addresses in templates start with it.
  var basePath = ""
  /// The value of the field ``PageField/formToken``, which every form that changes something sends. Without it, the
  /// page has no such forms.
  var formToken: String?
  /// A notice about the last action.
  var notice: PageNotice?
  /// The issue tracker to which pages link.
  var tracker = IssueTracker()
  /// Whether the server has one user, who signs in by a link. Nobody else fetches from it, nobody reads its log, and the
  /// snapshots were received when it was started.
  var hasOneUser = false
  /// Whether the page is for people without a token, who can't sign in.
  var isForGuests = false
}

/// A notice about the last action, shown on the page after it. The raw value is that of ``PageField/done`` in the URL.
enum PageNotice: String, Sendable, Hashable, CaseIterable {
  /// A snapshot was attached.
  case attached
  /// A comment was added.
  case commented
  /// A snapshot was deleted.
  case deleted
  /// The results of a search were deleted.
  case severalDeleted = "several-deleted"
  /// A snapshot was pinned.
  case pinned
  /// A snapshot was unpinned.
  case unpinned
  /// A snapshot was marked as good.
  case good
  /// That mark was removed.
  case notGood = "not-good"
  /// A link to attach was revoked.
  case linkRevoked = "link-revoked"
}

/// The names of form fields and of parameters in pages' URLs, in addition to ``SearchField``.
enum PageField: String, Sendable, Hashable, CaseIterable {
  /// Proves that a form is from a page of this server: ``PageFrame/formToken``.
  case formToken = "form-token"
  /// The token with which a user signs in.
  case token
  /// The destination after signing in, or after deleting a snapshot: a path on this server.
  case next
  /// The text of a comment.
  case comment
  /// The UUIDs of the snapshots that are deleted together, separated by spaces.
  case snapshots
  /// The path of a folder in a bundle.
  case folder
  /// The lifetime of a link, in seconds.
  case seconds
  /// The number of snapshots that a link to attach allows.
  case count
  /// The number of bytes that a link to attach allows.
  case bytes
  /// The secret of a link to attach.
  case link
  /// The position of a page in a list.
  case cursor
  /// The UUID of the snapshot to compare with, also while a file is shown.
  case with
  /// The kind of differences that are listed.
  case kind
  /// The identifier of the recording before the first listed one.
  case after
  /// The name of the file before the first listed one.
  case filesAfter = "files-after"
  /// The rules for values that are not compared.
  case ignore
  /// The identifier of the recording that is compared.
  case recording
  /// The call of the recording.
  case call
  /// The name of the file that is compared.
  case file
  /// The order of a snapshot's list: ``ListSelection/Order``.
  case list
  /// What is shown beside a snapshot's list: ``SnapshotPage/Panel``.
  case show
  /// The module whose recordings are listed.
  case module
  /// The number of recordings before the listed ones.
  case recordings
  /// The number of files before the listed ones.
  case files
  /// How a file is shown: ``FileSelection/View``.
  case view
  /// The JSON Pointer to the value that is shown.
  case at
  /// The number of values, lines or bytes of a file before the shown ones.
  case from
  /// The key by whose values a table is sorted.
  case sort
  /// The order of a table: `descending`, or nothing.
  case order
  /// The text to find in a file.
  case find
  /// The number of the match that is shown, among those of the text to find.
  case hit
  /// The JSON Pointer to the string whose decoded contents are shown.
  case decode
  /// Whether strings are shown with their escape sequences: `1`, or nothing.
  case escapes
  /// Whether only the values are requested, without the page around them: `1`, or nothing.
  case part
  /// The ``PageNotice``.
  case done
}

/// The limits of a page, so that it is not larger than 60 KB for any snapshot; 120 KB with the list of a snapshot.
enum PageLimits {
  /// The maximum number of rows of a list.
  static let rows = 50
  /// The maximum number of recordings in the list of a snapshot.
  static let recordings = 100
  /// The maximum number of modules.
  static let modules = 50
  /// The maximum number of names in a row: missing identifiers, redaction rules.
  static let names = 20
  /// The maximum number of lines of a preview.
  static let lines = 1000
  /// The maximum number of images on a page.
  static let pictures = 4
}

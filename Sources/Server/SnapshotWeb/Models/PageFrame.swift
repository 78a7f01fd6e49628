/// What stands around the content of every page: who looks at it, and what was just done.
package struct PageFrame: Sendable, Hashable {
  /// Who looks at the page.
  package enum Account: Sendable, Hashable {
    /// Anybody: the server needs no token.
    case open
    /// Somebody who has not signed in.
    case signedOut
    /// Who has signed in with the token of this name.
    case signedIn(name: String)
  }

  /// Who looks at the page.
  package var account: Account
  /// What every form that changes something sends along, in the field ``PageField/formToken``; without it the page has
  /// no such form.
  package var formToken: String?
  /// What was just done.
  package var notice: PageNotice?

  /// Describes what stands around a page.
  package init(account: Account, formToken: String? = nil, notice: PageNotice? = nil) {
    self.account = account
    self.formToken = formToken
    self.notice = notice
  }
}

/// What was just done, as the page that follows says it: the raw value is that of ``PageField/done`` in its address.
package enum PageNotice: String, Sendable, Hashable, CaseIterable {
  /// A snapshot was deleted.
  case deleted
  /// A snapshot was pinned.
  case pinned
  /// A snapshot's pin was taken away.
  case unpinned
}

/// The names of the forms' fields and of the parameters in pages' addresses, besides ``SearchField``.
package enum PageField: String, Sendable, Hashable, CaseIterable {
  /// Shows that a form comes from a page of the server: ``PageFrame/formToken``.
  case formToken = "form-token"
  /// The token that somebody signs in with.
  case token
  /// Where to go on after signing in: a path on this server.
  case next
  /// How long a link lasts, in seconds.
  case seconds
  /// Where a list goes on.
  case cursor
  /// Another snapshot, to compare with: a UUID.
  case with
  /// Which module's recordings are listed.
  case module
  /// How many recordings come before the listed ones.
  case recordings
  /// How many files come before the listed ones.
  case files
  /// The ``PageNotice``.
  case done
}

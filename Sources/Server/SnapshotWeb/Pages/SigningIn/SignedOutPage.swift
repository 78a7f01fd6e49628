/// The page after signing out.
struct SignedOutPage: Sendable, Hashable {}

extension SignedOutPage: Page {
  var template: PageTemplates.Name { .signedOut }
  var title: String { "Signed out" }

  func fields(in _: PageFrame) -> Fields { ["signIn": PagePath.signIn().description] }
}

import AccessControl
import Foundation
import SnapshotAPI
import SnapshotFormat

/// The page `/attach` behind a link: a form that attaches a snapshot to one report.
struct AttachPage: Sendable, Hashable {
  /// The link.
  var link: AttachLinkState
  /// Its secret.
  var secret: String
  /// Whether a script can upload in several requests.
  var isResumable: Bool
}

/// The page after a link to attach was made.
struct NewAttachLinkPage: Sendable, Hashable {
  /// The link.
  var link: AttachLinkState
  /// Its address, with the server's origin.
  var address: String
}

/// The page `/reports/{report}/links`: the valid links to attach to a report, and a form that makes one.
struct AttachLinksPage: Sendable, Hashable {
  /// The lifetimes in the form, in days. The default is selected.
  static let days = [1, 7, 30, 90]
  /// The sizes in the form, in bytes. The default is selected.
  static let sizes: [Int64] = [100_000_000, AttachLink.Limits.size, 5_000_000_000]

  /// The report.
  var report: ReportID
  /// The valid links, newest first.
  var valid: [AttachLinkState]
  /// The ids of those that the visitor can revoke.
  var revocable: Set<String>
}

extension AttachPage: Page {
  var template: PageTemplates.Name { .attach }
  var title: String { "Attach to \(link.link.report)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(800)
    let page = PagePath.attachLink(secret)
    let hasRoom = link.link.remainingCount > 0 && link.link.remainingBytes > 0
    let upload: Fields = [
      "action": page.description,
      "name": link.link.report.description,
      "uploads": isResumable ? PagePath.callsForUploads : nil,
      "secret": secret,
      "done": page.description(after: .attached),
      "scripts": PageAsset.uploadScripts,
    ]
    return [
      "report": budget.name(link.link.report.description, most: 800),
      "rest": AttachLinkWords.amount(link.link.remainingCount, link.link.remainingBytes),
      "expires": link.token.expiresAt.map(Measures.timeFields),
      "isUsedUp": !hasRoom,
      "upload": hasRoom ? upload : nil,
    ]
  }
}

extension NewAttachLinkPage: Page {
  var template: PageTemplates.Name { .attachLink }
  var title: String { "Link to attach to \(link.link.report)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(800)
    return [
      "report": budget.name(link.link.report.description, most: 800),
      "href": PagePath.report(link.link.report).description,
      "id": link.token.id,
      "link": address,
      "amount": AttachLinkWords.amount(link.link.count, link.link.bytes),
      "expires": link.token.expiresAt.map(Measures.timeFields),
    ]
  }
}

/// The amounts of links for people.
enum AttachLinkWords {
  /// Returns an amount such as `5 snapshots with 500 MB in all`.
  static func amount(_ count: Int, _ bytes: Int64) -> String {
    "\(count) \(count == 1 ? "snapshot" : "snapshots") with \(Measures.size(bytes)) in all"
  }
}

extension AttachLinksPage: Page {
  var template: PageTemplates.Name { .attachLinks }
  var title: String { "Links to attach to \(report)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(800)
    let rows = valid.prefix(AttachLink.Limits.perReport).map { link -> Fields in
      [
        "id": link.token.id,
        "used": "\(link.link.uses.count) of \(AttachLinkWords.amount(link.link.count, link.link.bytes)) used",
        "expires": link.token.expiresAt.map(Measures.timeFields),
        "revoke": revocable.contains(link.token.id)
          ? PagePath.revokeLink(report, link.token.id).description : nil,
      ]
    }
    return [
      "report": budget.name(report.description, most: 800),
      "href": PagePath.report(report).description,
      "links": rows,
      "make": PagePath.attachLinks(report).description,
      "secondsField": PageField.seconds.rawValue,
      "countField": PageField.count.rawValue,
      "bytesField": PageField.bytes.rawValue,
      "count": AttachLink.Limits.count,
      "mostCount": AttachLink.Limits.counts.upperBound,
      "lifetimes": Self.days.map { days -> Fields in
        [
          "seconds": days * 86_400, "words": days == 1 ? "1 day" : "\(days) days",
          "isUsual": days * 86_400 == AttachLink.Limits.lifetime,
        ]
      },
      "sizes": Self.sizes.map { bytes -> Fields in
        ["bytes": bytes, "words": Measures.size(bytes), "isUsual": bytes == AttachLink.Limits.size]
      },
    ]
  }
}

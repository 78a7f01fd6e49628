// Unknown members of a manifest are `JSONValue`s. The re-export lets clients use that type without importing its
// module.
@_exported public import JSONText

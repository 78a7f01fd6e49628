// The unknown members of a manifest are of the type `JSONValue`: a client that imports this module can use them.
@_exported public import JSONText

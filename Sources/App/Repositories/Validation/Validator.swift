/// A rule that a value must keep, made of smaller ones, that says in its own words what is wrong, and where.
///
///     let tripRules: Validator<Trip> = .all(
///       .at("name", \.name, "is empty") { !$0.isEmpty },
///       .at("dates", \.dates, .each("has negative length") { $0.end >= $0.start }),
///       Validator("ends before it begins") { $0.end >= $0.start })
///
/// All rules are asked in one pass, each once, whatever others found.
public struct Validator<Value>: Sendable {
  let check: @Sendable (Value, inout Validation) -> Void

  /// A rule that tells by itself what is wrong: as much as it finds, in words of its own.
  public init(_ check: @escaping @Sendable (_ value: Value, _ validation: inout Validation) -> Void) {
    self.check = check
  }

  /// A rule in one condition.
  /// - Parameters:
  ///   - words: what is wrong where it does not hold, such as "date list has negative length".
  ///   - isValid: the condition.
  public init(_ words: String, _ isValid: @escaping @Sendable (Value) -> Bool) {
    self.init { value, validation in
      if !isValid(value) { validation.fail(words) }
    }
  }

  /// Several rules as one.
  public static func all(_ validators: Validator<Value>...) -> Validator<Value> {
    Validator { value, validation in
      for validator in validators { validator.check(value, &validation) }
    }
  }

  /// Rules for a part of the value.
  /// - Parameters:
  ///   - name: the part's name, for the path of what is wrong.
  ///   - part: the part, most often a key path.
  ///   - validators: its rules.
  public static func at<Part>(
    _ name: String, _ part: @escaping @Sendable (Value) -> Part, _ validators: Validator<Part>...
  ) -> Validator<Value> {
    Validator { value, validation in
      let part = part(value)
      validation.enter(name) { validation in
        for validator in validators { validator.check(part, &validation) }
      }
    }
  }

  /// A rule for a part of the value, in one condition.
  public static func at<Part>(
    _ name: String, _ part: @escaping @Sendable (Value) -> Part, _ words: String,
    _ isValid: @escaping @Sendable (Part) -> Bool
  ) -> Validator<Value> {
    at(name, part, Validator<Part>(words, isValid))
  }

  /// Rules for each element; the path names its index.
  public static func each<Element>(_ validators: Validator<Element>...) -> Validator<Value>
  where Value == [Element] {
    Validator { value, validation in
      for (index, element) in value.enumerated() {
        validation.enter("[\(index)]") { validation in
          for validator in validators { validator.check(element, &validation) }
        }
      }
    }
  }

  /// A rule for each element, in one condition; the path names its index.
  public static func each<Element>(
    _ words: String, _ isValid: @escaping @Sendable (Element) -> Bool
  ) -> Validator<Value> where Value == [Element] {
    each(Validator<Element>(words, isValid))
  }

  /// Rules for what is there; nothing is wrong where nothing is.
  public static func ifPresent<Wrapped>(_ validators: Validator<Wrapped>...) -> Validator<Value>
  where Value == Wrapped? {
    Validator { value, validation in
      guard let value else { return }
      for validator in validators { validator.check(value, &validation) }
    }
  }
}

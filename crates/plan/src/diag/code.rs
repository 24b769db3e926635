use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan cannot be used as it stands.
    Error,
    /// The plan can be used, but something is likely wrong.
    Warning,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $id:literal $slug:literal $severity:ident;)*) => {
        /// The stable code of a diagnostic. Codes are never reused.
        ///
        /// `KP0001` to `KP0099` are guarantees, `KP01xx` is about syntax, `KP02xx` about meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// `KP0101`
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }

            /// The name of the fault, so that "allow ⟨name⟩" reads well.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$variant => $slug,)* }
            }

            /// How bad it is, unless a diagnostic says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What the code finds, in a sentence or more.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc, "\n",)*),)* }
            }
        }
    };
}

codes! {
    /// Two families of a space, or two fields of a hash, that make the same key: what one writes the other overwrites
    /// or reads as its own.
    Overlap = "KP0001" "overlap" Error;
    /// Two different argument lists of a family that make the same key: nothing marks where an argument ends.
    Ambiguous = "KP0002" "ambiguous" Error;
    /// A scan whose prefix also selects rows of another family.
    ForeignLeak = "KP0003" "foreign-leak" Error;
    /// A scan whose prefix also selects rows of its own family with other bound arguments.
    SiblingLeak = "KP0004" "sibling-leak" Error;
    /// A scan `in order` whose rows do not come in the logical order of their remaining arguments.
    Unordered = "KP0005" "unordered" Error;
    /// The number of a family is not allotted as its module says: it is taken twice, lies outside of the range
    /// that the family names or of every range, was retired, or is not there at all.
    Misallotted = "KP0006" "misallotted" Error;
    /// A key of an older plan that a newer one no longer makes, or reads as something else.
    Incompatible = "KP0007" "incompatible" Error;
    /// Two known names with one digest.
    NameCollision = "KP0008" "name-collision" Error;
    /// An encoding that writes two different values as the same bytes.
    Lossy = "KP0009" "lossy" Error;
    /// A family with keys that are longer than the engine takes. It is a warning where an argument has no longest
    /// length at all, and an error where its declared bounds are too wide.
    Oversize = "KP0010" "oversize" Error;
    /// An `accept` of a flaw that the family is proved not to have.
    NeedlessAccept = "KP0012" "needless-accept" Error;
    /// A family whose keys begin with the prefix of a module that it is not in.
    Trespass = "KP0013" "trespass" Error;
    /// A space with `key` families beside hashes, sorted sets, sets or queues, whose rows have a layout of their own: a row
    /// of one can have the key of the other.
    MixedSpace = "KP0015" "mixed-space" Error;
    /// A range that leaves out rows which belong to it.
    Missing = "KP0016" "missing" Error;
    /// A family that does not follow the house rules of its space or module.
    Style = "KP0020" "style" Error;
    /// A key of an older plan that the new plan has no key for.
    NoNewKey = "KP0031" "no-new-key" Error;
    /// Two keys of an older plan that become one key of the new plan.
    MergedKeys = "KP0032" "merged-keys" Error;
    /// A key of an older plan that does not tell its arguments.
    UnreadableKey = "KP0033" "unreadable-key" Error;
    /// A key of the new plan that is a key of an older plan which stays.
    CrossingKeys = "KP0034" "crossing-keys" Error;
    /// A family of an older plan that the new plan says nothing of.
    UnspokenFamily = "KP0035" "unspoken-family" Error;
    /// A prefix that a release has used, and that is neither in use nor retired.
    ForgottenPrefix = "KP0036" "forgotten-prefix" Error;

    /// A character that no token of the language begins with, or a literal that is not closed.
    BadToken = "KP0101" "bad-token" Error;
    /// A token where another one belongs.
    UnexpectedToken = "KP0102" "unexpected-token" Error;
    /// A literal that is malformed: an odd number of hex digits, an unknown escape, a number too large.
    BadLiteral = "KP0103" "bad-literal" Error;
    /// Groups nested deeper than the language allows.
    TooDeep = "KP0104" "too-deep" Error;
    /// A file that is too large, or not UTF-8.
    UnreadableFile = "KP0105" "unreadable-file" Error;
    /// A file that does not begin with `plan NAME;`.
    MissingPlanName = "KP0106" "missing-plan-name" Error;
    /// More mistakes in one file than are listed.
    TooManyFaults = "KP0107" "too-many-faults" Error;
    /// A control character, or a mark that sets the direction of text, in a comment or a string: what a person reads is
    /// then not what the plan says. Such a character can hide the end of a comment or swap two arguments on the screen. Take
    /// it out; in a string write it as an escape, `\u{202e}`.
    HiddenCharacter = "KP0108" "hidden-character" Error;

    /// A name that nothing declares.
    UnknownName = "KP0201" "unknown-name" Error;
    /// A name that is declared twice in one place.
    DuplicateName = "KP0202" "duplicate-name" Error;
    /// A type that is made of itself.
    RecursiveType = "KP0203" "recursive-type" Error;
    /// An import that cannot be read.
    BadImport = "KP0204" "bad-import" Error;
    /// Files that import each other in a circle.
    ImportCycle = "KP0205" "import-cycle" Error;
    /// A domain that does not take these arguments.
    BadDomain = "KP0206" "bad-domain" Error;
    /// An encoding that does not fit the domain before it.
    BadEncoding = "KP0207" "bad-encoding" Error;
    /// A character class that is malformed or empty.
    BadClass = "KP0208" "bad-class" Error;
    /// A range whose end lies before its start, or a set of lengths that is empty.
    EmptyRange = "KP0209" "empty-range" Error;
    /// A layout that no key can have.
    EmptyLanguage = "KP0210" "empty-language" Error;
    /// A clause that this kind of family does not take, or that it needs and lacks.
    BadClause = "KP0211" "bad-clause" Error;
    /// A scan that does not bind the first arguments in their order, or whose prefix ends before them at a derived part.
    BadScan = "KP0212" "bad-scan" Error;
    /// An `accept` of a kind that does not exist, or that names a family wrongly.
    BadAccept = "KP0213" "bad-accept" Error;
    /// An allotment that is malformed or overlaps another.
    BadAllotment = "KP0214" "bad-allotment" Error;
    /// A copy or a derived part that refers to an argument it cannot use.
    BadReference = "KP0215" "bad-reference" Error;
    /// A name that is not spelled as the language asks.
    BadSpelling = "KP0216" "bad-spelling" Warning;
    /// A type or name set that nothing uses.
    UnusedType = "KP0217" "unused-type" Warning;
    /// A plan whose parts are more than this implementation can hold.
    TooLarge = "KP0218" "too-large" Error;
    /// A schema that cannot be read, or that does not compile.
    BadSchema = "KP0240" "bad-schema" Error;
    /// A message that the schemas of the plan do not have, or that several of their messages may mean.
    UnknownMessage = "KP0241" "unknown-message" Error;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

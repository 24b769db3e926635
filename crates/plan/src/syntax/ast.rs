//! What a plan file says, in its own order and with its own spans.
//!
//! The tree keeps everything that the formatter must give back: documentation, comments and the spelling of
//! literals. It knows nothing of meaning; that is the model's.

use crate::diag::Span;

/// A whole plan file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// The lines of the `//!` documentation, without the marker.
    pub doc: Vec<String>,
    /// The name in `plan NAME;`, if there is one.
    pub name: Option<Ident>,
    /// Imports, types, name sets and spaces, in order.
    pub items: Vec<Item>,
}

/// A name and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub text: String,
    /// Where it is.
    pub span: Span,
}

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What it stands for, escapes resolved.
    pub value: String,
    /// Where it is.
    pub span: Span,
}

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// Whether a `-` comes before it.
    pub negative: bool,
    /// Its magnitude.
    pub magnitude: u128,
    /// Where it is.
    pub span: Span,
}

/// Something at the top of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `import "other.keyplan";`
    Import(Import),
    /// `type Name = DOMAIN;`
    Type(TypeDecl),
    /// `names Name = DOMAIN { … }`
    Names(NamesDecl),
    /// `space name { … }`
    Space(SpaceDecl),
}

/// `import "other.keyplan";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Whether only the types and names of the file are wanted: `import types "other.keyplan";`.
    pub types_only: bool,
    /// The path as written.
    pub path: Text,
    /// The whole statement.
    pub span: Span,
}

/// `type Name = DOMAIN;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDecl {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// The type's name.
    pub name: Ident,
    /// What it stands for.
    pub domain: Domain,
    /// The whole statement.
    pub span: Span,
}

/// `names Name = DOMAIN { "known", … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesDecl {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// The set's name.
    pub name: Ident,
    /// The text domain that the names are taken from.
    pub domain: Domain,
    /// The known names.
    pub entries: Vec<NameEntry>,
    /// The whole statement.
    pub span: Span,
}

/// One known name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameEntry {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// Whether `retired` comes before it.
    pub retired: bool,
    /// The name.
    pub text: Text,
}

/// `space name = "physical" { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceDecl {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// The space's name.
    pub name: Ident,
    /// The name that the engine knows it by.
    pub physical: Option<Text>,
    /// What is inside.
    pub members: Vec<Member>,
    /// The whole statement.
    pub span: Span,
}

/// Something inside a space or a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// `module name = 0x02 { … }`
    Module(ModuleDecl),
    /// `key name = …;` and its kin.
    Family(FamilyDecl),
    /// `allot 0x01..=0x0F name "purpose";`
    Allot(AllotDecl),
    /// `retired 0x0C "why";`
    Retired(RetiredDecl),
    /// `drop cl.old_index "why";`
    Drop(DropDecl),
    /// `rule prefix 2 "why";`
    Rule(RuleDecl),
}

/// `rule integers be, signflip "why";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDecl {
    /// What the rule is about: `prefix`, `integers`, `bytes`, `separators` or `documented`.
    pub about: Ident,
    /// A number, as in `rule prefix 2`.
    pub number: Option<Int>,
    /// Words, as in `rule integers be, signflip`.
    pub words: Vec<Ident>,
    /// Literals, as in `rule separators "/"`.
    pub literals: Vec<Literal>,
    /// Why.
    pub why: Text,
    /// The whole statement.
    pub span: Span,
}

/// `module name = 0x02 { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleDecl {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// The module's name.
    pub name: Ident,
    /// What every key of the module begins with.
    pub prefix: Vec<Literal>,
    /// What is inside.
    pub members: Vec<Member>,
    /// The whole statement.
    pub span: Span,
}

/// `allot 0x01..=0x0F name "purpose";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllotDecl {
    /// The first number.
    pub first: Int,
    /// The last number; the same as `first` where only one is given.
    pub last: Int,
    /// What the range is called.
    pub name: Ident,
    /// What it is for.
    pub purpose: Option<Text>,
    /// The whole statement.
    pub span: Span,
}

/// `retired 0x0C since "v2" "why";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredDecl {
    /// The prefix that may not come back.
    pub prefix: Vec<Literal>,
    /// Since when: a release, a height, a date.
    pub since: Option<Text>,
    /// Why.
    pub why: Text,
    /// The whole statement.
    pub span: Span,
}

/// `drop cl.old_index "why";`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropDecl {
    /// The family of an older plan whose rows a migration deletes.
    pub family: Path,
    /// Why.
    pub why: Text,
    /// The whole statement.
    pub span: Span,
}

/// What a family's keys hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FamilyKind {
    /// A plain key with a value.
    Key,
    /// Fields and their values.
    Hash,
    /// Members with scores.
    Zset,
    /// Members.
    Set,
    /// Members with scores, taken in order of score.
    Queue,
}

impl FamilyKind {
    /// The word that declares such a family.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Hash => "hash",
            Self::Zset => "zset",
            Self::Set => "set",
            Self::Queue => "queue",
        }
    }
}

/// `key name = PARTS CLAUSES;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyDecl {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// What its keys hold.
    pub kind: FamilyKind,
    /// The family's name.
    pub name: Ident,
    /// The layout of its keys.
    pub parts: Vec<Part>,
    /// What is claimed of it and what its keys hold, in order.
    pub clauses: Vec<Clause>,
    /// The whole statement.
    pub span: Span,
}

/// What may come after a family's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// `-> PARTS` or `-> DOMAIN`
    Value(Body),
    /// `scan by a, b in order`, `own by a`
    Scan(ScanClause),
    /// `accept overlap(other) "why"`
    Accept(AcceptClause),
    /// `allot name`
    Allot(Ident),
    /// `retired since "v2" "why"`
    Retired(RetiredClause),
    /// `retain 100_000 by height`, `retain newest 10 per pool_id`
    Retain(RetainClause),
    /// `member PARTS`
    Member(Body),
    /// `score PARTS`
    Score(Body),
    /// `field name = PARTS -> VALUE`
    Field(FieldClause),
    /// `spread 64`
    Spread(Int),
    /// `named "keyServers"`: what the program calls the family.
    Named(Text),
    /// `from cl.position(pool = pool_id) park`
    From(FromClause),
    /// `allow break(moved) "why"`
    AllowBreak(AllowBreakClause),
    /// `refers to pool(pool_id = value.pool)`
    Refers(RefersClause),
}

/// `scan all`, `scan by a, b in order`, `own by a`
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the clause")]
pub struct ScanClause {
    /// Whether it is `own`: a claim about the prefix, and no scan.
    pub own: bool,
    /// The bound arguments; empty for `scan all`.
    pub by: Vec<Ident>,
    /// Whether the prefix ends with the last bound argument: `bare`.
    pub bare: bool,
    /// Where the range ends, if not with the prefix: `to next`, `to 0xff`, `through 0xff`.
    pub end: Option<RangeEnd>,
    /// A prefix that the scan is said to have: `as 0x0c31`.
    pub example: Option<Example>,
    /// The families and modules whose rows belong to the scan: `with tombstone`.
    pub with: Vec<Path>,
    /// Whether rows of other families are dropped by the program: `filtered`.
    pub filtered: bool,
    /// Whether `in order` is claimed.
    pub in_order: bool,
    /// The whole clause.
    pub span: Span,
}

/// Where a range ends that begins with the prefix of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeEnd {
    /// `to next`: before the prefix of the next value of the last bound argument.
    Next(Span),
    /// `to 0xff`: before the prefix and these bytes.
    Before(Vec<Literal>),
    /// `through 0xff`: at the prefix and these bytes.
    Through(Vec<Literal>),
}

/// Bytes that are given as an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The bytes, as literals in a row; never empty.
    pub literals: Vec<Literal>,
    /// Where they are.
    pub span: Span,
}

/// `retired since "v2" "why"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetiredClause {
    /// Since when: a release, a height, a date.
    pub since: Option<Text>,
    /// Why.
    pub why: Text,
    /// The whole clause.
    pub span: Span,
}

/// `retain 100_000 by height`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainClause {
    /// Whether `newest` comes before the number.
    pub newest: bool,
    /// How many.
    pub amount: Int,
    /// A unit of time after the number.
    pub unit: Option<Ident>,
    /// The argument after `by`, or those after `per`.
    pub arguments: Vec<Ident>,
    /// The whole clause.
    pub span: Span,
}

/// `accept overlap(other) "why"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptClause {
    /// Which flaw.
    pub kind: Ident,
    /// The families named in parentheses, each a path.
    pub of: Vec<Path>,
    /// Why it is kept.
    pub why: Text,
    /// The whole clause.
    pub span: Span,
}

/// `from cl.position(pool = pool_id, drop shard) park`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromClause {
    /// The family of the older plan.
    pub family: Path,
    /// What is said of arguments.
    pub bindings: Vec<FromBinding>,
    /// Whether a row with several readings is read as the one that the new domains admit, if there is one.
    pub fitting: bool,
    /// `refuse`, `drop` or `park`, if one is given.
    pub rule: Option<Ident>,
    /// The whole clause.
    pub span: Span,
}

/// What a `from` clause says of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromBinding {
    /// `pool = pool_id`
    Bound {
        /// The argument of the new family.
        name: Ident,
        /// Where it comes from.
        source: FromSource,
    },
    /// `drop shard`
    Dropped(Ident),
}

/// Where an argument of a new family comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromSource {
    /// An argument of the old key.
    Argument(Ident),
    /// `value.name`: an argument of the old value.
    Value(Ident),
    /// A number.
    Int(Int),
    /// A text, or a value as a person writes it.
    Text(Text),
    /// Bytes.
    Bytes(Vec<u8>, Span),
}

/// `allow break(moved, scan) "why"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowBreakClause {
    /// The kinds of break; empty for all.
    pub kinds: Vec<Ident>,
    /// Why.
    pub why: Text,
    /// The whole clause.
    pub span: Span,
}

/// `refers to pool(pool_id = value.pool)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefersClause {
    /// The family that has the row.
    pub family: Path,
    /// What is said of the arguments of its key.
    pub bindings: Vec<RefersBinding>,
    /// The whole clause.
    pub span: Span,
}

/// What a `refers to` clause says of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefersBinding {
    /// The argument of the other family's key.
    pub name: Ident,
    /// Where it comes from.
    pub source: RefersSource,
}

/// Where an argument of the key that a row refers to comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefersSource {
    /// `pool_id`, `txo.index`, `value.pool`, `member.vout`
    Named(Path),
    /// A number.
    Int(Int),
    /// A text, or a value as a person writes it.
    Text(Text),
    /// Bytes.
    Bytes(Vec<u8>, Span),
}

/// A dotted name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Its names; never empty.
    pub names: Vec<Ident>,
    /// Where it is.
    pub span: Span,
}

impl Path {
    /// Its names with dots between them.
    pub fn dotted(&self) -> String {
        self.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// `field name = PARTS -> VALUE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldClause {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// The field's name.
    pub name: Ident,
    /// The layout of the field's key inside the hash.
    pub parts: Vec<Part>,
    /// The layout of its value.
    pub value: Option<Body>,
    /// The whole clause.
    pub span: Span,
}

/// A layout given as parts in a row or as one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Parts in a row; may be empty.
    Parts(Vec<Part>),
    /// One domain, whose value has no name.
    Domain(Domain),
}

/// A piece of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Bytes that are always the same.
    Literal(Literal),
    /// `name: DOMAIN`
    Argument {
        /// What it is, from `///` lines before it.
        doc: Vec<String>,
        /// The argument's name.
        name: Ident,
        /// Its values and their bytes.
        domain: Domain,
        /// Name and domain.
        span: Span,
    },
    /// `same(name).encoding`
    Same {
        /// The argument that is written once more.
        name: Ident,
        /// Encodings that replace its own; empty to write it as it was.
        encodings: Vec<Call>,
        /// The whole part.
        span: Span,
    },
    /// `name = function(a, b) % modulus as DOMAIN`
    Derived {
        /// What the computed value is called.
        name: Ident,
        /// The function.
        function: Ident,
        /// The arguments whose bytes go into it.
        of: Vec<Ident>,
        /// The modulus after `%`.
        modulus: Option<Int>,
        /// The integer encoding after `as`.
        domain: Option<Domain>,
        /// The whole part.
        span: Span,
    },
}

impl Part {
    /// Where the part is.
    pub fn span(&self) -> Span {
        match self {
            Self::Literal(literal) => literal.span,
            Self::Argument { span, .. } | Self::Same { span, .. } | Self::Derived { span, .. } => *span,
        }
    }
}

/// Bytes that are always the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// How they are given.
    pub kind: LiteralKind,
    /// Where the literal is.
    pub span: Span,
}

/// How a literal is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// `0x01`
    Hex(Vec<u8>),
    /// `"text"`
    Text(String),
    /// `b"\x00"`
    Bytes(Vec<u8>),
    /// `xxh3_64("accounts")`, `sha256("x", 8)`
    Hash {
        /// The hash function.
        function: Ident,
        /// What is hashed.
        of: Vec<u8>,
        /// How many bytes are kept.
        keep: Option<Int>,
    },
}

/// Values and the way they are written: `Address.hex`, `u64.dec`, `( … )`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The values.
    pub atom: Atom,
    /// The encodings after it, first to last.
    pub encodings: Vec<Call>,
    /// The whole domain.
    pub span: Span,
}

/// What a domain is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// `u64`, `bytes(1..=255)`, `Address`
    Named(Call),
    /// `(txid: bytes(32) vout: u32)`
    Record(Vec<Part>),
    /// `(a: … | b: …)`
    Choice(Vec<Alternative>),
}

/// One alternative of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Documentation, a line each.
    pub doc: Vec<String>,
    /// Its label.
    pub label: Ident,
    /// Its layout.
    pub body: Body,
    /// Label and layout.
    pub span: Span,
}

/// A name with arguments: `bytes(1..=255)`, `hashed(sha256, 20)`, `dec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name.
    pub name: Ident,
    /// What is in parentheses; `None` without them.
    pub args: Option<Vec<CallArg>>,
    /// Name and arguments.
    pub span: Span,
}

/// An argument of a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// `"a-z"`
    Text(Text),
    /// `32`
    Int(Int),
    /// `1..=255`, `4..`
    Range {
        /// The least value.
        first: Int,
        /// The greatest value, included; `None` without one.
        last: Option<Int>,
        /// The whole range.
        span: Span,
    },
    /// `20 | 32`
    OneOf(Vec<Int>, Span),
    /// A domain, a type, or the name of a function.
    Domain(Domain),
}

// The syntax of plans. A test compares it with the parser of `keyplan-plan`: both accept and refuse the same texts.
const CLAUSES = [
  "scan", "own", "accept", "allot", "allow", "from", "retain", "retired", "member", "field", "spread", "named", "refers",
];
const HASHES = [
  "xxh3_64", "twox_64", "twox_128", "blake2b_128", "blake2b_256", "sha256", "keccak256", "blake2b_224", "hash160", "siphash_24",
];
// Words that may name a domain where parts or a domain may come.
const PLAIN = [
  "score", "key", "hash", "zset", "set", "queue", "module", "drop", "plan", "import", "type", "names", "space", "rule", "types", "since",
  "newest", "per", "bare", "to", "next", "through", "with", "filtered", "by", "all", "in", "order", "as", "fitting", "refuse", "park",
  "value", "break",
];
const WORDS = [...CLAUSES, ...HASHES, ...PLAIN, "same"];

module.exports = grammar({
  name: "keyplan",
  extras: $ => [/[ \t\r\n]/, $.comment, $.block_comment],
  word: $ => $.identifier,
  // A word after parts may name one more, or begin a clause: what comes after it tells.
  conflicts: $ => [[$._body], [$.field], [$.hash, $._name], [$.same, $._name]],
  rules: {
    file: $ => seq(optional("\u{feff}"), repeat($.file_doc), $.plan, repeat($._item)),
    plan: $ => seq("plan", field("name", $.identifier), ";"),
    _item: $ => choice($.import, $.type, $.names, $.space),
    import: $ => seq("import", optional("types"), $.string, ";"),
    type: $ => seq(repeat($.doc), "type", field("name", $.identifier), "=", $._domain, ";"),
    names: $ => seq(repeat($.doc), "names", field("name", $.identifier), "=", $._domain, "{", optional(commas($.entry)), "}"),
    entry: $ => seq(repeat($.doc), optional("retired"), $.string),
    space: $ => seq(repeat($.doc), "space", field("name", $.identifier), optional(seq("=", $.string)), $._members),
    _members: $ => seq("{", repeat($._member), "}"),
    _member: $ => choice($.module, $.family, $.allot, $.retired, $.drop, $.rule),
    module: $ => seq(repeat($.doc), "module", field("name", $.identifier), "=", repeat1($._literal), $._members),
    allot: $ => seq("allot", $._int, optional(seq("..=", $._int)), field("name", $.identifier), optional($.string), ";"),
    // The reason is the last of the literals, and a string.
    retired: $ => seq("retired", repeat1($._literal), choice(seq("since", $.string, $.string), $.string), ";"),
    rule: $ => seq("rule", field("name", $.identifier), optional($.int), optional(commas($._name)), repeat($._literal), $.string, ";"),
    drop: $ => seq("drop", $.path, $.string, ";"),
    family: $ => seq(
      repeat($.doc), choice("key", "hash", "zset", "set", "queue"), field("name", $.identifier), "=",
      repeat1($._part), repeat($._clause), ";"),
    _clause: $ => choice($.value, $.scan, $.accept, $.allotted, $.retirement, $.retain, $.member, $.score, $.field, $.spread, $.named, $.from, $.allow, $.refers),
    value: $ => seq("->", $._body),
    scan: $ => prec.right(seq(choice("scan", "own"), choice(seq("by", commas1($._name)), "all"), repeat($._scan_word))),
    _scan_word: $ => prec.right(choice(
      "bare", seq("to", choice("next", repeat1($._literal))), seq("through", repeat1($._literal)), seq("as", repeat1($._literal)),
      seq("with", commas1($.path)), "filtered", seq("in", "order"))),
    accept: $ => seq("accept", $.identifier, optional(seq("(", commas1($.path), ")")), $.string),
    allotted: $ => seq("allot", $.identifier),
    retirement: $ => seq("retired", optional(seq("since", $.string)), $.string),
    retain: $ => prec.right(seq("retain", choice(
      seq("newest", $._int, optional(seq("per", commas1($._name)))),
      seq($._int, optional($.identifier), "by", $._name)))),
    member: $ => seq("member", $._body),
    score: $ => seq("score", $._body),
    spread: $ => seq("spread", $._int),
    named: $ => seq("named", $.string),
    field: $ => seq(repeat($.doc), "field", field("name", $.identifier), "=", repeat1($._part), optional($.value)),
    from: $ => prec.right(seq("from", $.path, optional(seq("(", commas1($.binding), ")")), optional("fitting"),
      optional(choice("refuse", "drop", "park")))),
    binding: $ => choice(
      seq("drop", $._name),
      seq(field("name", $._name), "=", choice($._name, seq("value", ".", $._name), $._number, $.hex, $.string))),
    refers: $ => prec.right(seq("refers", "to", $.path, optional(seq("(", commas1($.reference), ")")))),
    reference: $ => seq(field("name", $._name), "=", choice(seq($._name, repeat(seq(".", $._name))), $._number, $.hex, $.string)),
    _number: $ => choice($.int, seq("-", choice($.int, alias($.hex_int, $.hex)))),
    allow: $ => seq("allow", "break", optional(seq("(", commas1($._name), ")")), $.string),
    path: $ => seq($.identifier, repeat(seq(".", $.identifier))),
    _body: $ => choice(repeat1($._part), $._plain_domain, $._clause_domain),
    // A domain where a part could be too: what a part begins with is one.
    _plain_domain: $ => prec.right(seq(choice(alias($._plain_call, $.call), $.record, $.choice), repeat($.encoding))),
    _plain_call: $ => prec.right(choice(
      seq(field("name", choice($.identifier, alias(choice(...PLAIN), $.identifier))), optional($._arguments)),
      field("name", alias(choice(...HASHES, "same"), $.identifier)))),
    // A word that begins clauses names a domain only with an encoding.
    _clause_domain: $ => prec.right(seq(alias($._clause_call, $.call), repeat1($.encoding))),
    _clause_call: $ => field("name", alias(choice(...CLAUSES), $.identifier)),
    _part: $ => choice($._literal, $.argument, $.same, $.derived),
    argument: $ => seq(repeat($.doc), field("name", $._name), ":", $._domain),
    // Words of the language may name arguments.
    _name: $ => choice($.identifier, alias(choice(...WORDS), $.identifier)),
    same: $ => prec.right(seq("same", "(", $._name, ")", repeat($.encoding))),
    derived: $ => prec.right(seq(field("name", $._name), "=", field("function", $.identifier), "(", commas1($._name), ")",
      optional(seq("%", $._int)), optional(seq("as", $._domain)))),
    _literal: $ => choice($.hex, $.string, $.bytes, $.hashed),
    hashed: $ => seq($.hash, "(", choice($.hex, $.string, $.bytes), optional(seq(",", $._int)), ")"),
    hash: _ => choice(...HASHES),
    _domain: $ => prec.right(seq(choice($.call, $.record, $.choice), repeat($.encoding))),
    call: $ => prec.right(seq(field("name", $._name), optional($._arguments))),
    encoding: $ => prec.right(seq(".", field("name", $.identifier), optional($._arguments))),
    _arguments: $ => seq("(", optional(seq($._argument, repeat(seq(",", $._argument)))), ")"),
    _argument: $ => choice($.string, $.range, $._int, $.one_of, $._domain),
    range: $ => seq($._int, choice("..", seq("..=", $._int))),
    one_of: $ => seq($._int, repeat1(seq("|", $._int))),
    record: $ => seq("(", repeat($._part), ")"),
    choice: $ => seq("(", $.alternative, repeat1(seq("|", $.alternative)), ")"),
    alternative: $ => seq(repeat($.doc), field("label", $._name), ":", choice(repeat($._part), $._domain)),
    _int: $ => seq(optional("-"), choice($.int, alias($.hex_int, $.hex))),
    identifier: _ => /[A-Za-z_][A-Za-z0-9_]*/,
    int: _ => /[0-9][0-9_]*/,
    // Bytes have an even number of digits; numbers need not.
    hex: _ => /0x_*([0-9a-fA-F]_*[0-9a-fA-F]_*)+/,
    hex_int: _ => /0x_*[0-9a-fA-F][0-9a-fA-F_]*/,
    string: _ => token(seq('"', repeat(choice(/[^"\\\n]/, /\\[nrt0\\"']/, /\\x[0-7][0-9a-fA-F]/, /\\u\{[0-9a-fA-F]{1,6}\}/)), '"')),
    bytes: _ => token(seq('b"', repeat(choice(/[\x00-\x09\x0b-\x21\x23-\x5b\x5d-\x7f]/, /\\[nrt0\\"']/, /\\x[0-9a-fA-F]{2}/)), '"')),
    doc: _ => token(prec(2, /\/\/\/[^/\n][^\n]*|\/\/\//)),
    file_doc: _ => token(prec(2, /\/\/![^\n]*/)),
    block_comment: $ => seq("/*", repeat(choice($._in_comment, $.block_comment)), token.immediate("*/")),
    _in_comment: _ => token.immediate(prec(1, /[^*\/]+|\*|\//)),
    comment: _ => token(prec(1, choice(/\/\/[^/!\n][^\n]*/, /\/\/\/\/[^\n]*/, "//"))),
  },
});

function commas1(rule) {
  return seq(rule, repeat(seq(",", rule)));
}

function commas(rule) {
  return seq(commas1(rule), optional(","));
}

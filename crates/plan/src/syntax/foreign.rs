//! What people write who know another language, and what it is called here.

/// What a type of Go, Rust, Solidity, SQL or Protocol Buffers is called in a plan, if it has a counterpart.
///
/// `known` says which domains the language has: an integer of a width that it lacks is bytes.
pub(crate) fn domain(word: &str, known: &[&str]) -> Option<String> {
    let bare: String = word.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let plain = match bare.as_str() {
        "string" | "str" | "varchar" | "char" | "utf8" => "text",
        "boolean" => "bool",
        "byte" | "uchar" => "u8",
        "usize" | "uint" | "ulong" | "number" => "u64",
        "varint" | "uvarint" => "u64.leb128",
        "isize" | "int" | "long" | "bigint" | "integer" => "i64",
        "short" => "i16",
        "float" | "double" | "float64" | "real" => "f64",
        // The width is right; there is no number of that kind.
        "f32" | "float32" => "bytes(4)",
        "blob" | "bytea" | "binary" | "slice" | "vec" | "buffer" | "uint8array" | "bytestring" => "bytes",
        "timestamp" | "datetime" | "date" | "instant" | "systemtime" => "time",
        "vector" | "array" | "repeated" => "list(DOMAIN)",
        "optional" | "nullable" | "maybe" => "option(DOMAIN)",
        "enum" | "oneof" | "union" => "(one: 0x00 | other: 0x01)",
        "tuple" | "struct" | "record" => "(first: u32 second: u64)",
        "uuid" | "guid" | "ulid" | "h128" => "bytes(16)",
        "address" | "h160" | "accountid20" => "bytes(20)",
        "accaddress" | "valaddress" | "consaddress" => "bytes(20 | 32)",
        "hash" | "hash32" | "h256" | "b256" | "digest" | "pubkey" | "publickey" | "txid" | "txhash"
        | "blockhash" | "accountid" | "accountid32" => "bytes(32)",
        "h512" | "signature" => "bytes(64)",
        _ => return number(&bare, known).or_else(|| ended(&bare, known)),
    };
    Some(plain.to_owned())
}

/// `u64be`, `uint32le`
fn ended(word: &str, known: &[&str]) -> Option<String> {
    if let Some(number_of) = word.strip_suffix("le") {
        return number(number_of, known)
            .filter(|name| known.contains(&name.as_str()))
            .map(|name| format!("{name}.le"));
    }
    number(word.strip_suffix("be")?, known)
}

/// `uint64`, `int32`, `u24`, `bytes32`
fn number(word: &str, known: &[&str]) -> Option<String> {
    let at = word.find(|c: char| c.is_ascii_digit())?;
    let (kind, digits) = word.split_at_checked(at)?;
    let size: u32 = digits.parse().ok().filter(|size| (1..=4096).contains(size))?;
    let letter = match kind {
        "bytes" => return Some(format!("bytes({size})")),
        "uint" | "u" | "fixed" | "uintbe" => 'u',
        "int" | "i" | "sfixed" | "sint" => 'i',
        _ => return None,
    };
    let name = format!("{letter}{size}");
    if known.contains(&name.as_str()) {
        return Some(name);
    }
    size.is_multiple_of(8).then(|| format!("bytes({})", size / 8))
}

/// What a type with brackets after it is here: `bytes[32]`, `u64[4]`, `string[]`.
pub(crate) fn counted(word: &str, size: &str) -> String {
    let bare = word.to_ascii_lowercase();
    match (bare.as_str(), size) {
        ("u8" | "uint8" | "byte" | "bytes" | "uchar", "") => "bytes".to_owned(),
        ("u8" | "uint8" | "byte" | "bytes" | "uchar", size) => format!("bytes({size})"),
        ("text" | "string" | "char" | "varchar" | "str", size) if !size.is_empty() => {
            format!("text(1..={size})")
        }
        (_, "") => format!("list({})", element(word)),
        (_, size) => format!("list({}, {size})", element(word)),
    }
}

/// What a type with brackets is here: `[]byte`, `[32]byte`, `[u8; 32]`, `Vec<u8>`, `Option<u64>`.
pub(crate) fn bracketed(spelling: &str) -> String {
    let inside = |open: char, close: char| {
        let (head, rest) = spelling.split_once(open)?;
        let (inner, tail) = rest.rsplit_once(close)?;
        Some((head.trim(), inner.trim(), tail.trim()))
    };
    if let Some((head, inner, _)) = inside('<', '>') {
        return match (head, inner) {
            ("Vec" | "vec" | "Box" | "Cow", "u8" | "[u8]") => "bytes".to_owned(),
            ("Option", inner) => format!("option({})", element(inner)),
            ("map" | "Map" | "HashMap" | "BTreeMap" | "mapping", _) => {
                "an argument for the key, and the value after `->`".to_owned()
            }
            (_, inner) => format!("list({})", element(inner)),
        };
    }
    let Some((_, inner, tail)) = inside('[', ']') else { return "bytes".to_owned() };
    if let Some((of, size)) = inner.split_once(';') {
        let size = size.trim();
        return if of.trim() == "u8" {
            format!("bytes({size})")
        } else {
            format!("list({}, {size})", element(of))
        };
    }
    match (inner, tail) {
        ("" | "u8", "" | "byte" | "uint8" | "u8") => "bytes".to_owned(),
        (size, "byte" | "uint8" | "u8") => format!("bytes({size})"),
        ("", of) => format!("list({})", element(of)),
        (size, of) if !of.is_empty() => format!("list({}, {size})", element(of)),
        (of, _) => format!("list({})", element(of)),
    }
}

fn element(word: &str) -> String {
    let word = word.trim().trim_start_matches(['&', '*']);
    match word {
        "" | "[u8]" | "Vec<u8>" | "[]byte" => "bytes".to_owned(),
        _ => domain(word, crate::model::domains()).unwrap_or_else(|| word.to_owned()),
    }
}

/// What a type of a package of Go is called here: `common.Address`, `sdk.AccAddress`, `math.Int`.
pub(crate) fn qualified(package: &str, name: &str) -> Option<&'static str> {
    Some(match (package, name) {
        ("common" | "types" | "ethcommon", "Address") => "bytes(20)",
        ("common" | "types" | "ethcommon", "Hash") => "bytes(32)",
        ("sdk", "AccAddress" | "ValAddress" | "ConsAddress") => "bytes(20 | 32)",
        ("sdk" | "math" | "sdkmath" | "big" | "uint256", "Int" | "Uint") => "u256",
        ("sdk" | "math" | "sdkmath", "Dec" | "LegacyDec") => "i256",
        ("sdk", "Coin") => "(denom: text(3..=128).len8 amount: u256)",
        ("time" | "timestamppb" | "timestamp", "Time" | "Timestamp") => "time",
        _ => return None,
    })
}

/// What an encoding of another language is called here, if it is known.
pub(crate) fn encoding(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "big" | "bigendian" | "big_endian" | "network" => "be",
        "little" | "littleendian" | "little_endian" => "le",
        "varint" | "uvarint" | "varuint" | "vlq" => "leb128",
        "string" | "str" | "decimal" | "ascii" | "itoa" => "dec",
        "lowerhex" | "lower_hex" | "base16" | "hexstring" => "hex",
        "upperhex" | "upper_hex" => "HEX",
        "lp" | "length" | "len" | "length_prefixed" | "lengthprefixed" | "prefixed" => "len8",
        "reverse" | "reversed" | "rev" | "inverted" | "invert" | "descending" => "desc",
        "cstring" | "cstr" | "zero_terminated" | "null_terminated" | "nul" => "terminated",
        "flip" | "sign_flip" | "biased" | "sortable" => "signflip",
        "hash" | "digest" => "hashed(xxh3_64)",
        "join" | "separated" => "joined(\"/\")",
        "compact" => "compact_size",
        "rfc3339" | "iso8601" => "text9",
        "unix_nanos" | "unixnano" => "nanos",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_other_languages_have_a_name_here() {
        let known = crate::model::domains();
        let cases = [
            ("uint64", Some("u64")),
            ("int32", Some("i32")),
            ("string", Some("text")),
            ("String", Some("text")),
            ("byte", Some("u8")),
            ("usize", Some("u64")),
            ("float64", Some("f64")),
            ("bytes32", Some("bytes(32)")),
            ("address", Some("bytes(20)")),
            ("u40", Some("u40")),
            ("u72", Some("bytes(9)")),
            ("i40", Some("bytes(5)")),
            ("f32", Some("bytes(4)")),
            ("Hash", Some("bytes(32)")),
            ("uuid", Some("bytes(16)")),
            ("Uint8Array", Some("bytes")),
            ("varint", Some("u64.leb128")),
            ("u64be", Some("u64")),
            ("uint32le", Some("u32.le")),
            ("u72le", None),
            ("be", None),
            ("u7", None),
            ("pool", None),
            ("u99999999999", None),
        ];
        assert_eq!(qualified("common", "Address"), Some("bytes(20)"));
        assert_eq!(qualified("math", "Int"), Some("u256"));
        assert_eq!(qualified("u64", "dec"), None);
        for (word, expected) in cases {
            assert_eq!(domain(word, known).as_deref(), expected, "{word}");
        }
        assert_eq!(domain("uint256", &["u64"]).as_deref(), Some("bytes(32)"));
        assert_eq!(domain("uint256", &["u256"]).as_deref(), Some("u256"));
    }

    #[test]
    fn types_with_a_count_after_them_have_a_form_here() {
        let cases = [
            ("bytes", "32", "bytes(32)"),
            ("u8", "20", "bytes(20)"),
            ("byte", "", "bytes"),
            ("text", "10", "text(1..=10)"),
            ("string", "", "list(text)"),
            ("u64", "4", "list(u64, 4)"),
            ("Pool", "", "list(Pool)"),
        ];
        for (word, size, expected) in cases {
            assert_eq!(counted(word, size), expected, "{word}[{size}]");
        }
    }

    #[test]
    fn types_with_brackets_have_a_form_here() {
        let cases = [
            ("[]byte", "bytes"),
            ("[32]byte", "bytes(32)"),
            ("[u8; 32]", "bytes(32)"),
            ("[u8]", "bytes"),
            ("[]uint64", "list(u64)"),
            ("[4]uint64", "list(u64, 4)"),
            ("[u64; 4]", "list(u64, 4)"),
            ("[]string", "list(text)"),
            ("Vec<u8>", "bytes"),
            ("Vec<u64>", "list(u64)"),
            ("Vec<Vec<u8>>", "list(bytes)"),
            ("Option<u64>", "option(u64)"),
            ("HashMap<u64, String>", "an argument for the key, and the value after `->`"),
            ("[", "bytes"),
        ];
        for (spelling, expected) in cases {
            assert_eq!(bracketed(spelling), expected, "{spelling}");
        }
    }
}

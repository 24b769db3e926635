//! As much of `CREATE TABLE` and `CREATE INDEX` as says where the key and the value of a row are.

/// A table of two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Which column, as declared, the key is.
    pub(super) key: usize,
    /// Whether rows are kept by their key and not by a number.
    pub(super) without_row_id: bool,
    /// Whether both columns are declared as text.
    pub(super) is_text: bool,
}

/// What a table is, or in a few words why it cannot be read as rows of a key and a value. `unique` are the columns that
/// indices of their own say are unique.
pub(super) fn table(sql: &str, unique: &[String]) -> Result<Layout, String> {
    let tokens = tokens(sql);
    let open = tokens.iter().position(|token| token.is("(")).ok_or("its columns are not written out")?;
    let end = closing(&tokens, open).ok_or("its columns have no end")?;
    let (inside, options) =
        (tokens.get(open + 1..end).unwrap_or_default(), tokens.get(end + 1..).unwrap_or_default());
    let without_row_id =
        options.windows(2).any(|pair| matches!(pair, [a, b] if a.is("WITHOUT") && b.is("ROWID")));
    let mut columns: Vec<String> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut is_text = true;
    for part in split(inside) {
        let named = part.iter().position(|token| token.is("CONSTRAINT")) == Some(0);
        let body = part.get(if named { 2 } else { 0 }..).unwrap_or_default();
        match body {
            [first, rest @ ..] if first.is("PRIMARY") || first.is("UNIQUE") => {
                keys.push(indexed(rest)?.ok_or("its key has several columns")?);
            }
            [first, ..] if first.is("CHECK") || first.is("FOREIGN") => {}
            [name, rest @ ..] => {
                let found = column(rest)?;
                is_text &= found.is_text;
                if found.is_key {
                    keys.push(name.text.clone());
                }
                columns.push(name.text.clone());
            }
            [] => {}
        }
    }
    if columns.len() != 2 {
        return Err(format!("it has {} columns, not a key and a value", columns.len()));
    }
    keys.extend(unique.iter().cloned());
    let same = |one: &String, other: &String| one.eq_ignore_ascii_case(other);
    let key = keys.first().ok_or("none of its columns is unique, so that it has no order of keys")?;
    if keys.iter().any(|other| !same(key, other)) {
        return Err("both of its columns are unique".to_owned());
    }
    let key = columns.iter().position(|column| same(column, key)).ok_or("its key is not a column")?;
    Ok(Layout { key, without_row_id, is_text })
}

/// The one column of a unique index; `None` if the index is of another kind.
pub(super) fn unique_index(sql: &str) -> Option<String> {
    let tokens = tokens(sql);
    let on = tokens.iter().position(|token| token.is("ON"))?;
    let is_unique = tokens.get(1).is_some_and(|token| token.is("UNIQUE"));
    let whole = !tokens.iter().any(|token| token.is("WHERE"));
    if is_unique && whole { indexed(tokens.get(on + 1..)?).ok().flatten() } else { None }
}

/// The column between the next parentheses; `None` if there are several.
fn indexed(tokens: &[Token]) -> Result<Option<String>, String> {
    let open = tokens.iter().position(|token| token.is("(")).ok_or("a key without columns")?;
    let end = closing(tokens, open).ok_or("a key without an end")?;
    let parts = split(tokens.get(open + 1..end).unwrap_or_default());
    let [part] = parts.as_slice() else { return Ok(None) };
    let [name, rest @ ..] = *part else { return Ok(None) };
    order(rest)?;
    Ok(Some(name.text.clone()))
}

struct Declared {
    is_text: bool,
    is_key: bool,
}

/// What is declared of a column after its name.
fn column(rest: &[Token]) -> Result<Declared, String> {
    const BEGINNINGS: [&str; 11] = [
        "CONSTRAINT",
        "PRIMARY",
        "NOT",
        "NULL",
        "UNIQUE",
        "CHECK",
        "DEFAULT",
        "COLLATE",
        "REFERENCES",
        "GENERATED",
        "AS",
    ];
    let begins = |token: &Token| BEGINNINGS.iter().any(|word| token.is(word));
    let typed = rest.iter().position(begins).unwrap_or(rest.len());
    let (ty, constraints) = rest.split_at(typed);
    let ty: String = ty.iter().map(|token| token.text.to_ascii_uppercase()).collect();
    let is_text = ["CHAR", "CLOB", "TEXT"].iter().any(|word| ty.contains(word));
    let is_bytes = is_text || ty.contains("BLOB") || ty.is_empty() || ty == "ANY";
    if ty.contains("INT") || !is_bytes {
        return Err(format!("a column is of type {ty}"));
    }
    if constraints.iter().any(|token| token.is("GENERATED") || token.is("AS")) {
        return Err("a column is computed".to_owned());
    }
    order(constraints)?;
    let is_key = constraints.iter().any(|token| token.is("PRIMARY") || token.is("UNIQUE"));
    Ok(Declared { is_text, is_key })
}

/// Keys must ascend in the order of their bytes.
fn order(tokens: &[Token]) -> Result<(), String> {
    if tokens.iter().any(|token| token.is("DESC")) {
        return Err("its keys descend".to_owned());
    }
    let collation = tokens.iter().position(|token| token.is("COLLATE")).and_then(|at| tokens.get(at + 1));
    match collation {
        Some(name) if !name.text.eq_ignore_ascii_case("binary") => {
            Err(format!("its keys are in the order {}", name.text.to_ascii_uppercase()))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    text: String,
    // A quoted name is never a word of the language.
    quoted: bool,
}

impl Token {
    fn is(&self, word: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(word)
    }
}

fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// The parts between the commas that are in no parentheses.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let is_comma = |token: &Token| {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is(",")
    };
    tokens.split(is_comma).collect()
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        if first.is_whitespace() {
            rest = after;
        } else if rest.starts_with("--") {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").and_then(|end| rest.get(end + 2..)).unwrap_or_default();
        } else if let '"' | '`' | '\'' | '[' = first {
            let close = if first == '[' { ']' } else { first };
            let (text, left) = quoted(after, close);
            tokens.push(Token { text, quoted: true });
            rest = left;
        } else if first.is_alphanumeric() || first == '_' || first == '$' {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
            let (word, left) = rest.split_at(end);
            tokens.push(Token { text: word.to_owned(), quoted: false });
            rest = left;
        } else {
            tokens.push(Token { text: first.to_string(), quoted: false });
            rest = after;
        }
    }
    tokens
}

/// The text up to a closing quote, which twice in a row is itself, and what follows.
fn quoted(mut rest: &str, close: char) -> (String, &str) {
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once(close) {
        text.push_str(before);
        rest = after;
        match after.strip_prefix(close).filter(|_| close != ']') {
            Some(after) => {
                text.push(close);
                rest = after;
            }
            None => return (text, rest),
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: Result<(usize, bool), &str>) {
        let found = table(sql, &[]).map(|layout| (layout.key, layout.without_row_id));
        assert_eq!(found.as_ref().copied().map_err(String::as_str), expected, "{sql}");
    }

    #[test]
    fn the_key_is_the_column_that_is_unique() {
        check("CREATE TABLE kv(key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID", Ok((0, true)));
        check("CREATE TABLE \"k\"\"v\" ([value] blob, `key` varchar(20) NOT NULL UNIQUE)", Ok((1, false)));
        check("CREATE TABLE kv(k, v, PRIMARY KEY (k)) STRICT, WITHOUT ROWID", Ok((0, true)));
        check(
            "CREATE TABLE kv(k TEXT, v TEXT DEFAULT (1,2), CONSTRAINT c PRIMARY KEY(\"K\" ASC))",
            Ok((0, false)),
        );
        check("CREATE TABLE kv( -- a comment, with (\n k text /* ( */ primary key, v any)", Ok((0, false)));
    }

    #[test]
    fn other_tables_are_refused_with_a_reason() {
        check(
            "CREATE TABLE kv(k BLOB, v BLOB)",
            Err("none of its columns is unique, so that it has no order of keys"),
        );
        check("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)", Err("a column is of type INTEGER"));
        check(
            "CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB, t BLOB)",
            Err("it has 3 columns, not a key and a value"),
        );
        check("CREATE TABLE kv(k BLOB, v BLOB, PRIMARY KEY(k, v))", Err("its key has several columns"));
        check(
            "CREATE TABLE kv(k TEXT COLLATE nocase PRIMARY KEY, v BLOB)",
            Err("its keys are in the order NOCASE"),
        );
        check("CREATE TABLE kv(k BLOB PRIMARY KEY DESC, v BLOB) WITHOUT ROWID", Err("its keys descend"));
        check("CREATE TABLE kv(k BLOB PRIMARY KEY, v BLOB UNIQUE)", Err("both of its columns are unique"));
    }

    #[test]
    fn a_unique_index_names_its_column() {
        assert_eq!(unique_index("CREATE UNIQUE INDEX i ON kv(\"key\")"), Some("key".to_owned()));
        assert_eq!(unique_index("CREATE INDEX i ON kv(key)"), None);
        assert_eq!(unique_index("CREATE UNIQUE INDEX i ON kv(key) WHERE key > 1"), None);
        assert_eq!(unique_index("CREATE UNIQUE INDEX i ON kv(key DESC)"), None);
    }
}

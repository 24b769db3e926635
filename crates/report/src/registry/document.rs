//! A hand-kept document of prefixes against the plan: which line is wrong.
//!
//! Four kinds of lines are read, wherever they are: rows of a table that give a module its prefix, rows that give a name a
//! number, sentences that say which numbers are used and how many, and lists of reserved ranges. A heading that names a module
//! says whose numbers follow. Everything else is left alone.

use std::collections::BTreeSet;

use keyplan_plan::model::{Family, Module, ModuleId, Numbers, Plan, Space};
use keyplan_plan::notation::hex;
use serde::Serialize;

/// A line of a document that does not agree with the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentFault {
    /// The line, from 1 on; `None` for something that no line says.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub what: String,
}

/// Compares a Markdown document with a plan; the faults come in the order of its lines.
///
/// ```
/// let text = "plan p; space s { module dex = 0x02 { key pool = 0x01 id: u64; } }";
/// let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.expect("sound");
/// let page = "## Dex (0x02)\n\n| Prefix | Name |\n| --- | --- |\n| `0x07` | PoolKeyPrefix |\n";
/// let faults = keyplan_report::registry::check_document(&plan, page);
/// assert_eq!(faults[0].line, Some(5));
/// assert_eq!(faults[0].what, "`s.dex` has no number 0x07; the plan gives `pool` 0x01");
/// ```
pub fn check_document(plan: &Plan, text: &str) -> Vec<DocumentFault> {
    let mut reading = Reading { plan, faults: Vec::new(), module: None, seen: Vec::new() };
    for (index, line) in text.lines().enumerate() {
        reading.line(index + 1, line);
    }
    reading.unsaid();
    reading.faults
}

/// A module and the space that it is in.
type Place<'p> = (&'p Space, ModuleId, &'p Module);

struct Reading<'p> {
    plan: &'p Plan,
    faults: Vec<DocumentFault>,
    /// The module that the last heading named.
    module: Option<Place<'p>>,
    /// The numbers that tables list, by the path of their module.
    seen: Vec<(String, BTreeSet<u8>)>,
}

impl<'p> Reading<'p> {
    fn fault(&mut self, line: usize, what: String) {
        self.faults.push(DocumentFault { line: Some(line), what });
    }

    fn modules(&self) -> Vec<Place<'p>> {
        let plan: &'p Plan = self.plan;
        let all = plan.spaces.iter().flat_map(|space| {
            space.modules.iter().enumerate().map(move |(index, module)| (space, ModuleId(index), module))
        });
        all.collect()
    }

    /// The module that a text names as a word of its own.
    fn named(&self, text: &str) -> Option<Place<'p>> {
        let lower = text.to_lowercase();
        let words: BTreeSet<&str> =
            lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
        self.modules().into_iter().find(|(_, _, module)| words.contains(module.name.as_str()))
    }

    fn line(&mut self, number: usize, line: &str) {
        let line = line.trim();
        if line.starts_with('#') {
            let level = line.chars().take_while(|c| *c == '#').count();
            match self.named(line) {
                Some(found) => {
                    self.module = Some(found);
                    self.heading(number, line, found.2);
                }
                // A deeper heading is still about the module; one beside it is not.
                None if level <= 2 => self.module = None,
                None => {}
            }
        } else if let Some(row) = line.strip_prefix('|') {
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
            self.row(number, &cells);
        } else if let Some(item) = line.strip_prefix(['-', '*']).map(str::trim) {
            self.item(number, item);
        }
    }

    /// `## Dex Module (0x02)`
    fn heading(&mut self, number: usize, line: &str, module: &Module) {
        let bytes = hex_bytes(line);
        if !bytes.is_empty() && !bytes.contains(&module.prefix) {
            let (path, prefix) = (&module.path, hex(&module.prefix));
            self.fault(number, format!("`{path}` has the prefix 0x{prefix}"));
        }
    }

    fn row(&mut self, number: usize, cells: &[&str]) {
        let Some(first) = cells.first() else { return };
        let first_bytes = hex_bytes(first);
        if let ([bytes], Some((space, id, module))) = (first_bytes.as_slice(), self.module)
            && let [byte] = bytes.as_slice()
        {
            return self.number_row(number, *byte, cells, (space, id, module));
        }
        // `| dex | 0x02 | … |`
        let second = cells.get(1).map(|cell| hex_bytes(cell)).unwrap_or_default();
        if let (true, [bytes], Some((_, _, module))) =
            (first_bytes.is_empty(), second.as_slice(), self.named(first))
            && module.prefix != *bytes
        {
            let (path, prefix) = (&module.path, hex(&module.prefix));
            self.fault(number, format!("`{path}` has the prefix 0x{prefix}, not 0x{}", hex(bytes)));
        }
    }

    /// `| 0x28 | IBCPacketNonceKeyPrefix | 0x01 0x28 + channelID/sender | … |`
    fn number_row(&mut self, line: usize, byte: u8, cells: &[&str], (space, id, module): Place<'p>) {
        match self.seen.iter_mut().find(|(path, _)| *path == module.path) {
            Some((_, seen)) => {
                if !seen.insert(byte) {
                    self.fault(line, format!("0x{byte:02x} is listed twice"));
                }
            }
            None => self.seen.push((module.path.clone(), BTreeSet::from([byte]))),
        }
        let own: Vec<&Family> =
            space.families.iter().filter(|f| f.module == Some(id) && f.number == Some(byte)).collect();
        let name = cells.get(1).copied().unwrap_or_default().trim_matches('`');
        let meant = alike(space, id, name);
        let Some(family) = own.first() else {
            if let Some((since, why)) = Numbers::of(space, id).retired.get(&byte) {
                let since = since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
                self.fault(line, format!("0x{byte:02x} of `{}` is retired{since}: {why}", module.path));
                return;
            }
            let other = meant.and_then(|family| Some((family, family.number?)));
            let other = other.map(|(family, n)| format!("; the plan gives `{}` 0x{n:02x}", family.name));
            self.fault(
                line,
                format!("`{}` has no number 0x{byte:02x}{}", module.path, other.unwrap_or_default()),
            );
            return;
        };
        if !name.is_empty() && !own.iter().any(|family| is_alike(&family.name, name)) {
            self.fault(line, format!("the plan calls 0x{byte:02x} of `{}` `{}`", module.path, family.name));
        }
        let format = cells.get(2).copied().unwrap_or_default().trim_matches('`');
        self.format(line, format, family, module);
    }

    /// `0x01 0x28 + channelID/sender`
    fn format(&mut self, line: usize, format: &str, family: &Family, module: &Module) {
        let front = format.split('+').next().unwrap_or_default();
        let bytes: Vec<u8> = hex_bytes(front).concat();
        if bytes.is_empty() {
            return;
        }
        let prefix = family.key.literal_prefix();
        let wanted = prefix.get(..module.prefix.len() + 1).unwrap_or(&prefix);
        if bytes != wanted {
            let what =
                format!("keys of `{}` begin with 0x{}, not 0x{}", family.path, hex(wanted), hex(&bytes));
            return self.fault(line, what);
        }
        let said =
            format.split('+').skip(1).flat_map(|part| part.split('/')).filter(|p| !p.trim().is_empty());
        let (said, has) = (said.count(), family.key.argument_count());
        if said != has {
            let arguments = if has == 1 { "argument" } else { "arguments" };
            self.fault(line, format!("`{}` has {has} {arguments}, and the line gives {said}", family.path));
        }
    }

    /// `**Compute**: Uses 0x01-0x07, 0x28 (7 prefixes allocated, 248 available)`, or `` `0x01-0x0F`: Core … ``
    fn item(&mut self, line: usize, item: &str) {
        let (head, rest) = item.split_once(':').unwrap_or((item, ""));
        match self.named(head) {
            Some(place) if !number_ranges(rest).is_empty() => self.status(line, rest, place),
            Some(_) => {}
            None => {
                if let [(first, last)] = number_ranges(head).as_slice()
                    && head.trim_matches(['`', '*', ' ']).starts_with("0x")
                    && first < last
                {
                    self.reserved(line, *first, *last);
                }
            }
        }
    }

    fn status(&mut self, line: usize, text: &str, (space, id, module): Place<'p>) {
        let listed = text.split('(').next().unwrap_or_default();
        let said: BTreeSet<u8> =
            number_ranges(listed).into_iter().flat_map(|(first, last)| first..=last).collect();
        let numbers = Numbers::of(space, id);
        let used: BTreeSet<u8> = numbers.used.keys().copied().collect();
        let path = &module.path;
        let mut faults = Vec::new();
        let extra: Vec<String> = said.difference(&used).map(|n| format!("0x{n:02x}")).collect();
        if !extra.is_empty() {
            faults.push(format!("no family of `{path}` has {}", extra.join(", ")));
        }
        let missing: Vec<String> = used.difference(&said).map(|n| format!("0x{n:02x}")).collect();
        if !missing.is_empty() {
            faults.push(format!("`{path}` uses {} too", missing.join(", ")));
        }
        let counts = text.split_once('(').map(|(_, rest)| counted(rest)).unwrap_or_default();
        if let Some(count) = counts.first().filter(|count| **count != used.len()) {
            faults.push(format!("the numbers that `{path}` uses are {}, not {count}", used.len()));
        }
        let free = if module.allotments.is_empty() {
            (1..=u8::MAX).filter(|n| numbers.is_free(*n)).count()
        } else {
            module.allotments.iter().map(|range| numbers.free_in(range).count()).sum()
        };
        if let Some(count) = counts.get(1).filter(|count| **count != free) {
            faults.push(format!("the numbers of `{path}` that are free are {free}, not {count}"));
        }
        for what in faults {
            self.fault(line, what);
        }
    }

    fn reserved(&mut self, line: usize, first: u8, last: u8) {
        let with_ranges: Vec<Place<'p>> =
            self.modules().into_iter().filter(|(_, _, module)| !module.allotments.is_empty()).collect();
        let lacks = |(_, _, module): &&Place<'p>| {
            !module.allotments.iter().any(|range| (range.first, range.last) == (first, last))
        };
        let lacking: Vec<String> =
            with_ranges.iter().filter(lacks).map(|(_, _, module)| format!("`{}`", module.path)).collect();
        if !lacking.is_empty() {
            let modules = lacking.join(", ");
            self.fault(line, format!("0x{first:02x}..=0x{last:02x} is not a range of {modules}"));
        }
    }

    /// Numbers of the plan that no table lists, of the modules that have a table.
    fn unsaid(&mut self) {
        let mut found = Vec::new();
        for (space, id, module) in self.modules() {
            let Some((_, seen)) = self.seen.iter().find(|(path, _)| *path == module.path) else { continue };
            for (number, by) in Numbers::of(space, id).used {
                if !seen.contains(&number) {
                    let what =
                        format!("0x{number:02x} of `{}` (`{}`) is in no table", module.path, by.join("`, `"));
                    found.push(DocumentFault { line: None, what });
                }
            }
        }
        self.faults.extend(found);
    }
}

/// The family of a module whose name is most like the one of a document.
fn alike<'p>(space: &'p Space, id: ModuleId, name: &str) -> Option<&'p Family> {
    let mut own = space.families.iter().filter(|family| family.module == Some(id));
    own.find(|family| is_alike(&family.name, name))
}

/// Whether a name of a document, such as `PoolLPFeeKeyPrefix`, is that of a family, `pool_lp_fee`.
fn is_alike(family: &str, name: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let (family, mut name) = (plain(family), plain(name));
    for end in ["prefix", "key"] {
        if let Some(short) = name.strip_suffix(end).filter(|short| !short.is_empty()) {
            name = short.to_owned();
        }
    }
    !name.is_empty() && (family.contains(&name) || name.contains(&family))
}

/// Each `0x…` of a text, as bytes; an odd number of digits is not a byte string.
fn hex_bytes(text: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for piece in text.split("0x").skip(1) {
        let digits: Vec<u8> = piece.bytes().take_while(u8::is_ascii_hexdigit).collect();
        let pairs = digits.chunks_exact(2).map(|pair| {
            let text = std::str::from_utf8(pair).unwrap_or_default();
            u8::from_str_radix(text, 16).ok()
        });
        if let (true, Some(bytes)) = (!digits.is_empty() && digits.len().is_multiple_of(2), pairs.collect()) {
            all.push(bytes);
        }
    }
    all
}

/// The numbers and ranges of a text: `0x01-0x07, 0x28`.
fn number_ranges(text: &str) -> Vec<(u8, u8)> {
    let spread: String = text.chars().map(|c| if c == '–' || c == '—' { '-' } else { c }).collect();
    let mut all = Vec::new();
    for piece in spread.split(',') {
        let bytes: Vec<Vec<u8>> = hex_bytes(piece);
        match bytes.as_slice() {
            [one] if one.len() == 1 => all.extend(one.first().map(|n| (*n, *n))),
            [first, last] if first.len() == 1 && last.len() == 1 => {
                all.extend(first.first().zip(last.first()).map(|(first, last)| (*first, *last)));
            }
            _ => {}
        }
    }
    all
}

/// The decimal numbers of a text, in order.
fn counted(text: &str) -> Vec<usize> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_text_are_read() {
        assert_eq!(number_ranges(" Uses 0x01-0x07, 0x28 "), [(1, 7), (0x28, 0x28)]);
        assert_eq!(hex_bytes("`0x01 0x28 + a` 0x1"), [vec![1], vec![0x28]]);
        assert_eq!(counted("7 prefixes allocated, 248 available)"), [7, 248]);
        assert!(is_alike("ibc_packet_nonce", "IBCPacketNonceKeyPrefix"));
        assert!(is_alike("request", "ComputeRequestKeyPrefix"));
        assert!(!is_alike("params", "PoolKeyPrefix"));
    }

    /// The counts of the chain's own document, which it keeps by hand.
    #[test]
    fn the_counts_of_paw_are_wrong_and_the_lines_are_named() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/paw.keyplan");
        let compiled = crate::files::Files::new(crate::files::Imports::Project).load(root).unwrap();
        let plan = compiled.plan.unwrap();
        let page = "### Current Allocation Status\n\
            - **Compute**: Uses 0x01-0x07, 0x28 (7 prefixes allocated, 248 available)\n\
            - **DEX**: Uses 0x01-0x0B, 0x16 (12 prefixes allocated, 243 available)\n\
            - **Oracle**: Uses 0x01-0x0E (14 prefixes allocated, 241 available)\n\
            - `0x01-0x0F`: Core\n- `0x10-0x2F`: Others\n";
        let faults = check_document(&plan, page);
        let shown: Vec<String> =
            faults.iter().map(|fault| format!("{} {}", fault.line.unwrap_or_default(), fault.what)).collect();
        assert_eq!(
            shown,
            [
                "2 the numbers that `state.compute` uses are 8, not 7",
                "2 the numbers of `state.compute` that are free are 247, not 248",
                "4 no family of `state.oracle` has 0x0c",
                "4 the numbers that `state.oracle` uses are 13, not 14",
                "6 0x10..=0x2f is not a range of `state.compute`, `state.dex`, `state.oracle`",
            ]
        );
    }

    #[test]
    fn rows_of_a_table_are_compared_with_their_module() {
        let text = "plan p; space s {
            module dex = 0x02 {
                retired 0x05 since \"v2\" \"moved\";
                key pool = 0x01 id: u64; key fee = 0x02 id: u64 token: text; key count = 0x03;
            }
            module oracle = 0x03 { key price = 0x01 denom: text; }
        }";
        let plan = keyplan_plan::compile("p", text, |_| Err(String::new())).plan.unwrap();
        let page = "| Module | Namespace |\n| `dex` | `0x02` |\n| `oracle` | `0x04` |\n\
            ## DEX Module (0x07)\n| Prefix | Name | Format |\n| --- | --- | --- |\n\
            | `0x01` | PoolKeyPrefix | `0x02 0x01 + poolID` |\n\
            | `0x02` | FeeKeyPrefix | `0x02 0x02 + poolID` |\n\
            | `0x05` | OldKeyPrefix | `0x02 0x05` |\n\
            | `0x06` | PriceKey | `0x02 0x06` |\n\
            ## Something else\n| `0x01` | Other |\n";
        let faults = check_document(&plan, page);
        let shown: Vec<String> =
            faults.iter().map(|fault| format!("{} {}", fault.line.unwrap_or_default(), fault.what)).collect();
        assert_eq!(
            shown,
            [
                "3 `s.oracle` has the prefix 0x03, not 0x04",
                "4 `s.dex` has the prefix 0x02",
                "8 `s.dex.fee` has 2 arguments, and the line gives 1",
                "9 0x05 of `s.dex` is retired since v2: moved",
                "10 `s.dex` has no number 0x06",
                "0 0x03 of `s.dex` (`s.dex.count`) is in no table",
            ]
        );
    }
}

//! Lines of another program against a plan.

use keyplan_plan::dynamic::Value;
use keyplan_plan::model::{Plan, Segment, Sequence};
use keyplan_plan::notation::{argument_name, plain_arguments_from_json};
use serde_json::{Map, Value as Json};

use super::{Asked, Bound, Case, Part, VERSION, judge_args, judge_bytes, parts, range, scan_range};

/// A line that is not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The number of the line, from 1 on.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// The lines of a file of vectors that a plan contradicts, and how many lines were looked at.
pub fn check(plan: &Plan, text: &str) -> (Vec<Mismatch>, usize) {
    let parts = parts(plan);
    let mut wrong = Vec::new();
    let (mut count, mut promised) = (0, None);
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let read = serde_json::from_str::<Json>(line);
        // The first line says which plan the file is of; of the others, one that cannot be read is there, too.
        let head = read.as_ref().ok().filter(|_| index == 0).and_then(Json::as_object);
        let head = head.filter(|line| line.contains_key("keyplan"));
        count += usize::from(head.is_none());
        let judged = match (head, &read) {
            (Some(head), _) => {
                promised = head.get("count").and_then(Json::as_u64);
                head_fault(plan, head)
            }
            (None, Ok(Json::Object(line))) if line.contains_key("scan") => judge_scan(plan, line),
            (None, Ok(Json::Object(line))) => judge(&parts, line),
            (None, Ok(_)) => Err("not an object".to_owned()),
            (None, Err(error)) => Err(error.to_string()),
        };
        if let Err(what) = judged {
            wrong.push(Mismatch { line: index + 1, what });
        }
    }
    if let Some(promised) = promised.filter(|promised| usize::try_from(*promised) != Ok(count)) {
        let what = format!("the file is of {promised} lines, but {count} are there");
        wrong.insert(0, Mismatch { line: 1, what });
    }
    (wrong, count)
}

fn head_fault(plan: &Plan, head: &Map<String, Json>) -> Result<(), String> {
    match text_of(head, "keyplan")? {
        Some("vectors") => {}
        other => return Err(format!("a file of {}, not of vectors", other.unwrap_or_default())),
    }
    match head.get("version").map(Json::as_u64) {
        None | Some(Some(1..=VERSION)) => {}
        Some(_) => return Err(format!("`version` is not one of 1 to {VERSION}")),
    }
    if head.get("count").is_some_and(|count| count.as_u64().is_none()) {
        return Err("`count` is not a number of lines".to_owned());
    }
    let ours = plan.fingerprint().to_string();
    match text_of(head, "fingerprint")? {
        Some(theirs) if theirs != ours => Err(format!("made of the plan {theirs}, but this one is {ours}")),
        _ => Ok(()),
    }
}

fn judge(parts: &[Part<'_>], line: &Map<String, Json>) -> Result<(), String> {
    let text = |name: &str| text_of(line, name);
    let path = text("part")?.ok_or("`part` is missing")?;
    let part = parts
        .iter()
        .find(|part| part.path == path)
        .ok_or_else(|| format!("the plan has no part `{path}`"))?;
    let result = text("result")?.unwrap_or("valid");
    let bytes = text("hex")?.map(unhex).transpose()?;
    if bytes.is_none() && result != "refused" {
        return Err("`hex` is missing".to_owned());
    }
    if result == "invalid" {
        let case = judge_bytes(part, bytes.ok_or("`hex` is missing")?);
        // Where and in what; the words of the reason are each program's own.
        let place = case.place().is_none_or(|(offset, segment)| {
            let offset = u64::try_from(offset).ok();
            let at = line.get("offset").is_none_or(|said| said.as_u64() == offset);
            at && line.get("segment").is_none_or(|said| said.as_str() == Some(segment))
        });
        return if place { same(part, &case, result, None) } else { Err(differing(part, &case, result)) };
    }
    let args = line.get("args").and_then(Json::as_object).ok_or("`args` is missing, or no object")?;
    match arguments(part.sequence, args, usize::MAX)? {
        Ok(values) => same(part, &judge_args(part, values), result, bytes.as_deref()),
        Err(_) if result == "refused" => Ok(()),
        Err(why) => Err(format!("{result}, but the arguments are refused: {why}")),
    }
}

/// The first arguments of a layout, so many of them; or why one of them is not a value of its domain, which is what `refused` means.
fn arguments(
    sequence: &Sequence,
    said: &Map<String, Json>,
    count: usize,
) -> Result<Result<Vec<Value>, String>, String> {
    let names: Vec<&str> = sequence.arguments().map(argument_name).collect();
    if let Some(missing) = names.iter().find(|name| !said.contains_key(**name)) {
        return Err(format!("the argument `{missing}` is missing"));
    }
    if let Some(extra) = said.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(format!("there is no argument `{extra}`"));
    }
    let is_argument = |segment: &&Segment| matches!(segment, Segment::Argument(_));
    let first = Sequence::new(sequence.segments().iter().filter(is_argument).take(count).cloned().collect());
    let names: Vec<&str> = first.arguments().map(argument_name).collect();
    let wanted = said.iter().filter(|(name, _)| names.contains(&name.as_str()));
    let wanted = wanted.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(plain_arguments_from_json(&first, &wanted).map_err(|error| error.to_string()))
}

/// Compares the bounds of a scan.
fn judge_scan(plan: &Plan, line: &Map<String, Json>) -> Result<(), String> {
    let text = |name: &str| text_of(line, name);
    let path = text("part")?.ok_or("`part` is missing")?;
    let family = plan.families().map(|(_, family)| family).find(|family| family.path == path);
    let family = family.ok_or_else(|| format!("the plan has no part `{path}`"))?;
    let words = text("scan")?.ok_or("`scan` is missing")?;
    let scan = family.scans.iter().find(|scan| scan.is_called() && scan.words(&family.key) == words);
    let scan = scan.ok_or_else(|| format!("the plan has no scan of `{path}` {words}"))?;
    let bound = match text("bound")? {
        Some(word) => {
            let bound = Bound::ALL.into_iter().find(|bound| bound.word() == word);
            Some(bound.ok_or_else(|| format!("there is no bound `{word}`"))?)
        }
        None => None,
    };
    let args = line.get("args").and_then(Json::as_object).ok_or("`args` is missing, or no object")?;
    // What the scan neither binds nor limits may be any value.
    let count = scan.bound + usize::from(bound.is_some());
    let said = match text("result")? {
        Some("refused") => None,
        Some("range") | None => {
            Some((unhex(text("start")?.ok_or("`start` is missing")?)?, text("end")?.map(unhex).transpose()?))
        }
        Some(other) => return Err(format!("a scan is `range` or `refused`, not `{other}`")),
    };
    let derived = match text("derived")? {
        Some(_) if scan.part.is_none() => return Err(format!("the scan {words} binds no derived part")),
        Some(digits) => Some(digits.parse().map_err(|_| format!("`derived` is not a number: {digits}"))?),
        None if scan.part.is_some() => return Err("`derived` is missing".to_owned()),
        None => None,
    };
    let values = match (arguments(&family.key, args, count)?, &said) {
        (Ok(values), _) => values,
        (Err(_), None) => return Ok(()),
        (Err(why), Some(_)) => return Err(format!("a range, but the arguments are refused: {why}")),
    };
    let asked = Asked { row: &values, derived, bound };
    if scan_range(family, scan, asked) == said {
        Ok(())
    } else {
        Err(format!("not so: it is {}", range::line(family, scan, asked)))
    }
}

/// A member of a line that is text, if it is there.
fn text_of<'l>(line: &'l Map<String, Json>, name: &str) -> Result<Option<&'l str>, String> {
    match line.get(name) {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{name}` is not text")),
    }
}

fn unhex(digits: &str) -> Result<Vec<u8>, String> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs.iter().map(|[a, b]| Some(digit(*a)? << 4 | digit(*b)?)).collect();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| format!("`hex` is not hex: {digits}"))
}

fn same(part: &Part<'_>, case: &Case, result: &str, bytes: Option<&[u8]>) -> Result<(), String> {
    let differs = case.outcome.word() != result || bytes.is_some_and(|bytes| case.bytes() != Some(bytes));
    if differs { Err(differing(part, case, result)) } else { Ok(()) }
}

fn differing(part: &Part<'_>, case: &Case, result: &str) -> String {
    format!("{result}, but it is {}", case.line(part))
}

#[cfg(test)]
mod tests {
    use super::super::{Options, generate};
    use super::*;

    fn judged(change: impl Fn(&str) -> Option<String>) -> (Vec<Mismatch>, usize) {
        let text = "plan demo; space s { key pool = 0x01 id: u64; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let lines = generate(&compiled, Options { count: 3 }).unwrap();
        let changed: Vec<String> = lines.lines().filter_map(change).collect();
        check(compiled.plan.as_ref().unwrap(), &changed.join("\n"))
    }

    #[test]
    fn a_file_as_it_was_made_is_right() {
        let (wrong, count) = judged(|line| Some(line.to_owned()));
        assert_eq!((wrong, count > 20), (Vec::new(), true));
    }

    #[test]
    fn what_is_refused_need_not_be_a_value_of_its_domain() {
        let text = "plan demo; space s { key row = 0x01 a: bytes(1..=9).len8 b: text(\"a-z\", 1..=3).len8 \
                    c: list(u16(3..=9), 1..=2).count8 d: f64.ordered e: bytes(20).bech32(\"osmo\") \
                    scan by a scan by a, b; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let plan = compiled.plan.as_ref().unwrap();
        let lines = generate(&compiled, Options { count: 9 }).unwrap();
        let refused = lines.matches("\"result\":\"refused\"").count();
        assert!(refused > 6, "{lines}");
        assert_eq!(check(plan, &lines).0, []);
        let (wrong, _) = check(plan, &lines.replace("\"result\":\"refused\"", "\"result\":\"valid\""));
        assert_eq!(wrong.len(), refused, "{wrong:?}");
        let (wrong, _) = check(plan, &lines.replace("\"b\":", "\"z\":"));
        assert!(wrong.iter().any(|one| one.what == "the argument `b` is missing"), "{wrong:?}");
    }

    #[test]
    fn a_scan_with_another_end_is_noticed() {
        let text =
            "plan demo; space s { key pool = 0x01 id: u64 n: u8 scan all in order scan by id in order; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let plan = compiled.plan.as_ref().unwrap();
        let lines = generate(&compiled, Options { count: 3 }).unwrap();
        let scans = lines.lines().filter(|line| line.contains("\"result\":\"range\"")).count();
        assert!(scans > 40, "{scans}");
        assert_eq!(check(plan, &lines).0, []);
        let (wrong, _) = check(plan, &lines.replace("\"bound\":\"to\"", "\"bound\":\"through\""));
        assert!(
            wrong.len() > 5 && wrong.iter().all(|one| one.what.starts_with("not so: it is ")),
            "{wrong:?}"
        );
        let (wrong, _) = check(plan, &lines.replace("\"scan\":\"by id\"", "\"scan\":\"by n\""));
        assert!(wrong.iter().any(|one| one.what == "the plan has no scan of `s.pool` by n"), "{wrong:?}");
    }

    #[test]
    fn a_scan_by_another_value_of_a_derived_part_is_noticed() {
        let text = "plan demo; space s { key row = 0x05 ns: u8 slot = crc16(user) % 16384 as u16 user: u32 \
                    scan by ns, slot; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let plan = compiled.plan.as_ref().unwrap();
        let lines = generate(&compiled, Options { count: 3 }).unwrap();
        let of = |part: &str| lines.lines().find(|line| line.contains(&format!("\"derived\":\"{part}\"")));
        let last = of("16383").unwrap();
        assert!(
            last.contains("\"scan\":\"by ns, slot\",\"result\":\"range\"")
                && last.ends_with("\"start\":\"05073fff\",\"end\":\"050740\"}"),
            "{last}"
        );
        assert!(of("16384").unwrap().contains("\"result\":\"refused\""));
        assert_eq!(check(plan, &lines).0, []);
        let wrong = |from: &str, to: &str| {
            let found: Vec<String> =
                check(plan, &lines.replace(from, to)).0.into_iter().map(|one| one.what).collect();
            assert!(!found.is_empty());
            found
        };
        let other = wrong("\"derived\":\"16383\"", "\"derived\":\"0\"");
        assert!(other.iter().all(|what| what.starts_with("not so: it is ")), "{other:?}");
        let no_number = wrong("\"derived\":\"16383\"", "\"derived\":\"x\"");
        assert!(no_number.iter().all(|what| what == "`derived` is not a number: x"), "{no_number:?}");
        let none = wrong("\"derived\"", "\"slot\"");
        assert!(none.iter().all(|what| what == "`derived` is missing"), "{none:?}");
    }

    #[test]
    fn a_line_damaged_in_any_member_is_noticed() {
        let text = "plan demo; space s { key pool = 0x01 id: u64 n: u8 scan by id in order; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let plan = compiled.plan.as_ref().unwrap();
        let lines = generate(&compiled, Options { count: 3 }).unwrap();
        let mut tried = 0;
        for line in lines.lines().skip(1) {
            let right: Map<String, Json> = serde_json::from_str(line).unwrap();
            assert_eq!(check(plan, line).0, [], "{line}");
            for name in right.keys() {
                let mut without = right.clone();
                without.remove(name);
                let mut other = right.clone();
                other.insert(name.clone(), Json::from(5.5));
                let odd = |what: &Map<String, Json>| check(plan, &Json::from(what.clone()).to_string()).0;
                tried += 1;
                if let Some(less) = says_less(&right, name) {
                    assert_eq!(odd(&without).is_empty(), less, "{name} gone: {line}");
                }
                assert_eq!(odd(&other).is_empty(), name == "reason", "{name} of another kind: {line}");
            }
        }
        assert!(tried > 1000, "{tried}");
    }

    /// Whether a line without this member is right, too; `None` if that depends on the arguments.
    fn says_less(line: &Map<String, Json>, name: &str) -> Option<bool> {
        let result = line.get("result").and_then(Json::as_str);
        match (name, result) {
            ("bound", _) | ("scan", Some("refused")) => None,
            ("reason" | "offset" | "segment", _) | ("result", Some("valid" | "range")) => Some(true),
            _ => Some(false),
        }
    }

    #[test]
    fn a_first_line_that_says_something_else_is_noticed() {
        let head = "{\"keyplan\":\"vectors\",\"version\":2,";
        let changed = |from: &str, to: &str| {
            let (wrong, _) = judged(|line| Some(line.replace(from, to)));
            wrong.into_iter().map(|one| (one.line, one.what)).collect::<Vec<_>>()
        };
        let of = |what: &str| vec![(1, what.to_owned())];
        assert_eq!(
            changed("\"keyplan\":\"vectors\"", "\"keyplan\":\"model\""),
            of("a file of model, not of vectors")
        );
        assert_eq!(
            changed(head, "{\"keyplan\":\"vectors\",\"version\":3,"),
            of("`version` is not one of 1 to 2")
        );
        assert_eq!(
            changed("\"fingerprint\":\"", "\"fingerprint\":7,\"x\":\""),
            of("`fingerprint` is not text")
        );
        assert_eq!(
            changed("\"count\":", "\"count\":\"many\",\"x\":"),
            of("`count` is not a number of lines")
        );
        let other = changed("\"fingerprint\":\"", "\"fingerprint\":\"0");
        assert!(other.len() == 1 && other[0].1.starts_with("made of the plan 0"), "{other:?}");
        // Hand-written files need not say more than whose they are.
        let short = changed(head, "{\"keyplan\":\"vectors\",");
        assert_eq!(short, []);
    }

    #[test]
    fn bytes_are_taken_as_they_are_written_and_not_as_the_plan_shows_them() {
        let text = "plan demo; type Tx = bytes(4).shown(reversed); space s { key row = 0x01 t: Tx o: option(Tx).len8 \
                    r: (t: Tx n: u8) a: bytes(20).shown(bech32(\"osmo\")) b: u64.shown(seconds) scan by t; }";
        let compiled = keyplan_plan::compile("demo.keyplan", text, |_| Err("no imports".into()));
        let lines = generate(&compiled, Options { count: 9 }).unwrap();
        assert_eq!(check(compiled.plan.as_ref().unwrap(), &lines).0, []);
    }

    #[test]
    fn lines_that_are_gone_are_noticed() {
        let (wrong, count) = judged(|line| (!line.contains("\"id\":\"7\"")).then(|| line.to_owned()));
        let what = format!("the file is of {} lines, but {count} are there", count + 1);
        assert_eq!(wrong, [Mismatch { line: 1, what }]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_the_only_one_that_is_wrong() {
        for broken in ["", "[]", "null", "{\"part\":"] {
            let (wrong, count) = judged(|line| {
                Some(if line.contains("\"id\":\"7\"") { format!("{broken} ") } else { line.to_owned() })
            });
            let (_, whole) = judged(|line| Some(line.to_owned()));
            let lines: Vec<usize> = wrong.iter().map(|one| one.line).collect();
            if broken.is_empty() {
                assert_eq!((lines, count), (vec![1], whole - 1));
            } else {
                assert_eq!((lines.len(), lines.contains(&1), count), (1, false, whole), "{wrong:?}");
            }
        }
    }

    #[test]
    fn a_refusal_at_another_byte_is_noticed_and_one_in_other_words_is_not() {
        let (wrong, _) = judged(|line| Some(line.replace("\"reason\":\"", "\"reason\":\"oh, ")));
        assert_eq!(wrong, []);
        let (wrong, _) = judged(|line| Some(line.replace("\"offset\":0,", "\"offset\":3,")));
        assert!(
            wrong.len() > 1 && wrong.iter().all(|one| one.what.starts_with("invalid, but it is ")),
            "{wrong:?}"
        );
    }
}

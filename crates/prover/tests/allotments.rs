//! Numbers of modules on random plans, against rules worked out key by key.
#![cfg(test)]

use std::fmt::Write as _;

use keyplan_prover::{Guarantee, NumberFault, Options, Verdict, Witness, prove};
use keyplan_testkit::Random;

/// A family as it was written down.
struct Made {
    name: String,
    module: u8,
    /// Its number; without one its keys begin with any byte from 0 to 11.
    number: Option<u8>,
    says: Option<usize>,
    retired: bool,
}

/// One random plan: its text, its families, the ranges of each module, and the retired prefixes.
struct Case {
    text: String,
    families: Vec<Made>,
    ranges: Vec<Vec<(u8, u8)>>,
    retired: Vec<Vec<u8>>,
}

fn case(random: &mut Random) -> Case {
    let mut text = String::from("plan p; space s {\n");
    let (mut families, mut all_ranges, mut retired) = (Vec::new(), Vec::new(), Vec::new());
    for module in 0..2_u8 {
        let _ = writeln!(text, "module m{module} = 0x{module:02x} {{");
        let mut ranges = Vec::new();
        let mut next = random.byte_below(3);
        for index in 0..random.below(3) {
            let last = next + random.byte_below(3);
            let _ = writeln!(text, "allot 0x{next:02x}..=0x{last:02x} r{index};");
            ranges.push((next, last));
            next = last + 1 + random.byte_below(2);
        }
        if random.below(2) == 0 {
            let number = random.byte_below(12);
            let _ = writeln!(text, "retired 0x{number:02x} \"gone\";");
            retired.push(vec![module, number]);
        }
        for family in 0..=random.below(3) {
            let number = (random.below(5) > 0).then(|| random.byte_below(12));
            let says = (!ranges.is_empty() && random.below(2) == 0)
                .then(|| usize::try_from(random.below(ranges.len() as u64)).unwrap());
            let given_up = random.below(6) == 0;
            let name = format!("f{family}");
            let key = number.map_or("x: u8(0..=11) y: u8".to_owned(), |n| format!("0x{n:02x} y: u8"));
            let says_text = says.map(|index| format!(" allot r{index}")).unwrap_or_default();
            let retired_text = if given_up { " retired \"old\"" } else { "" };
            let _ = writeln!(text, "key {name} = {key}{says_text}{retired_text};");
            families.push(Made { name, module, number, says, retired: given_up });
        }
        text.push_str("}\n");
        all_ranges.push(ranges);
    }
    text.push('}');
    Case { text, families, ranges: all_ranges, retired }
}

/// What is wrong with a family, in words; worked out from the keys themselves where keys count.
fn expected(case: &Case, family: &Made) -> Option<String> {
    let ranges = &case.ranges[usize::from(family.module)];
    if ranges.is_empty() && case.retired.is_empty() {
        return None;
    }
    if !ranges.is_empty() {
        let Some(number) = family.number else { return Some("absent".to_owned()) };
        let inside = |range: &(u8, u8)| range.0 <= number && number <= range.1;
        match family.says {
            None if !ranges.iter().any(inside) => return Some("nowhere".to_owned()),
            Some(index) if !inside(&ranges[index]) => return Some(format!("outside r{index}")),
            _ => {}
        }
        let mut others: Vec<String> = case
            .families
            .iter()
            .filter(|other| {
                other.module == family.module && other.number == family.number && other.name != family.name
            })
            .map(|other| format!("s.m{}.{}", other.module, other.name))
            .collect();
        others.sort();
        if let Some(other) = others.first() {
            return Some(format!("taken by {other}"));
        }
    }
    let firsts: Vec<u8> = family.number.map_or((0..12).collect(), |number| vec![number]);
    let reused = firsts.iter().any(|first| case.retired.contains(&vec![family.module, *first]));
    Some(if reused && !family.retired { "retired".to_owned() } else { "holds".to_owned() })
}

#[test]
fn numbers_of_random_plans_are_judged_as_their_keys_say() {
    let mut random = Random(20);
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    for _ in 0..400 {
        let case = case(&mut random);
        let compiled = keyplan_plan::compile("p", &case.text, |_| Err(String::new()));
        let plan = compiled.plan.unwrap_or_else(|| panic!("{:?}\n{}", compiled.diagnostics, case.text));
        let report = prove(&plan, &Options::default());
        for family in &case.families {
            let path = format!("s.m{}.{}", family.module, family.name);
            let statement =
                report.statements.iter().find(|s| s.guarantee == Guarantee::Allotted && s.family == path);
            let got = statement.map(|statement| match &statement.verdict {
                Verdict::Holds => "holds".to_owned(),
                Verdict::Fails(witness) => match &**witness {
                    Witness::Number { fault, .. } => match fault {
                        NumberFault::Taken { by } => format!("taken by {by}"),
                        NumberFault::Outside { allotment } => format!("outside {allotment}"),
                        NumberFault::Nowhere => "nowhere".to_owned(),
                        NumberFault::Absent => "absent".to_owned(),
                        NumberFault::Retired { prefix, key } => {
                            assert!(key.bytes.starts_with(prefix) && case.retired.contains(prefix));
                            "retired".to_owned()
                        }
                    },
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            });
            let want = expected(&case, family);
            assert_eq!(got, want, "{path} of\n{}", case.text);
            let kind = want.unwrap_or_else(|| "nothing".to_owned());
            *seen.entry(kind.split(' ').next().unwrap().to_owned()).or_default() += 1;
            // The number that the help names is free.
            if let Some((number, range)) = plan
                .families()
                .find(|(_, other)| other.path == path)
                .and_then(|(space, family)| space.next_free(family))
            {
                assert!(range.contains(number));
                let used = |other: &Made| other.module == family.module && other.number == Some(number);
                assert!(!case.families.iter().any(used), "0x{number:02x} is used in\n{}", case.text);
                assert!(!case.retired.contains(&vec![family.module, number]));
            }
        }
    }
    for kind in ["holds", "absent", "nowhere", "outside", "taken", "retired", "nothing"] {
        assert!(seen.get(kind).is_some_and(|count| *count > 5), "{kind} came up too seldom: {seen:?}");
    }
}

//! KP0013 against enumeration: random modules and families, every key of them, every prefix.
#![cfg(test)]

use std::fmt::Write as _;

use keyplan_plan::dynamic::{Value, encode};
use keyplan_plan::model::{Family, ModuleId, Plan, Space};
use keyplan_prover::{Guarantee, Options, Verdict, Witness, diagnose, prove};
use keyplan_testkit::Random;

fn compile(text: &str) -> Plan {
    let compiled = keyplan_plan::compile("p.keyplan", text, |_| Err("none".to_owned()));
    compiled.plan.unwrap_or_else(|| panic!("{text}\n{:?}", compiled.diagnostics))
}

fn literal(random: &mut Random) -> String {
    let bytes: Vec<String> = (0..=random.below(2)).map(|_| format!("{:02x}", 1 + random.below(2))).collect();
    format!("0x{}", bytes.concat())
}

fn members(random: &mut Random, depth: u64, names: &mut u64, text: &mut String) {
    for _ in 0..=random.below(3) {
        *names += 1;
        let name = *names;
        if depth < 3 && random.below(3) == 0 {
            let _ = write!(text, "module m{name} = {} {{ ", literal(random));
            members(random, depth + 1, names, text);
            text.push_str("} ");
        } else {
            let front = if random.below(3) == 0 { String::new() } else { literal(random) };
            let _ = write!(text, "key k{name} = {front} a: u8(1..=2) b: bytes(0 | 1); ");
        }
    }
}

/// Every key of a family with the arguments that it has here.
fn keys(family: &Family) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for a in 1..=2u8 {
        for b in std::iter::once(None).chain((0..=3u8).map(Some)) {
            let mut key = Vec::new();
            let values = [Value::Unsigned(a.into()), Value::Bytes(b.into_iter().collect())];
            encode(&family.key, &values, &mut key).unwrap();
            all.push(key);
        }
    }
    all
}

fn is_inside(space: &Space, family: &Family, module: usize) -> bool {
    let mut next = family.module;
    while let Some(ModuleId(id)) = next {
        if id == module {
            return true;
        }
        next = space.modules[id].parent;
    }
    false
}

/// The modules that keys of a family lie in though it does not.
fn entered(space: &Space, family: &Family) -> Vec<String> {
    let keys = keys(family);
    let mut found = Vec::new();
    for (index, module) in space.modules.iter().enumerate() {
        let own = family.module.map(|id| &space.modules[id.0]);
        let twin = own.is_some_and(|own| own.prefix == module.prefix);
        let outermost = {
            let mut id = family.module;
            let mut last = usize::MAX;
            while let Some(ModuleId(at)) = id {
                last = at;
                id = space.modules[at].parent;
            }
            last
        };
        let enters = keys.iter().any(|key| key.starts_with(&module.prefix));
        if enters && !is_inside(space, family, index) && (!twin || index < outermost) {
            found.push(module.path.clone());
        }
    }
    found
}

#[test]
fn verdicts_agree_with_enumeration() {
    let mut counts = [0; 2];
    for seed in 0..1_500 {
        let random = &mut Random(seed);
        let mut text = "plan p; space s { ".to_owned();
        members(random, 0, &mut 0, &mut text);
        text.push('}');
        let plan = compile(&text);
        let space = &plan.spaces[0];
        let report = prove(&plan, &Options::default());
        for family in &space.families {
            let said = report
                .statements
                .iter()
                .find(|s| s.guarantee == Guarantee::KeepsOut && s.family == family.path);
            let Some(said) = said else {
                assert!(space.modules.is_empty(), "{text}");
                continue;
            };
            let entered = entered(space, family);
            match &said.verdict {
                Verdict::Holds => assert_eq!(entered, Vec::<String>::new(), "{} in {text}", family.path),
                Verdict::Fails(witness) => {
                    let Witness::Trespass { module, prefix, key } = &**witness else { panic!("{witness:?}") };
                    assert!(entered.contains(module), "{} in {text}", family.path);
                    assert!(keys(family).contains(&key.bytes) || key.bytes.len() > 3, "{text}");
                    assert!(key.bytes.starts_with(prefix));
                    assert_eq!(said.other.as_ref(), Some(module));
                }
                other => panic!("{other:?} in {text}"),
            }
            counts[usize::from(entered.is_empty())] += 1;
        }
    }
    assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
}

fn messages(text: &str) -> Vec<String> {
    let plan = compile(text);
    let options = Options::default();
    let found = diagnose(&plan, &prove(&plan, &options), &options, "p.keyplan");
    found.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

#[test]
fn two_modules_with_one_prefix_are_found_once() {
    let text =
        "plan p; space s { module a = 0x01 { key x = 0x01 n: u8; } module b = 0x01 { key y = 0x02 n: u8; } }";
    assert_eq!(messages(text), ["KP0013 the module of `s.b.y` has the prefix of the module `s.a`"]);
}

#[test]
fn a_module_inside_the_prefix_of_another_is_found() {
    let text = "plan p; space s { module b = 0x0102 { key y = 0x02 n: u8; } module a = 0x01 { key x = 0x01 n: u8; } }";
    assert_eq!(messages(text), ["KP0013 keys of `s.b.y` begin with 0x01, which the module `s.a` owns"]);
}

#[test]
fn a_module_inside_a_module_is_at_home() {
    let text =
        "plan p; space s { module a = 0x01 { module b = 0x02 { key y = n: u8; } key x = 0x01 n: u8; } }";
    assert_eq!(messages(text), Vec::<String>::new());
}

#[test]
fn a_family_beside_a_module_keeps_out_of_it() {
    let text =
        r#"plan p; space s { module accum = "accum" { key x = "/" n: u8; } key y = "accumulator" n: u8; }"#;
    let owned = "KP0013 keys of `s.y` begin with 0x616363756d, which the module `s.accum` owns";
    assert_eq!(messages(text), [owned]);
    let accepted =
        text.replace("\"accumulator\" n: u8", "\"accumulator\" n: u8 accept trespass \"as it is\"");
    assert_eq!(messages(&accepted), Vec::<String>::new());
    let needless = text.replace("\"accumulator\" n: u8", "\"b\" n: u8 accept trespass \"as it is\"");
    assert_eq!(
        messages(&needless),
        ["KP0012 `accept trespass` is not needed: no key of `s.y` lies in another module's prefix"]
    );
}

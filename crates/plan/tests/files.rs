//! Plans in several files, retention, house rules and retirement: what they mean, and what is wrong with them.
#![cfg(test)]

use keyplan_plan::compile;
use keyplan_plan::model::{Asks, Keep, Numbers, Plan};

/// Compiles the first of these files.
fn compiled(files: &[(&str, &str)]) -> keyplan_plan::Compiled {
    compile(files[0].0, files[0].1, |path| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "not there".to_owned())
    })
}

fn sound(files: &[(&str, &str)]) -> Plan {
    let compiled = compiled(files);
    let found: Vec<_> = compiled.diagnostics.iter().map(|found| (found.code.id(), &found.message)).collect();
    assert_eq!(found, []);
    compiled.plan.unwrap()
}

/// Each finding as code, file, line and message.
fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let compiled = compiled(files);
    let shown = compiled.diagnostics.iter().map(|found| {
        let file = compiled.sources.get(found.span().file).map_or("", |file| file.name.as_str());
        format!(
            "{} {file}:{} {}",
            found.code.id(),
            compiled.sources.position(found.span()).line,
            found.message
        )
    });
    shown.collect()
}

const COMPUTE: &str =
    "plan compute; import \"types\"; space state { module compute = 0x01 { key job = 0x01 id: Id; } }";
const DEX: &str = "plan dex; import \"types\"; space state { module dex = 0x02 { key pool = 0x01 id: Id owner: Address; } }";
const TYPES: &str = "plan types; type Id = u64; type Address = bytes(20);";

#[test]
fn modules_of_several_files_are_one_plan() {
    let apart = sound(&[
        ("app", "plan app; import \"compute\"; import \"dex\";"),
        ("compute", COMPUTE),
        ("dex", DEX),
        ("types", TYPES),
    ]);
    let paths: Vec<&str> = apart.families().map(|(_, family)| family.path.as_str()).collect();
    assert_eq!(paths, ["state.compute.job", "state.dex.pool"]);
    let together = sound(&[(
        "app",
        "plan app; type Id = u64; type Address = bytes(20); space state {
            module compute = 0x01 { key job = 0x01 id: Id; }
            module dex = 0x02 { key pool = 0x01 id: Id owner: Address; }
        }",
    )]);
    assert_eq!(apart.fingerprint(), together.fingerprint());
}

#[test]
fn types_alone_can_be_imported() {
    let plan = sound(&[
        ("app", "plan app; import types \"dex\"; space s { key k = 0x01 id: Id; }"),
        ("dex", DEX),
        ("types", TYPES),
    ]);
    let paths: Vec<&str> = plan.families().map(|(_, family)| family.path.as_str()).collect();
    assert_eq!(paths, ["s.k"]);
}

#[test]
fn files_that_do_not_see_each_other_may_use_one_name_for_two_types() {
    let plan = sound(&[
        ("app", "plan app; import \"a\"; import \"b\";"),
        ("a", "plan a; type Id = u64; space one { key k = 0x01 id: Id; }"),
        ("b", "plan b_side; type Id = bytes(4); space two { key k = 0x01 id: Id; }"),
    ]);
    let types: Vec<&str> = plan.types.iter().map(|ty| ty.name.as_str()).collect();
    assert_eq!(types, ["BSideId", "Id"]);
    let written: Vec<_> = plan
        .families()
        .map(|(_, family)| family.key.arguments().next().unwrap())
        .map(|argument| (argument.type_name.as_deref().unwrap(), argument.shape == plan.types[1].shape))
        .collect();
    assert_eq!(written, [("Id", true), ("BSideId", false)]);
}

#[test]
fn a_name_that_two_imports_give_has_to_be_told_apart() {
    let files = [
        ("app", "plan app; import types \"a\"; import types \"b\";\nspace s { key k = 0x01 id: Id; }"),
        ("a", "plan a; type Id = u64;"),
        ("b", "plan b; type Id = u32;"),
    ];
    assert_eq!(findings(&files), ["KP0202 app:2 two of the imported files declare the type `Id`"]);
    let own =
        [("app", "plan app; import types \"a\";\ntype Id = u8; space s { key k = 0x01 id: Id; }"), files[1]];
    assert_eq!(findings(&own), ["KP0202 a:1 the type `Id` is declared twice"]);
}

#[test]
fn a_module_has_one_file() {
    let again = "plan again; space state {\nmodule dex = 0x02 { key x = 0x02; } }";
    let files = [
        ("app", "plan app; import \"dex\"; import \"again\";"),
        ("dex", DEX),
        ("again", again),
        ("types", TYPES),
    ];
    assert_eq!(findings(&files), ["KP0202 again:2 the module `dex` is declared twice"]);
}

#[test]
fn files_agree_on_what_the_engine_calls_a_space() {
    let one = "plan one; space s = \"rows\" { key a = 0x01; }";
    let other = |name: &str| format!("plan other; space s {name} {{ key b = 0x02; }}");
    let app = ("app", "plan app; import \"one\"; import \"other\";");
    assert_eq!(sound(&[app, ("one", one), ("other", &other(""))]).spaces[0].engine_name(), "rows");
    assert_eq!(
        findings(&[app, ("one", one), ("other", &other("= \"else\""))]),
        ["KP0202 other:1 the space `s` is stored as \"rows\""]
    );
}

#[test]
fn findings_are_in_the_file_that_they_are_about() {
    let broken = "plan dex; space state {\n module dex = 0x02 {\n key pool = 0x01 id: Nothing; } }";
    let files = [("app", "plan app; import \"dex\";"), ("dex", broken)];
    assert_eq!(findings(&files), ["KP0201 dex:3 no domain or type is called `Nothing`"]);
}

#[test]
fn files_that_import_each_other_by_two_ways_end() {
    let files = [
        ("app", "plan app; import \"a\"; import \"b\";"),
        ("a", "plan a; import \"b\"; space s { key x = 0x01; }"),
        ("b", "plan b; import \"a\"; space t { key y = 0x01; }"),
    ];
    // Whether it is called a circle or not, there is an answer.
    let _ = findings(&files);
}

fn retention(clauses: &str) -> Result<(usize, Keep), Vec<String>> {
    let text = format!("plan p; space s {{ key k = 0x01 pool: u32 height: u64 at: time {clauses}; }}");
    let compiled = compile("p", &text, |_| Err(String::new()));
    let Some(plan) = compiled.plan else {
        return Err(compiled.diagnostics.iter().map(|found| found.message.clone()).collect());
    };
    let family = &plan.spaces[0].families[0];
    let retention = family.retention.as_ref().unwrap();
    let words = retention.words(family);
    assert!(clauses.replace('_', "").contains(&words), "{words}");
    Ok((retention.bound, retention.keep))
}

#[test]
fn what_is_kept_is_stated_by_height_by_time_or_by_number() {
    let kept = |text: &str| retention(text).unwrap();
    assert_eq!(kept("scan by pool in order retain 100_000 by height"), (1, Keep::Within(100_000)));
    let days = 30 * 86_400_000_000_000;
    assert_eq!(kept("scan by pool, height in order retain 30 days by at"), (2, Keep::Within(days)));
    let ten = Keep::Newest { count: 10, first: false };
    assert_eq!(kept("scan by pool in order retain newest 10 per pool"), (1, ten));
    assert_eq!(kept("scan all in order retain newest 10"), (0, ten));
}

#[test]
fn what_is_pruned_must_be_a_range() {
    let refused = |text: &str| retention(text).unwrap_err();
    let no_range = ["what is pruned is not known to be a range"];
    assert_eq!(refused("scan by pool retain 5 by height"), no_range);
    assert_eq!(refused("scan all in order retain 5 by height"), no_range);
    assert_eq!(refused("scan by pool in order accept leak \"x\" retain 5 by height"), no_range);
    assert_eq!(
        refused("scan by pool in order retain newest 5 per height"),
        ["the rows that are counted together are not next to each other"]
    );
    assert_eq!(
        refused("scan by pool in order retain newest 5 per pool, height, at"),
        ["there is one row for these arguments"]
    );
    assert_eq!(refused("scan by pool in order retain 0 by height"), ["nothing would be kept"]);
    assert_eq!(refused("scan by pool in order retain 5 days by height"), ["the argument is a number"]);
    assert_eq!(
        refused("scan by pool, height in order retain 5 by at"),
        ["a time is kept for seconds, minutes, hours or days"]
    );
    assert_eq!(refused("retain 5 by heigth"), ["no argument of the key is called `heigth`"]);
}

#[test]
fn house_rules_of_a_space_and_of_a_module_hold_for_their_families() {
    let text = "plan p; space s {
        rule prefix 2 \"namespace and number\";
        rule separators none \"no separators\";
        rule documented \"say what it is\";
        module dex = 0x02 {
            rule integers be, signflip \"in order\";
            rule bytes raw \"not text\";
            /// Fine.
            key good = 0x01 id: u64 owner: bytes(20);
            key bad = 0x02 0x03 id: u64.dec \"/\" owner: bytes(20).hex;
        }
        /// Not under the rules of the module.
        key loose = 0x0901 id: u64.le;
    }";
    let plan = sound(&[("p", text)]);
    let space = &plan.spaces[0];
    let faults = |name: &str| -> Vec<String> {
        let family = space.families.iter().find(|family| family.name == name).unwrap();
        space.style_faults(family).into_iter().map(|fault| fault.what).collect()
    };
    assert_eq!(faults("good"), Vec::<String>::new());
    assert_eq!(faults("loose"), Vec::<String>::new());
    assert_eq!(
        faults("bad"),
        [
            "begins with 3 literal bytes",
            "has the separator \"/\"",
            "is not documented",
            "writes an integer as `dec`",
            "writes bytes as `hex`",
        ]
    );
    assert_eq!(space.modules[0].rules[0].asks, Asks::Integers(vec!["be".into(), "signflip".into()]));
    assert_eq!(
        findings(&[("p", "plan p; space s { rule colour \"red\"; rule prefix \"two\"; key k = 0x01; }")]),
        ["KP0201 p:1 no rule is called `colour`", "KP0211 p:1 the rule is not written like this"]
    );
}

#[test]
fn what_is_given_up_says_since_when_and_why() {
    let text = "plan p; space s { retired 0x09 since \"v1\" \"space\";
        module m = 0x01 { retired 0x02 since \"v2\" \"number\"; retired 0x03 \"old\"; key a = 0x04 retired since \"v3\" \"family\"; } }";
    let plan = sound(&[("p", text)]);
    let space = &plan.spaces[0];
    assert_eq!((space.retired[0].since.as_deref(), space.retired[0].why.as_str()), (Some("v1"), "space"));
    let numbers = Numbers::of(space, keyplan_plan::model::ModuleId(0));
    let gone: Vec<_> =
        numbers.retired.iter().map(|(n, (since, why))| (*n, since.as_deref(), why.as_str())).collect();
    assert_eq!(gone, [(2, Some("v2"), "number"), (3, None, "old"), (4, Some("v3"), "family")]);
    let family = &space.families[0];
    assert_eq!((family.retired_since.as_deref(), family.retired.as_deref()), (Some("v3"), Some("family")));
}

//! What a scan binds, and where its prefix ends.

use keyplan_plan::compile;

use crate::{check, compiled, no_imports, plan};

#[test]
fn scans_bind_the_first_arguments() {
    check(
        "space s { key k = a: u8 b: u8 scan by b scan by a, c scan by a scan by a; }",
        &[
            ("KP0212", "b", "a scan binds the first arguments of the key, in their order"),
            ("KP0201", "c", "no argument is called `c`"),
            ("KP0212", "scan by a", "the same scan is given twice"),
        ],
    );
}

#[test]
fn an_example_of_a_prefix_is_one_that_the_scan_has() {
    let pools = |scan: &str| format!("space s {{ key pool = 0x0c pool: u64.dec \"/\" tick: u8 {scan}; }}");
    // The bytes, what is said of them, and what to do.
    let wrong = |scan: &str| {
        let text = format!("plan p;\n{}", pools(scan));
        let compiled = compile("p.keyplan", &text, no_imports);
        let [only] = compiled.diagnostics.as_slice() else { panic!("{:?}", compiled.diagnostics) };
        let notes: Vec<String> = only.notes.iter().map(|note| note.text.clone()).collect();
        (only.code.id(), compiled.sources.slice(only.span()).to_owned(), only.message.clone(), notes)
    };
    let expected = |bytes: &str, notes: [&str; 2]| {
        let message = format!("the scan has no prefix of the bytes {bytes}");
        ("KP0212", bytes.to_owned(), message, notes.map(str::to_owned).to_vec())
    };
    // What the program leaves out is the mistake of Osmosis: pool 1 and pool 10.
    assert_eq!(
        wrong("scan by pool as 0x0c31"),
        expected(
            "0x0c31",
            ["with these arguments it is 0x0c312f", "the bytes given are those of the scan with `bare`"]
        )
    );
    assert_eq!(
        wrong("scan by pool bare as 0x0c312f"),
        expected(
            "0x0c312f",
            ["with these arguments it is 0x0c31", "the bytes given are those of the scan without `bare`"]
        )
    );
    let (code, bytes, _, notes) = wrong("scan by pool as 0x0d312f");
    assert_eq!((code, bytes.as_str()), ("KP0212", "0x0d312f"));
    assert_eq!(
        notes.last().map(String::as_str),
        Some("give the bytes of a prefix as the program makes it, or change the scan")
    );

    let scans = |scan: &str| plan(&pools(scan)).spaces[0].families[0].scans[0].example.clone();
    assert_eq!(scans("scan by pool as 0x0c312f"), Some(b"\x0c1/".to_vec()));
    assert_eq!(scans("scan by pool bare as 0x0c \"10\""), Some(b"\x0c10".to_vec()));
    assert_eq!(scans("scan all as 0x0c in order"), Some(vec![0x0c]));
}

#[test]
fn a_scan_covers_the_literals_behind_its_arguments() {
    let plan = plan(
        "space s { key k = 0x01 a: u64.dec \"/\" b: u64.dec \"/\" c: u8 scan all scan by a scan by a, b; }",
    );
    let segments: Vec<usize> = plan.spaces[0].families[0].scans.iter().map(|scan| scan.segments).collect();
    assert_eq!(segments, [1, 3, 5]);
}

#[test]
fn a_derived_part_is_bound_last_and_right_behind_the_arguments_before_it() {
    let text = |scan: &str| {
        format!(
            "space s {{ key k = 0x01 ns: text.len8 slot = crc16(user) % 16384 as u16 \"/\" user: bytes {scan}; }}"
        )
    };
    let plan = plan(&text("scan by ns, user scan by ns, slot scan by ns, slot bare scan by ns"));
    let family = &plan.spaces[0].families[0];
    let scans: Vec<(String, String, usize, usize)> = family
        .scans
        .iter()
        .map(|scan| (scan.id.to_string(), scan.words(&family.key), scan.value_count(), scan.segments))
        .collect();
    let scan = |id: &str, words: &str, values, segments| (id.to_owned(), words.to_owned(), values, segments);
    assert_eq!(
        scans,
        [
            scan("2", "by ns, user", 2, 5),
            scan("1.1", "by ns, slot", 2, 4),
            scan("1.2", "by ns, slot bare", 2, 3),
            scan("1", "by ns", 1, 2),
        ]
    );
    // Who binds as many arguments is called, unless the part is named.
    assert_eq!(family.scan_named(&["ns", "user"]).unwrap().segments, 5);
    assert_eq!(family.scan_named(&["slot", "ns"]).unwrap().segments, 4);
    let refused = |scan: &str| compiled(&text(scan)).1.concat();
    for scan in ["scan by slot", "scan by ns, slot, user", "scan by ns, user, slot"] {
        let wanted = "a scan binds a derived part right after the arguments before it";
        assert!(refused(scan).contains(wanted), "{scan}: {}", refused(scan));
    }
    for scan in ["scan by ns, slot in order", "scan by ns, slot to next", "scan by ns, slot filtered"] {
        assert!(refused(scan).contains("a scan is not written like this"), "{scan}: {}", refused(scan));
    }
    assert!(refused("scan by ns, slot scan by ns, slot").contains("the same scan is given twice"));
}

#[test]
fn a_prefix_holds_every_argument_that_its_scan_binds() {
    let refused = |scan: &str| {
        let text = format!("space s {{ key k = 0x01 slot = crc16(c) a: u8 b: u8 c: u8 {scan}; }}");
        compiled(&text).1.concat()
    };
    for scan in ["scan by a", "scan by a, b", "scan by a, b bare", "own by a", "scan by a to next"] {
        let wanted = "the prefix of a scan ends before an argument that it binds";
        assert!(refused(scan).contains(wanted), "{scan}: {}", refused(scan));
    }
    // The part is not a value after `a`, which comes after it.
    let wanted = "a scan binds a derived part right after the arguments before it";
    assert!(refused("scan by a, slot").contains(wanted), "{}", refused("scan by a, slot"));
    for scan in ["scan all", "scan by slot", "scan by a, b, c"] {
        assert_eq!(refused(scan), "", "{scan}");
    }
}

#[test]
fn a_module_stands_before_its_families_and_a_number_behind_it() {
    let plan = plan("space s { module a = 0x01 { module b = \"x\" { key k = 0x05 n: u8; } } }");
    let family = &plan.spaces[0].families[0];
    assert_eq!(family.path, "s.a.b.k");
    assert_eq!(family.key.literal_prefix(), b"\x01x\x05");
    assert_eq!(family.number, Some(5));
    assert_eq!(plan.find("b.k").len(), 1);
    assert_eq!(plan.find("k").len(), 1);
    assert_eq!(plan.find(".k").len(), 0);
}

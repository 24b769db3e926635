//! A database in which something of everything is, and a server for it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use keyplan_explorer::{Database, Explorer, Settings, web};
use keyplan_store::engine::{Durability, KeyRange, Memory, Space, SpaceId};
use keyplan_store::source::{RowRef, Source, SourceError, StoreSource, View, Walk};
use keyplan_store::structure::{Claim, Embedded, SetScore, Structures as _};
use keyplan_store::{Direction, Schema, Store};

pub(crate) const PLAN: &str = r#"//! Everything that the explorer shows.
plan shop;

/// Orders and what belongs to them.
space orders {
    /// An order of a customer, the latest last.
    key order = 0x01 customer: u32 at: u64
        -> total: u32 state: u8
        scan all
        scan by customer in order;

    /// A name in a language. Nothing marks where the first text ends.
    key name = 0x02 language: text("a-z", 1..=8) word: text("a-z", 1..=8)
        scan by language
        accept ambiguous "kept, to be shown";

    /// What somebody wrote about an order.
    key comment = 0x03 title: text(0..=200)
        -> json
        scan all;

    /// A file as it was sent.
    key file = 0x04 id: u16
        -> raw
        scan all;

    module stock = 0x10 {
        allot 0x01..=0x0f shelf "things on a shelf";
        /// How many of a thing there are.
        key item = 0x01 id: u32
            -> count: u32
            scan all
            allot shelf;
        retired 0x22 "counted by weight once";
    }
}

/// Structures.
space things {
    zset ranking = "rank:" game: text("a-z", 1..=16)
        member name: text
        score points: f64;
    queue jobs = "jobs:" kind: text("a-z", 1..=16)
        member id: u32
        score at: f64;
    hash profile = "user:" id: u32.dec
        field mail = "mail" -> address: text;
}
"#;

/// Text that would do something if it were more than text.
pub(crate) const HOSTILE: [&str; 6] = [
    "<script>window.hostile = 1</script>",
    "<img src=x onerror=\"window.hostile = 2\">",
    "\u{202e}txt.exe\u{2066}",
    "\u{1b}[2J\u{1b}]0;hostile\u{7}",
    "javascript:window.hostile=3",
    "\"><svg onload=window.hostile=4>",
];

pub(crate) fn order(customer: u32, at: u64) -> Vec<u8> {
    [&[1][..], &customer.to_be_bytes(), &at.to_be_bytes()].concat()
}

/// The store; `changed` is the same on another node, where three orders are not the same.
pub(crate) fn store(changed: bool) -> Arc<Store<Memory>> {
    let compiled = keyplan_plan::compile("shop.keyplan", PLAN, |_| Err("no imports".into()));
    let problems: Vec<String> = compiled.errors().map(|error| error.message.clone()).collect();
    let schema = Schema::of(&compiled).unwrap_or_else(|| panic!("{problems:?}"));
    let store = Arc::new(Store::create(Memory::new(), &schema).unwrap());
    let space = store.space("orders").unwrap();
    let mut batch = store.batch().unwrap();
    for customer in 1..=20_u32 {
        for at in 0..u64::from(customer) * 10 {
            let total = customer * 100 + u32::try_from(at).unwrap();
            batch.put(space, order(customer, at), [&total.to_be_bytes()[..], &[1]].concat().as_slice());
        }
    }
    batch.put(space, b"\x02abc".to_vec(), [].as_slice());
    batch.put(space, b"\x02zz".to_vec(), [].as_slice());
    for title in HOSTILE {
        let value = serde_json::json!({ title: [title] }).to_string();
        batch.put(space, [&[3], title.as_bytes()].concat(), value.as_bytes());
    }
    batch.put(space, vec![4, 0, 1], vec![0xab_u8; 16 << 20].as_slice());
    for id in 0..40_u32 {
        batch.put(space, [&[0x10, 1][..], &id.to_be_bytes()].concat(), id.to_be_bytes().as_slice());
    }
    // Keys that no family makes: another first byte, and an order that is cut off.
    for n in 0..7_u8 {
        batch.put(space, vec![0x7f, n], [n].as_slice());
    }
    for n in 0..5_u8 {
        batch.put(space, vec![1, 0, 0, 0, n], [].as_slice());
    }
    if changed {
        batch.put(space, order(1, 0), [0, 0, 0, 77, 2].as_slice());
        batch.put(space, order(21, 0), [0, 0, 0, 1, 1].as_slice());
        batch.delete(space, order(20, 199));
    }
    batch.commit(Durability::Buffer).unwrap();
    let things = Embedded::open(Arc::clone(&store), "things").unwrap();
    for (name, score) in [("anna", 30.0), ("berta", 20.5), (HOSTILE[0], 10.0)] {
        things.zset_add(b"rank:chess", name.as_bytes(), SetScore::Number(score)).unwrap();
    }
    for id in 0..6_u32 {
        things.queue_push(b"jobs:mail", &id.to_be_bytes(), SetScore::Number(f64::from(id))).unwrap();
    }
    let held = things.queue_claim(b"jobs:mail", Claim::new(2, Duration::from_hours(1))).unwrap();
    things.queue_bury(b"jobs:mail", &held[0].member, held[0].receipt).unwrap();
    things.hash_set(b"user:7", b"mail", b"a@b.example").unwrap();
    store
}

/// An explorer of the store beside another node, with its plan and notes in a folder.
pub(crate) fn explorer(folder: &Path, write: bool) -> Arc<Explorer> {
    let file = folder.join("shop.keyplan");
    std::fs::write(&file, PLAN).unwrap();
    let notes = "[[scan]]\nname = \"customer 7\"\nat = \"family=orders.order&scan=1&a.customer=7\"\n\
                 [[note]]\non = \"orders.order\"\ntext = \"the latest is last\"\n";
    std::fs::write(folder.join("keyplan.notes"), notes).unwrap();
    let compiled = keyplan_plan::compile("shop.keyplan", PLAN, |_| Err("no imports".into()));
    let settings = Settings::default()
        .plan_file(Some(file))
        .notes(Some(folder.join("keyplan.notes")))
        .write(write)
        .others(vec![Database::of_store("node2", &store(true))]);
    Explorer::new(Database::of_store("node1", &store(false)), compiled, settings).unwrap()
}

/// A database of a Cosmos chain with several heights.
pub(crate) fn multistore() -> Arc<Explorer> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("testdata/databases/iavl-1.3.5/application.db");
    let plan = root.join("plans/upstream/osmosis_cl.keyplan");
    let compiled = keyplan_report::files::Files::new(keyplan_report::files::Imports::Project)
        .load(&plan.to_string_lossy())
        .unwrap();
    let settings = Settings::default().bind(vec![("cl".to_owned(), "concentratedliquidity".to_owned())]);
    Explorer::new(Database::open("application.db", &path, None).unwrap(), compiled, settings).unwrap()
}

/// Serves it for as long as the test runs; the address lets a browser in.
pub(crate) fn serve(explorer: Arc<Explorer>) -> String {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        web::serve_here(explorer, "127.0.0.1:0".parse().unwrap(), |url| tell.send(url.to_owned()).unwrap())
    });
    told.recv().unwrap()
}

/// A source whose walks over everything stop in the middle until a file is there; how many there were is counted.
#[derive(Debug)]
pub(crate) struct Gated {
    inner: Arc<dyn Source>,
    gate: PathBuf,
    pub(crate) walks: Arc<AtomicUsize>,
}

/// How many rows pass before the gate.
const BEFORE: usize = 600;

impl Source for Gated {
    fn kind(&self) -> &str {
        self.inner.kind()
    }

    fn spaces(&self) -> Vec<Space> {
        self.inner.spaces()
    }

    fn space(&self, name: &str) -> Option<SpaceId> {
        self.inner.space(name)
    }

    fn view(&self) -> Result<Box<dyn View>, SourceError> {
        let view = self.inner.view()?;
        Ok(Box::new(GatedView { view, gate: self.gate.clone(), walks: Arc::clone(&self.walks) }))
    }
}

#[derive(Debug)]
struct GatedView {
    view: Box<dyn View>,
    gate: PathBuf,
    walks: Arc<AtomicUsize>,
}

impl View for GatedView {
    fn get(&self, space: SpaceId, key: &[u8]) -> Result<Option<Vec<u8>>, SourceError> {
        self.view.get(space, key)
    }

    fn walk(
        &self,
        space: SpaceId,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Box<dyn Walk>, SourceError> {
        let walk = self.view.walk(space, range, direction)?;
        if range != KeyRange::ALL {
            return Ok(walk);
        }
        self.walks.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(GatedWalk { walk, gate: self.gate.clone(), seen: 0 }))
    }
}

struct GatedWalk {
    walk: Box<dyn Walk>,
    gate: PathBuf,
    seen: usize,
}

impl Walk for GatedWalk {
    fn next(&mut self) -> Result<Option<RowRef<'_>>, SourceError> {
        self.seen += 1;
        while self.seen == BEFORE && !self.gate.exists() {
            thread::sleep(Duration::from_millis(10));
        }
        self.walk.next()
    }
}

/// An explorer whose counting waits for a file, and how often all rows of a space were walked.
pub(crate) fn gated(gate: &Path) -> (Arc<Explorer>, Arc<AtomicUsize>) {
    let compiled = keyplan_plan::compile("shop.keyplan", PLAN, |_| Err("no imports".into()));
    let walks = Arc::new(AtomicUsize::new(0));
    let inner = Arc::new(StoreSource::new(store(false)));
    let source = Gated { inner, gate: gate.to_owned(), walks: Arc::clone(&walks) };
    let explorer = Explorer::new(Database::new("slow", Arc::new(source)), compiled, Settings::default());
    (explorer.unwrap(), walks)
}

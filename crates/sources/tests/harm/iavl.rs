//! Trees that no node would write: circles, shared branches, sizes and sides that lie.

use std::path::Path;

use keyplan_sources::iavl::Iavl;
use keyplan_sources::lsm::Lsm;
use keyplan_sources::{Options, open};
use keyplan_store::Direction;
use keyplan_store::engine::{KeyRange, SpaceId};

use crate::leveldb::{put_number, write};
use crate::whole::rows;

/// The version and the number of a node.
type Place = (u64, u32);

const STORE: &[u8] = b"s/k:bank/";

/// Nodes under construction, of which the root is number 1 of version 1.
#[derive(Default)]
struct Tree(Vec<(Vec<u8>, Vec<u8>)>);

impl Tree {
    fn put(mut self, place: Place, row: Vec<u8>) -> Self {
        let key = [STORE, b"s", &place.0.to_be_bytes(), &place.1.to_be_bytes()].concat();
        self.0.push((key, row));
        self
    }

    fn leaf(self, place: Place, key: &[u8]) -> Self {
        let mut row = vec![0, 2];
        put_bytes(key, &mut row);
        put_bytes(b"value", &mut row);
        self.put(place, row)
    }

    fn inner(self, place: Place, (height, size): (i64, i64), key: &[u8], left: Place, right: Place) -> Self {
        let mut row = Vec::new();
        put_signed(height, &mut row);
        put_signed(size, &mut row);
        put_bytes(key, &mut row);
        put_bytes(&[7; 32], &mut row);
        row.push(0);
        for (version, nonce) in [left, right] {
            put_signed(i64::try_from(version).expect("small"), &mut row);
            put_signed(nonce.into(), &mut row);
        }
        self.put(place, row)
    }

    /// Writes the multistore with this one store at version 1.
    fn write(self, directory: &Path) {
        let mut store = vec![0x0a, 4];
        store.extend(b"bank");
        store.extend([0x12, 36, 8, 1, 0x12, 32]);
        store.extend([7; 32]);
        let mut commit = vec![8, 1, 0x12, u8::try_from(store.len()).expect("short")];
        commit.extend(store);
        let mut rows = vec![(b"s/1".to_vec(), commit), (b"s/latest".to_vec(), vec![8, 1])];
        rows.extend(self.0);
        write(directory, &rows);
    }
}

fn put_signed(number: i64, out: &mut Vec<u8>) {
    put_number((number << 1 ^ number >> 63).cast_unsigned(), out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend(bytes);
}

/// Why every way of reading a tree fails, or the number of its rows.
fn read(tree: Tree) -> Result<usize, String> {
    let directory = tempfile::tempdir().expect("made");
    tree.write(directory.path());
    // Roots, hashes, ranges, keys and histories: whatever is asked ends, and none gives a row that the walk does not.
    let lsm = Lsm::open(directory.path()).expect("a database");
    if let Ok(multistore) = Iavl::open(&lsm, directory.path(), None) {
        let _ = multistore.verify(None);
        let _ = multistore.report();
        let _ = multistore.history("bank", b"m");
    }
    if let Ok(source) = open(directory.path(), &Options::default()) {
        let view = source.view().expect("opened");
        for key in [&b"a"[..], b"m", b"z"] {
            let _ = view.get(SpaceId(0), key);
            for range in [KeyRange::from(key), KeyRange::half_open(b"", key)] {
                for direction in [Direction::Ascending, Direction::Descending] {
                    let mut walk = view.walk(SpaceId(0), range, direction).expect("opened");
                    while let Ok(Some(_)) = walk.next() {}
                }
            }
        }
    }
    let before = directory.path().display().to_string();
    rows(directory.path()).map(|rows| rows.len()).map_err(|error| error.to_string().replace(&before, "DB"))
}

fn refused(what: &str) -> Result<usize, String> {
    Err(format!("DB: byte 0: store `bank`: {what}"))
}

#[test]
fn a_tree_is_read() {
    let tree =
        Tree::default().inner((1, 1), (1, 2), b"m", (1, 2), (1, 3)).leaf((1, 2), b"a").leaf((1, 3), b"m");
    assert_eq!(read(tree), Ok(2));
}

#[test]
fn a_circle_ends() {
    let itself = Tree::default().inner((1, 1), (1, 2), b"m", (1, 1), (1, 1));
    assert_eq!(read(itself), refused("a node that is not lower, or is younger, than the one above it"));
    let two = Tree::default()
        .inner((1, 1), (2, 2), b"m", (1, 2), (1, 3))
        .inner((1, 2), (1, 2), b"b", (1, 1), (1, 3))
        .leaf((1, 3), b"m");
    assert_eq!(read(two), refused("a node that is not lower, or is younger, than the one above it"));
    let root = Tree::default().put((1, 1), [&b"s"[..], &1_u64.to_be_bytes(), &1_u32.to_be_bytes()].concat());
    assert_eq!(read(root), refused("a root that refers to nothing"));
}

/// A hundred nodes that lead twice to the next: 2¹⁰⁰ leaves, if all ways were walked.
#[test]
fn branches_that_are_shared_end() {
    for leaf in [&b"a"[..], b"m", b"z"] {
        for key in [&b"a"[..], b"m", b"z"] {
            let mut tree = Tree::default();
            for level in 1..=100_u32 {
                let size = 1_i64 << (100 - i64::from(level) + 1).min(62);
                let below = (1, level + 1);
                tree = tree.inner((1, level), (101 - i64::from(level), size), key, below, below);
            }
            let leaf = tree.leaf((1, 101), leaf);
            let error = read(leaf).expect_err("refused");
            assert!(error.contains("is not where its key belongs"), "{error}");
        }
    }
}

#[test]
fn sizes_and_sides_that_lie_are_found() {
    let tree = |size, left: &[u8], right: &[u8]| {
        Tree::default().inner((1, 1), (1, size), b"m", (1, 2), (1, 3)).leaf((1, 2), left).leaf((1, 3), right)
    };
    assert_eq!(read(tree(7, b"a", b"m")), refused("a tree of 7 rows has 2"));
    assert_eq!(read(tree(2, b"n", b"p")), refused("the leaf 70 is not where its key belongs"));
    assert_eq!(read(tree(2, b"a", b"b")), refused("the leaf 62 is not where its key belongs"));
    assert_eq!(read(tree(2, b"z", b"m")), refused("the leaf 6d is not where its key belongs"));
}

#[test]
fn lengths_and_numbers_beyond_all_bounds_are_found() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let node = "the node 73000000000000000100000001";
    let leaf = |row: &[u8]| Tree::default().put((1, 1), row.to_vec());
    assert_eq!(
        read(leaf(&[&[0, 2][..], &huge].concat())),
        refused(&format!("{node}: a node that is cut off"))
    );
    let value = [&[0, 2, 1, b'k'][..], &huge].concat();
    assert_eq!(read(leaf(&value)), refused(&format!("{node}: a node that is cut off")));
    let height = [&huge[..], &[2, 1, b'k', 0]].concat();
    assert_eq!(read(leaf(&height)), refused(&format!("{node}: a node of an impossible height")));
    let missing = Tree::default().inner((1, 1), (1, 2), b"m", (1, 2), (1, 3)).leaf((1, 2), b"a");
    assert_eq!(read(missing), refused("the node 73000000000000000100000003 is missing"));
}

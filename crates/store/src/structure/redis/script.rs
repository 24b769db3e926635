//! The scripts that run on the server.

use std::sync::LazyLock;

/// A script, and the name that the server gives it.
#[derive(Debug)]
pub(super) struct Script {
    text: &'static str,
    hash: String,
}

/// One step on a queue.
pub(super) static QUEUE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("queue.lua")));

/// A page of a sorted set from after a member.
pub(super) static PAGE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("page.lua")));

/// Commands that are done together, if what they were made from is still so. Steps on queues are a function of it.
pub(super) static CHECKED: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        "local function queue(KEYS, ARGV)\n",
        include_str!("queue.lua"),
        "\nend\n",
        include_str!("checked.lua")
    ))
});

/// How many scripts [`all`] returns.
pub(super) const COUNT: usize = 3;

/// All scripts: a connection loads them before it runs the first.
pub(super) fn all() -> [&'static Script; COUNT] {
    [&QUEUE, &PAGE, &CHECKED]
}

impl Script {
    fn new(text: &'static str) -> Self {
        Self { text, hash: redis::Script::new(text).get_hash().to_owned() }
    }

    pub(super) const fn text(&self) -> &'static [u8] {
        self.text.as_bytes()
    }

    pub(super) const fn hash(&self) -> &[u8] {
        self.hash.as_bytes()
    }
}

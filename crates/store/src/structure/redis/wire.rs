//! Commands as the server reads them.

use std::sync::Arc;

use super::node::Node;
use super::script::Script;
use super::slot::slot;

/// Commands in a row, written out, with where each must go.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    commands: Vec<Entry>,
    scripts: bool,
}

#[derive(Debug)]
struct Entry {
    end: usize,
    target: Target,
}

/// Where a command must go.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// To the master of a slot.
    Slot(u16),
    /// To a node.
    Node(Arc<Node>),
}

impl Batch {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A batch of one command about a key, which is its second word.
    pub(super) fn one(words: &[&[u8]]) -> Self {
        let mut batch = Self::new();
        batch.push(words);
        batch
    }

    /// Adds a command about a key, which is its second word.
    pub(super) fn push(&mut self, words: &[&[u8]]) {
        let key = words.get(1).copied().unwrap_or_default();
        self.push_to(Target::Slot(slot(key)), words);
    }

    /// Adds a command for a target.
    pub(super) fn push_to(&mut self, target: Target, words: &[&[u8]]) {
        write(&mut self.bytes, words);
        self.commands.push(Entry { end: self.bytes.len(), target });
    }

    /// Adds a run of a script, whose keys share a slot.
    pub(super) fn script<K: AsRef<[u8]>>(&mut self, script: &Script, keys: &[K], arguments: &[&[u8]]) {
        let mut count = itoa::Buffer::new();
        let mut words = Vec::with_capacity(3 + keys.len() + arguments.len());
        words.extend([b"EVALSHA".as_slice(), script.hash(), count.format(keys.len()).as_bytes()]);
        words.extend(keys.iter().map(AsRef::as_ref));
        words.extend(arguments);
        let key = keys.first().map(AsRef::as_ref).unwrap_or_default();
        self.push_to(Target::Slot(slot(key)), &words);
        self.scripts = true;
    }

    pub(super) const fn len(&self) -> usize {
        self.commands.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether a script is run in it.
    pub(super) const fn has_scripts(&self) -> bool {
        self.scripts
    }

    pub(super) fn target(&self, at: usize) -> Option<&Target> {
        self.commands.get(at).map(|entry| &entry.target)
    }

    /// The bytes of one command.
    pub(super) fn command(&self, at: usize) -> &[u8] {
        let start =
            at.checked_sub(1).and_then(|before| self.commands.get(before)).map_or(0, |entry| entry.end);
        let end = self.commands.get(at).map_or(start, |entry| entry.end);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The bytes of all commands.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Writes one command: `*words`, then `$length` and the bytes of each word, with CRLF after each.
pub(super) fn write(out: &mut Vec<u8>, words: &[&[u8]]) {
    let mut number = itoa::Buffer::new();
    out.reserve(16 + words.iter().map(|word| word.len() + 16).sum::<usize>());
    out.push(b'*');
    out.extend_from_slice(number.format(words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(b"\r\n$");
        out.extend_from_slice(number.format(word.len()).as_bytes());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(word);
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_lengths_and_bytes() {
        let mut batch = Batch::one(&[b"GET", b"a\r\nb"]);
        batch.push(&[b"PING"]);
        assert_eq!(batch.command(0), b"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n");
        assert_eq!(batch.command(1), b"*1\r\n$4\r\nPING\r\n");
        assert_eq!(batch.command(2), b"");
        assert_eq!(batch.bytes(), b"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n*1\r\n$4\r\nPING\r\n");
    }
}

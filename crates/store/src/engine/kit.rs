//! What engines are made with, those of other crates too: the ages of snapshots, the numbers of spaces, refusals, options of URLs,
//! and a thread that waits for a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use super::Error;
pub use super::Numbers;
pub use super::ages::{Ages, Ticket};

/// The refusal of a row that does not come after the one before it.
pub fn unsorted(key: &[u8]) -> Error {
    super::unsorted(key)
}

/// The value of an option of a URL, with `%xx` read.
///
/// ```
/// use keyplan_store::engine::kit::unescaped;
///
/// assert_eq!(unescaped("my%20own").as_deref(), Some("my own"));
/// assert_eq!(unescaped("50%"), None);
/// ```
pub fn unescaped(value: &str) -> Option<String> {
    let mut bytes = value.bytes();
    let mut read = Vec::with_capacity(value.len());
    while let Some(byte) = bytes.next() {
        read.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(read).ok()
}

/// Waits for something that takes as long as it takes, and parks the thread meanwhile.
///
/// The thread is not lent to a runtime: it may be that of a task of another one. What is asked for by way of a runtime has to be
/// asked inside of it.
pub fn park_on<T>(asked: impl Future<Output = T>) -> T {
    let mut asked = pin!(asked);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(ready) = asked.as_mut().poll(&mut context) {
            return ready;
        }
        std::thread::park();
    }
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

//! A connection that can be cut at a certain moment.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Hands on what two sides say to each other, until it is told to fail.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    cut: Arc<AtomicU8>,
    _listener: JoinHandle<()>,
}

/// What goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing.
    Nothing,
    /// What the client says next does not arrive.
    Request,
    /// What the client says next arrives, and the answer does not.
    Answer,
    /// What the client says next arrives, the answer does not, and nobody can connect any more.
    AnswerForEver,
    /// Nobody can connect.
    Connections,
}

impl Cut {
    const ALL: [Self; 5] =
        [Self::Nothing, Self::Request, Self::Answer, Self::AnswerForEver, Self::Connections];

    const fn number(self) -> u8 {
        self as u8
    }
}

impl Proxy {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(0));
        let shared = cut.clone();
        let listener = std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                if current(&shared) == Cut::Connections {
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let (to_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let cut = shared.clone();
                std::thread::spawn(move || pass(client, to_server, &cut, true));
                let cut = shared.clone();
                std::thread::spawn(move || pass(server, to_client, &cut, false));
            }
        });
        Self { port, cut, _listener: listener }
    }

    /// Has the next exchange fail.
    pub(crate) fn cut(&self, cut: Cut) {
        self.cut.store(cut.number(), Ordering::SeqCst);
    }
}

fn current(cut: &AtomicU8) -> Cut {
    Cut::ALL[usize::from(cut.load(Ordering::SeqCst))]
}

fn pass(mut from: TcpStream, mut to: TcpStream, cut: &AtomicU8, of_client: bool) {
    let mut bytes = [0; 16_384];
    while let Ok(count) = from.read(&mut bytes) {
        if count == 0 {
            break;
        }
        match (current(cut), of_client) {
            (Cut::Request, true) => {
                cut.store(Cut::Nothing.number(), Ordering::SeqCst);
                break;
            }
            (fault @ (Cut::Answer | Cut::AnswerForEver), false) => {
                // The server is listened to until it has said everything, and nothing of it is handed on.
                let _ = from.set_read_timeout(Some(Duration::from_secs(1)));
                while from.read(&mut bytes).is_ok_and(|count| count > 0) {}
                let next = if fault == Cut::Answer { Cut::Nothing } else { Cut::Connections };
                cut.store(next.number(), Ordering::SeqCst);
                break;
            }
            _ => {}
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

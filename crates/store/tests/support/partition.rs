//! A network between two sides that stops, and goes on: nothing is lost on the way, and everything arrives late.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Hands on what two sides say to each other while it is whole.
pub(crate) struct Network {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    held: Mutex<bool>,
    healed: Condvar,
    /// Connections that still have something to hand on, one for each way.
    open: AtomicUsize,
}

impl Shared {
    /// Waits until the network is whole.
    fn pass(&self) {
        let held = self.held.lock().unwrap();
        drop(self.healed.wait_while(held, |held| *held).unwrap());
    }
}

impl Network {
    /// A network to a server of this machine.
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let of_all = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let shared = of_all.clone();
                shared.open.fetch_add(2, Ordering::SeqCst);
                std::thread::spawn(move || {
                    shared.pass();
                    let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                        shared.open.fetch_sub(2, Ordering::SeqCst);
                        return;
                    };
                    let (to_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                    let back = shared.clone();
                    std::thread::spawn(move || hand_on(server, to_client, &back));
                    hand_on(client, to_server, &shared);
                });
            }
        });
        Self { port, shared }
    }

    /// Divides the two sides: nothing arrives, and nobody is told.
    pub(crate) fn divide(&self) {
        *self.shared.held.lock().unwrap() = true;
    }

    /// Puts them together again: what was said meanwhile arrives.
    pub(crate) fn heal(&self) {
        *self.shared.held.lock().unwrap() = false;
        self.shared.healed.notify_all();
    }

    /// Waits until no connection is open any more, and with that everything has arrived.
    pub(crate) fn until_silent(&self) {
        let begun = Instant::now();
        while self.shared.open.load(Ordering::SeqCst) > 0 {
            assert!(begun.elapsed() < Duration::from_mins(2), "connections are still open");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut bytes = [0; 16_384];
    loop {
        let read = from.read(&mut bytes);
        shared.pass();
        match read {
            Ok(count @ 1..) if to.write_all(&bytes[..count]).is_ok() => {}
            _ => break,
        }
    }
    // The other way goes on until its side has said everything.
    let _ = to.shutdown(Shutdown::Write);
    shared.open.fetch_sub(1, Ordering::SeqCst);
}

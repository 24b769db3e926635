//! The server between an editor and a thread that proves.

use std::error::Error;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, select, unbounded};
use lsp_server::{Connection, Message};
use serde_json::json;

use crate::server::{Job, Proof, Server, capabilities};

/// How long the typing must stop before a plan is proved.
const QUIET: Duration = Duration::from_millis(120);

/// Serves one editor until it says goodbye.
///
/// Proofs are made on another thread: an edit is answered at once, and its proof is told when it is there.
pub fn serve(connection: &Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, params) = connection.initialize_start()?;
    let info = json!({ "name": "keyplan", "version": env!("CARGO_PKG_VERSION") });
    let answer = json!({ "capabilities": capabilities(&params), "serverInfo": info });
    connection.initialize_finish(id, answer)?;
    let mut server = Server::new(&params);
    let (jobs, waiting) = unbounded();
    let (finished, proofs) = unbounded();
    let prover = thread::spawn(move || prove(&waiting, &finished));
    let ended = talk(connection, &mut server, &jobs, &proofs);
    drop(jobs);
    // A proof that nobody waits for may take its time; the process ends without it.
    if prover.is_finished() {
        let _ = prover.join();
    }
    ended
}

fn talk(
    connection: &Connection,
    server: &mut Server,
    jobs: &Sender<Job>,
    proofs: &Receiver<Proof>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    loop {
        let sent = select! {
            recv(connection.receiver) -> message => {
                let Ok(message) = message else { return Ok(()) };
                if let Message::Request(request) = &message
                    && connection.handle_shutdown(request)?
                {
                    return Ok(());
                }
                server.handle(message)
            }
            recv(proofs) -> proof => proof.map(|proof| server.proved(proof)).unwrap_or_default(),
        };
        for job in server.take_jobs() {
            jobs.send(job)?;
        }
        for message in sent {
            connection.sender.send(message)?;
        }
    }
}

/// Proves the newest of the plans that wait, each document by itself, when no new one comes for a while.
fn prove(waiting: &Receiver<Job>, finished: &Sender<Proof>) {
    let mut newest: Vec<Job> = Vec::new();
    loop {
        let next = if newest.is_empty() {
            waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            waiting.recv_timeout(QUIET)
        };
        match next {
            Ok(job) => {
                newest.retain(|other| other.uri != job.uri);
                newest.push(job);
            }
            Err(RecvTimeoutError::Timeout) => {
                for job in newest.drain(..) {
                    if finished.send(job.run()).is_err() {
                        return;
                    }
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

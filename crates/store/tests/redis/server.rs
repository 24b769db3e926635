//! Servers of this process's own, on free ports of this machine. They end with it, whatever way it ends.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
    directory: TempDir,
}

/// What is said if there is no server to start.
const MISSING: &str = "redis-server is missing: install it with `apt-get install redis-server`";

impl Server {
    /// Starts a server with options beside the usual ones.
    pub(crate) fn start(options: &[&str]) -> io::Result<Self> {
        let port = free_port()?;
        let port_text = port.to_string();
        Self::start_with(port, &[&["--port", &port_text], options].concat())
    }

    /// Starts a server whose options say which port it listens on.
    pub(crate) fn start_with(port: u16, options: &[&str]) -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let child = run(&directory, options)?;
        let mut server = Self { port, child, directory };
        server.await_start()?;
        Ok(server)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        // The shell that started it waits for the end of its input, and kills it then.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }

    fn await_start(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if TcpStream::connect(self.address()).is_ok() {
                return Ok(());
            }
            if self.child.try_wait()?.is_some() {
                return Err(io::Error::other("redis-server ended at once"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other(format!("redis-server in {} does not listen", self.directory.path().display())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server below a shell that kills it when this process closes the shell's input, by ending or otherwise.
fn run(directory: &TempDir, options: &[&str]) -> io::Result<Child> {
    let present = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
    if !present.is_ok_and(|status| status.success()) {
        return Err(io::Error::new(io::ErrorKind::NotFound, MISSING));
    }
    let usual = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--loglevel", "warning"];
    Command::new("sh")
        .arg("-c")
        .arg("redis-server \"$@\" & server=$!; read -r _; kill -9 $server; wait $server")
        .arg("sh")
        .args(usual)
        .args(options)
        .args(["--dir", &directory.path().display().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// A port that nothing listens on now.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

//! Servers of this process's own, on free ports of this machine. They end with it, whatever way it ends.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    port: u16,
    child: Option<Child>,
    directory: PathBuf,
}

/// What is said if there is no server to start.
const MISSING: &str = "PostgreSQL is missing: install it with `apt-get install postgresql`";

/// Where the programs of a server are: in the path, or where Debian keeps them.
fn program(name: &str) -> PathBuf {
    let in_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|found| found.is_file())
    });
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = versions.map(|version| version.path().join("bin").join(name)).collect();
    debian.sort();
    in_path.or_else(|| debian.pop()).unwrap_or_else(|| panic!("{MISSING}"))
}

/// A command that does not run as root: servers refuse to.
fn unprivileged(name: &str) -> Command {
    let program = program(name);
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn done(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{MISSING}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A directory that the server may use.
fn directory() -> PathBuf {
    let directory = tempfile::Builder::new().prefix("keyplan-postgres").tempdir().unwrap().keep();
    if is_root() {
        done(Command::new("chown").arg("postgres:postgres").arg(&directory));
    }
    directory
}

impl Server {
    /// Starts a server with settings beside the usual ones.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let directory = directory();
        done(unprivileged("initdb").current_dir("/").arg("--pgdata").arg(directory.join("data")).args([
            "--auth=trust",
            "--no-sync",
            "--username=keyplan",
            "--encoding=UTF8",
            "--locale=C",
        ]));
        let mut server = Self { port: free_port(), child: None, directory };
        server.configure(settings);
        server.run();
        server
    }

    /// Starts a replica of this server.
    pub(crate) fn replica(&self, settings: &[&str]) -> Self {
        let directory = directory();
        done(
            unprivileged("pg_basebackup")
                .current_dir("/")
                .args([
                    "-h",
                    "127.0.0.1",
                    "-U",
                    "keyplan",
                    "-X",
                    "stream",
                    "-R",
                    "--no-sync",
                    "--checkpoint=fast",
                ])
                .args(["-p", &self.port.to_string(), "-D"])
                .arg(directory.join("data")),
        );
        let mut server = Self { port: free_port(), child: None, directory };
        server.configure(settings);
        server.run();
        server
    }

    /// Where its databases are.
    pub(crate) fn url(&self) -> String {
        format!("postgres://keyplan@127.0.0.1:{}/postgres", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes it a primary.
    pub(crate) fn promote(&self) {
        done(
            unprivileged("pg_ctl")
                .current_dir("/")
                .arg("promote")
                .arg("-w")
                .arg("-D")
                .arg(self.directory.join("data")),
        );
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // The shell that started it waits for the end of its input, and ends it then.
        drop(child.stdin.take());
        let _ = child.wait();
    }

    /// Starts it again, where it was.
    pub(crate) fn run(&mut self) {
        let data = self.directory.join("data");
        let server = unprivileged("postgres");
        // An immediate shutdown writes nothing: what it starts with next is what was in its log.
        let mut command = Command::new("sh");
        command
            .current_dir("/")
            .arg("-c")
            .arg("\"$@\" & server=$!; read -r _; kill -QUIT $server; wait $server");
        command.arg("sh").arg(server.get_program()).args(server.get_args()).arg("-D").arg(data);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        self.await_start();
    }

    /// Starts it again so that it speaks TLS and nothing else, with this certificate and key.
    pub(crate) fn run_with_tls(&mut self, certificate: &str, key: &str) {
        self.kill();
        let data = self.directory.join("data");
        let append = |name: &str, text: &str| {
            let path = data.join(name);
            let before = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, before + text).unwrap();
        };
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = data.join(name);
            std::fs::write(&path, text).unwrap();
            done(Command::new("chmod").arg("600").arg(&path));
            if is_root() {
                done(Command::new("chown").arg("postgres:postgres").arg(&path));
            }
        }
        append("postgresql.conf", "ssl = on\n");
        std::fs::write(data.join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n").unwrap();
        self.run();
    }

    fn configure(&self, settings: &[&str]) {
        let usual = [
            "listen_addresses = '127.0.0.1'",
            &format!("port = {}", self.port),
            &format!("unix_socket_directories = '{}'", self.directory.display()),
            "max_connections = 300",
            "shared_buffers = 48MB",
            // A process that ends is what is tried here, not a machine.
            "fsync = off",
            "wal_level = replica",
            "hot_standby = on",
        ];
        let lines: Vec<&str> = usual.iter().chain(settings).copied().collect();
        let text = lines.join("\n") + "\n";
        let path = self.directory.join("data/postgresql.conf");
        std::fs::write(path, text).unwrap();
    }

    fn await_start(&mut self) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_mins(2) {
            let ready = Command::new(program("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return;
            }
            let ended =
                self.child.as_mut().is_none_or(|child| child.try_wait().is_ok_and(|ended| ended.is_some()));
            assert!(!ended, "the server ended at once");
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server did not start");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn free_port() -> u16 {
    let listen = || -> io::Result<u16> { Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port()) };
    listen().unwrap()
}

/// The server that tests share which leave it running. It ends with the process; its files are removed then.
pub(crate) fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| {
        let server = Server::start(&[]);
        // Nothing is dropped at the end of a process: another one waits for that end.
        let mut sweeper = Command::new("sh");
        sweeper.arg("-c").arg("read -r _; sleep 2; rm -rf \"$1\"").arg("sh").arg(server.directory());
        sweeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = sweeper.spawn().unwrap();
        // Its input stays open as long as this process lives.
        std::mem::forget(child);
        server
    })
}

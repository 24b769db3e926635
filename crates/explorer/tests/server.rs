//! Who is let in, what is refused, and what every answer says about itself.
#![cfg(test)]
#![cfg(feature = "web")]

#[expect(dead_code, reason = "the other tests use the rest")]
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Sends a request as it is and gives the whole answer.
fn send(host: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

struct Server {
    host: String,
    token: String,
    cookie: String,
}

impl Server {
    fn start(folder: &std::path::Path) -> Self {
        Self::of(support::explorer(folder, false))
    }

    fn of(explorer: std::sync::Arc<keyplan_explorer::Explorer>) -> Self {
        let url = support::serve(explorer);
        let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        let port = host.rsplit_once(':').unwrap().1;
        let cookie = format!("keyplan_{port}={token}");
        Self { host: host.to_owned(), token: token.to_owned(), cookie }
    }

    fn get(&self, path: &str, headers: &str) -> String {
        send(&self.host, &format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"))
    }

    fn own(&self) -> String {
        format!("Host: {}\r\nCookie: {}\r\n", self.host, self.cookie)
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn only_who_has_the_token_is_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let host = format!("Host: {}\r\n", server.host);
    for path in ["/", "/api/overview", "/assets/main.js", "/?token=0", "/api/overview?token="] {
        assert_eq!(status(&server.get(path, &host)), "401", "{path}");
    }
    let first = server.get(&format!("/?family=orders.order&token={}", server.token), &host);
    assert_eq!(status(&first), "303");
    let lower = first.to_lowercase();
    assert!(lower.contains("location: /?family=orders.order\r\n"), "{first}");
    assert!(lower.contains("httponly; samesite=strict"), "{first}");
    assert_eq!(status(&server.get("/api/overview", &server.own())), "200");
    let wrong = format!("Host: {}\r\nCookie: {}0\r\n", server.host, server.cookie);
    assert_eq!(status(&server.get("/api/overview", &wrong)), "401");
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let cookie = format!("Cookie: {}\r\n", server.cookie);
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "localhost"] {
        assert_eq!(
            status(&server.get("/api/overview", &format!("Host: {host}\r\n{cookie}"))),
            "421",
            "{host}"
        );
    }
    let own = server.own();
    let with = |headers: &str| {
        status(&server.get("/api/rows?family=orders.order", &format!("{own}{headers}"))).to_owned()
    };
    assert_eq!(with("Origin: https://evil.example\r\n"), "403");
    assert_eq!(with("Origin: null\r\n"), "403");
    assert_eq!(with("Sec-Fetch-Site: cross-site\r\n"), "403");
    assert_eq!(with(&format!("Origin: http://{}\r\n", server.host)), "200");
    // A form of another page cannot send the header that a request that acts must have.
    let post = |headers: &str| {
        let request = format!(
            "POST /api/stop HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n{own}{headers}\r\n"
        );
        status(&send(&server.host, &request)).to_owned()
    };
    assert_eq!(post(""), "403");
    assert_eq!(post("X-Keyplan: 1\r\nOrigin: https://evil.example\r\n"), "403");
    assert_eq!(post("X-Keyplan: 1\r\n"), "200");
    assert_eq!(status(&server.get("/api/stop", &own)), "405");
}

#[test]
fn answers_let_no_code_in_and_nothing_writes() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for path in ["/", "/api/overview", "/assets/main.js", "/assets/none.js", "/api/none"] {
        let answer = server.get(path, &server.own()).to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "nosniff",
            "frame-ancestors 'none'",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.contains(header), "{path}: {header}");
        }
        assert!(!answer.contains("unsafe-inline") && !answer.contains("unsafe-eval"), "{path}");
    }
    let own = server.own();
    let before = std::fs::read_to_string(folder.path().join("shop.keyplan")).unwrap();
    for (method, path) in
        [("POST", "/api/write-plan"), ("PUT", "/api/rows"), ("DELETE", "/api/key"), ("POST", "/api/rows")]
    {
        let body = "plan shop; space orders { key all = b: bytes; }";
        let request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\nX-Keyplan: 1\r\n{own}\r\n{body}",
            body.len()
        );
        let answer = send(&server.host, &request);
        assert!(matches!(status(&answer), "400" | "404" | "405"), "{method} {path}: {answer}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("shop.keyplan")).unwrap(), before);
    let long = "0".repeat(3 << 20);
    let request = format!(
        "POST /api/try HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\nX-Keyplan: 1\r\n{own}\r\n{long}",
        long.len()
    );
    let mut stream = TcpStream::connect(&server.host).unwrap();
    // The server may close before all of it was sent: what counts is that it does not take it.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || status(&answer) == "413", "{answer}");
}

#[test]
fn every_page_answers_json_and_fifty_tabs_share_one_walk() {
    let folder = tempfile::tempdir().unwrap();
    // Counting stops in the middle until the end of the test: no page waits for it.
    let gate = folder.path().join("gate");
    let (explorer, walks) = support::gated(&gate);
    let server = Server::of(explorer);
    let tabs: Vec<_> = (0..50)
        .map(|tab| {
            let (host, own) = (server.host.clone(), server.own());
            std::thread::spawn(move || {
                let page = [
                    "overview",
                    "walk",
                    "rows?family=orders.order",
                    "unread",
                    "key?key=0102",
                    "plan",
                    "search?q=order",
                ][tab % 7];
                send(&host, &format!("GET /api/{page} HTTP/1.1\r\nConnection: close\r\n{own}\r\n"))
            })
        })
        .collect();
    for tab in tabs {
        let answer = tab.join().unwrap();
        assert_eq!(status(&answer), "200", "{}", &answer[..answer.len().min(300)]);
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let json: serde_json::Value = serde_json::from_str(body).unwrap();
        assert!(json.is_object());
    }
    let walk = || -> serde_json::Value {
        let answer = server.get("/api/walk", &server.own());
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    assert_eq!(walk()["state"], "walking");
    std::fs::write(&gate, "").unwrap();
    let done = (0..6000).find_map(|_| {
        let now = walk();
        if now["state"] == "walking" {
            std::thread::sleep(std::time::Duration::from_millis(10));
            return None;
        }
        Some(now)
    });
    let done = done.expect("it ends");
    assert_eq!(done["state"], "done", "{done}");
    assert!(done["families"].as_array().unwrap().iter().all(|family| family["exact"] == true));
    // One walk over each of the two spaces, for all fifty.
    assert_eq!(walks.load(std::sync::atomic::Ordering::SeqCst), 2);
}

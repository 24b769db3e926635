//! The explorer inside of a program that has the store open: its pages beside the program's own, and a server as a source.
#![cfg(test)]
#![cfg(feature = "web")]

#[expect(dead_code, reason = "the other tests use the rest")]
mod support;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};

use axum::Router;
use axum::routing::get;
use keyplan_explorer::{Database, Explorer, Page, Params, Settings, web};
use keyplan_store::engine::Durability;
use keyplan_store::structure::Embedded;
use serde_json::Value as Json;

/// Serves a program's router for as long as the test runs.
fn serve(app: Router) -> SocketAddr {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
    });
    told.recv().unwrap()
}

fn send(at: SocketAddr, method: &str, path: &str, headers: &str) -> (String, String, String) {
    let mut stream = TcpStream::connect(at).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().to_owned();
    (status, head.to_lowercase(), body.to_owned())
}

fn page(at: SocketAddr, path: &str) -> Json {
    let (status, _, body) = send(at, "GET", path, "");
    assert_eq!(status, "200", "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn a_program_mounts_its_store_beside_its_own_pages() {
    let store = support::store(false);
    let app = Router::new()
        .route("/own", get(|| async { "mine" }))
        .merge(web::router_at("/explore", Explorer::of_store(&store).unwrap()));
    let at = serve(app);
    assert_eq!(send(at, "GET", "/own", "").2, "mine");
    // Without its last stroke the address would not lead to the files beside it.
    let (status, head, _) = send(at, "GET", "/explore", "");
    assert_eq!(status, "308");
    assert!(head.contains("location: /explore/"), "{head}");
    let (status, head, body) = send(at, "GET", "/explore/", "");
    assert_eq!(status, "200");
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert!(
        !body.contains("src=\"/") && !body.contains("href=\"/"),
        "its files are named from where it is: {body}"
    );
    assert_eq!(send(at, "GET", "/explore/assets/main.js", "").0, "200");
    let rows = page(at, "/explore/api/rows?family=orders.order&limit=2");
    assert_eq!(rows["rows"][1]["cells"][1], "1", "{rows}");
    // The program goes on writing, and whoever looks sees it.
    let mut batch = store.batch().unwrap();
    batch.put(store.space("orders").unwrap(), support::order(77, 1), [0, 0, 0, 9, 1].as_slice());
    batch.commit(Durability::Buffer).unwrap();
    let rows = page(at, "/explore/api/rows?family=orders.order&scan=1&a.customer=77");
    assert_eq!(rows["rows"].as_array().unwrap().len(), 1, "{rows}");
    let queue = page(at, "/explore/api/structure?family=things.jobs&key=6a6f62733a6d61696c");
    assert_eq!(queue["queue"]["held"]["count"], 1, "{queue}");
    // Nothing writes, no other page acts, and a program's own pages keep their own rules.
    assert_eq!(send(at, "POST", "/explore/api/stop", "").0, "403");
    assert_eq!(
        send(at, "POST", "/explore/api/stop", "X-Keyplan: 1\r\nOrigin: https://evil.example\r\n").0,
        "403"
    );
    assert_eq!(send(at, "POST", "/explore/api/stop", "X-Keyplan: 1\r\n").0, "200");
    assert_eq!(send(at, "POST", "/explore/api/write-plan", "X-Keyplan: 1\r\n").0, "400");
    assert_eq!(send(at, "GET", "/explore/api/none", "").0, "404");
    assert!(!send(at, "GET", "/own", "").1.contains("content-security-policy"));
}

#[test]
fn a_store_is_a_whole_site() {
    let store = support::store(false);
    let at = serve(keyplan_explorer::router(&store).unwrap());
    assert_eq!(page(at, "/api/overview")["plan"]["name"], "shop");
    assert_eq!(send(at, "GET", "/", "").0, "200");
}

#[test]
fn a_server_is_explored_like_a_database() {
    let store = support::store(false);
    let compiled = || keyplan_plan::compile("shop.keyplan", support::PLAN, |_| Err("no imports".into()));
    let plan = compiled().plan.unwrap();
    let space = plan.spaces.iter().find(|space| space.name == "things").unwrap();
    let read = Arc::new(Embedded::open(Arc::clone(&store), "things").unwrap());
    let database = Database::of_server("server", "redis", space, read);
    let explorer = Explorer::new(database, compiled(), Settings::default()).unwrap();
    let ask = |page: Page, params: &str| explorer.answer(page, &Params::parse(params)).unwrap();
    let overview = ask(Page::Overview, "");
    assert_eq!(overview["kind"], "redis");
    assert_eq!(overview["absent_spaces"], serde_json::json!(["orders"]));
    let rows = ask(Page::Rows, "family=things.ranking");
    assert_eq!(rows["rows"][0]["cells"], serde_json::json!(["chess"]), "{rows}");
    let held = ask(Page::Structure, "family=things.ranking&key=72616e6b3a6368657373");
    assert_eq!(held["parts"][1]["score"], "20.5", "{held}");
    let key = ask(Page::Key, "key=757365723a37&space=things");
    assert_eq!(key["spaces"][0]["found"], true, "{key}");
    let back = ask(Page::Rows, "space=things&rev=1");
    let ahead = ask(Page::Rows, "space=things");
    let keys = |page: &Json| {
        page["rows"].as_array().unwrap().iter().map(|row| row["key"].clone()).collect::<Vec<_>>()
    };
    let mut turned = keys(&back);
    turned.reverse();
    assert_eq!(keys(&ahead), turned);
    assert_eq!(turned.len(), 3);
}

//! The pages in a browser.
//!
//! [`serve`] listens on this machine only and lets in only those who have the address that it gives. [`router`] mounts the
//! same pages in a program that has the database open; [`router_at`] does so under a path.
//!
//! ```
//! use std::sync::Arc;
//! use keyplan_store::{Schema, Store, engine::Memory};
//!
//! # let text = "plan p; space s { key k = 0x01 id: u8; }";
//! # let schema = Schema::of(&keyplan_plan::compile("p", text, |_| Err(String::new()))).expect("sound");
//! # let store = Arc::new(Store::create(Memory::new(), &schema)?);
//! // `store` is open in this program, which no other process may be let into.
//! let explorer = keyplan_explorer::Explorer::of_store(&store)?;
//! let app = axum::Router::new()
//!     .route("/health", axum::routing::get(|| async { "well" }))
//!     .merge(keyplan_explorer::web::router_at("/explore", explorer));
//! // With nothing beside it, the store is a site by itself.
//! let alone: axum::Router = keyplan_explorer::router(&store)?;
//! # drop((app, alone));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a mounted router may be reached by is for the program around it to say: it checks that a request that acts comes
//! from its own pages, and no more. Answers have a policy that lets no script and no style in but those that are part of
//! this crate, and nothing from elsewhere.

mod assets;
mod guard;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use keyplan_store::Store;
use keyplan_store::engine::Engine;
use serde_json::{Value as Json, json};
use tokio::sync::Semaphore;

use crate::explorer::{ExploreError, Explorer};
use crate::page::Page;
use crate::params::{Params, Problem};
pub use guard::Guard;

/// How many questions are answered at once; others wait.
const AT_ONCE: usize = 8;
/// How many bytes a question may have.
const LONGEST: usize = 2 << 20;

/// What every answer says about itself: nothing comes from elsewhere, nothing in it is code.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

#[derive(Clone)]
struct App {
    explorer: Arc<Explorer>,
    at_once: Arc<Semaphore>,
}

/// The pages of an open store, to be mounted in the program that has it open.
pub fn router<E: Engine>(store: &Arc<Store<E>>) -> Result<Router, ExploreError> {
    Ok(router_of(Explorer::of_store(store)?))
}

/// The pages of an explorer.
pub fn router_of(explorer: Arc<Explorer>) -> Router {
    router_at("", explorer)
}

/// The pages of an explorer under a path such as `/explore`.
pub fn router_at(path: &str, explorer: Arc<Explorer>) -> Router {
    let app = App { explorer, at_once: Arc::new(Semaphore::new(AT_ONCE)) };
    let path = path.trim_end_matches('/');
    let mut router = Router::new()
        .route(&format!("{path}/"), get(assets::index))
        .route(&format!("{path}/assets/{{file}}"), get(assets::file))
        .route(&format!("{path}/api/{{page}}"), get(asked).merge(post(acted)));
    if !path.is_empty() {
        let to = format!("{path}/");
        router = router.route(path, get(move || async move { Redirect::permanent(&to) }));
    }
    router
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(middleware::map_response(safe))
        .layer(middleware::from_fn(guard::own_origin))
        .with_state(app)
}

/// Listens at `address` and answers whoever has the token of the guard. Gives the address that lets a browser in and what
/// to wait for.
pub async fn serve(
    explorer: Arc<Explorer>,
    address: SocketAddr,
) -> io::Result<(String, impl Future<Output = io::Result<()>>)> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let guard = Guard::new(listener.local_addr()?)?;
    let url = guard.url();
    let router = router_of(explorer).layer(middleware::from_fn_with_state(guard, guard::let_in));
    Ok((url, async move { axum::serve(listener, router).await }))
}

/// Serves in this thread until the process ends; `opened` is told the address that lets a browser in.
pub fn serve_here(explorer: Arc<Explorer>, address: SocketAddr, opened: impl FnOnce(&str)) -> io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build()?;
    runtime.block_on(async {
        let (url, served) = serve(explorer, address).await?;
        opened(&url);
        served.await
    })
}

/// Puts the headers on every answer.
async fn safe(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

async fn asked(
    State(app): State<App>,
    Path(page): Path<String>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Response {
    match Page::of_word(&page) {
        Some(page) if !page.acts() => answer(app, page, Params::new(pairs)).await,
        Some(_) => problem(StatusCode::METHOD_NOT_ALLOWED, "this page is asked with POST"),
        None => problem(StatusCode::NOT_FOUND, "there is no such page"),
    }
}

async fn acted(
    State(app): State<App>,
    Path(page): Path<String>,
    Query(mut pairs): Query<Vec<(String, String)>>,
    body: Bytes,
) -> Response {
    let Some(page) = Page::of_word(&page).filter(|page| page.acts()) else {
        return problem(StatusCode::NOT_FOUND, "there is no such page");
    };
    if !body.is_empty() {
        let Ok(text) = String::from_utf8(body.to_vec()) else {
            return problem(StatusCode::BAD_REQUEST, "a plan is text");
        };
        pairs.push(("text".to_owned(), text));
    }
    answer(app, page, Params::new(pairs)).await
}

/// Answers in a thread where reading a disk holds nobody up.
async fn answer(app: App, page: Page, params: Params) -> Response {
    let Ok(_turn) = app.at_once.acquire().await else {
        return problem(StatusCode::SERVICE_UNAVAILABLE, "the program ends");
    };
    let explorer = app.explorer;
    let answered = tokio::task::spawn_blocking(move || explorer.answer(page, &params)).await;
    match answered {
        Ok(Ok(json)) => reply(StatusCode::OK, &json),
        Ok(Err(why)) => {
            let status = match why {
                Problem::Asked(_) => StatusCode::BAD_REQUEST,
                Problem::Absent(_) => StatusCode::NOT_FOUND,
                Problem::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
                Problem::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            };
            problem(status, &keyplan_plan::notation::visible(&why.to_string()))
        }
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not finished"),
    }
}

fn problem(status: StatusCode, why: &str) -> Response {
    reply(status, &json!({ "error": why }))
}

fn reply(status: StatusCode, json: &Json) -> Response {
    let body = Body::from(json.to_string());
    (status, [(header::CONTENT_TYPE, "application/json; charset=utf-8")], body).into_response()
}

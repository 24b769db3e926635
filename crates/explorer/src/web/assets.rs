//! The page, its style and its modules, as they are in `assets/`.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

const INDEX: &str = include_str!("assets/index.html");

/// Every file, by its name.
const FILES: [(&str, &str, &str); 17] = [
    ("app.css", "text/css; charset=utf-8", include_str!("assets/app.css")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ("api.js", SCRIPT, include_str!("assets/api.js")),
    ("compare.js", SCRIPT, include_str!("assets/compare.js")),
    ("copy.js", SCRIPT, include_str!("assets/copy.js")),
    ("dom.js", SCRIPT, include_str!("assets/dom.js")),
    ("facets.js", SCRIPT, include_str!("assets/facets.js")),
    ("groups.js", SCRIPT, include_str!("assets/groups.js")),
    ("keys.js", SCRIPT, include_str!("assets/keys.js")),
    ("lanes.js", SCRIPT, include_str!("assets/lanes.js")),
    ("main.js", SCRIPT, include_str!("assets/main.js")),
    ("notes.js", SCRIPT, include_str!("assets/notes.js")),
    ("plan.js", SCRIPT, include_str!("assets/plan.js")),
    ("rows.js", SCRIPT, include_str!("assets/rows.js")),
    ("search.js", SCRIPT, include_str!("assets/search.js")),
    ("side.js", SCRIPT, include_str!("assets/side.js")),
    ("tree.js", SCRIPT, include_str!("assets/tree.js")),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page itself.
pub(super) async fn index() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], INDEX).into_response()
}

/// One of its files.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, _, _)| *known == name) {
        Some((_, kind, text)) => ([(header::CONTENT_TYPE, *kind)], *text).into_response(),
        None => (
            StatusCode::NOT_FOUND,
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            "there is no such file\n",
        )
            .into_response(),
    }
}

//! The language server of plans.
//!
//! [`Server`] is the whole meaning: it is given messages and gives messages back, and a test drives it in memory.
//! [`serve`] puts it between an editor and a thread that proves, so that an edit is answered at once and its proof comes
//! when the typing stops.
//!
//! ```
//! use keyplan_lsp::Server;
//! use lsp_server::{Message, Notification};
//! use serde_json::json;
//!
//! let mut server = Server::new(&json!({}));
//! let document = json!({ "uri": "file:///demo.keyplan", "version": 1, "text": "plan demo;" });
//! let open = Notification::new("textDocument/didOpen".to_owned(), json!({ "textDocument": document }));
//! let sent = server.handle(Message::Notification(open));
//! let [Message::Notification(published)] = sent.as_slice() else { panic!("{sent:?}") };
//! assert_eq!(published.method, "textDocument/publishDiagnostics");
//! ```
//!
//! Texts with mistakes are served too: what could be read of them has symbols, completion and folding; only what needs a
//! meaning (hover, offsets, verdicts) waits until there is one. No message can make the server panic.

mod actions;
mod analysis;
mod completion;
mod diagnostics;
mod format;
mod hints;
mod hover;
mod language;
mod lens;
mod names;
mod outline;
mod rename;
mod serve;
mod server;
mod text;
mod tokens;
mod uri;

pub use language::REFERENCE;
pub use serve::serve;
pub use server::{Job, Proof, Server, capabilities};

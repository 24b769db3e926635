//! The whole server: messages in, messages out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use keyplan_plan::{Compiled, Engine};
use keyplan_prover::Options;
use keyplan_report::findings::{Checked, Repairs};
use keyplan_report::project::Project;
use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value, json};

use crate::analysis::Document;
use crate::text::Encoding;
use crate::{actions, completion, diagnostics, format, hints, hover, lens, outline, rename, tokens};

/// The open documents of one editor.
pub struct Server {
    encoding: Encoding,
    /// Whether the editor asks again when it is told that lenses and hints have changed.
    refreshes: bool,
    documents: BTreeMap<String, Document>,
    jobs: Vec<Job>,
    next_id: i32,
}

/// A plan that is to be proved.
pub struct Job {
    /// The document.
    pub uri: String,
    version: i64,
    path: String,
    compiled: Arc<Compiled>,
}

/// What was proved of a document.
pub struct Proof {
    uri: String,
    version: i64,
    checked: Checked,
}

impl Job {
    /// Proves it, and looks for repairs.
    pub fn run(self) -> Proof {
        let Self { uri, version, path, compiled } = self;
        let options = Options { engine: engine_of(&path), ..Options::default() };
        let compiled = Arc::unwrap_or_clone(compiled);
        let checked = Checked::new(&path, compiled, Some(&options), Repairs::Wanted);
        Proof { uri, version, checked }
    }
}

/// The engine that the project around a plan says its keys must fit.
fn engine_of(path: &str) -> Engine {
    let project = Path::new(path).parent().and_then(|folder| Project::around(folder).ok().flatten());
    project.and_then(|project| project.settings.engine).unwrap_or(Options::default().engine)
}

/// What the server can do, as the answer to `initialize`.
pub fn capabilities(params: &Value) -> Value {
    json!({
        "positionEncoding": encoding(params).name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "completionProvider": { "triggerCharacters": [".", ":", "(", ","] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "foldingRangeProvider": true,
        "renameProvider": { "prepareProvider": true },
        "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor"] },
        "codeLensProvider": {},
        "inlayHintProvider": true,
        "semanticTokensProvider": { "legend": tokens::legend(), "full": true },
    })
}

fn encoding(params: &Value) -> Encoding {
    let offered = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
    let utf8 = offered.into_iter().flatten().any(|name| name == "utf-8");
    if utf8 { Encoding::Utf8 } else { Encoding::Utf16 }
}

impl Server {
    /// A server for an editor that says this of itself in `initialize`.
    pub fn new(params: &Value) -> Self {
        let supported = |what: &str| {
            let pointer = format!("/capabilities/workspace/{what}/refreshSupport");
            params.pointer(&pointer).and_then(Value::as_bool).unwrap_or_default()
        };
        Self {
            encoding: encoding(params),
            refreshes: supported("codeLens") && supported("inlayHint"),
            documents: BTreeMap::new(),
            jobs: Vec::new(),
            next_id: 0,
        }
    }

    /// Handles one message, and returns those to send.
    pub fn handle(&mut self, message: Message) -> Vec<Message> {
        match message {
            Message::Request(request) => vec![Message::Response(self.answer(request))],
            Message::Notification(notification) => self.notified(&notification),
            Message::Response(_) => Vec::new(),
        }
    }

    /// The plans that have changed since this was last asked.
    pub fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.jobs)
    }

    /// Takes a proof in, and returns the messages to send. One of an older text is dropped.
    pub fn proved(&mut self, proof: Proof) -> Vec<Message> {
        let Some(document) = self.documents.get_mut(&proof.uri) else { return Vec::new() };
        if document.version != proof.version {
            return Vec::new();
        }
        document.checked = Some(proof.checked);
        let mut out = vec![publish(document)];
        if self.refreshes {
            out.push(self.ask("workspace/codeLens/refresh"));
            out.push(self.ask("workspace/inlayHint/refresh"));
        }
        out
    }

    fn ask(&mut self, method: &str) -> Message {
        self.next_id = self.next_id.wrapping_add(1);
        Message::Request(Request::new(self.next_id.into(), method.to_owned(), Value::Null))
    }

    fn notified(&mut self, notification: &Notification) -> Vec<Message> {
        let params = &notification.params;
        let document = params.get("textDocument").cloned().unwrap_or_default();
        let uri = document.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = document.get("version").and_then(Value::as_i64).unwrap_or_default();
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = document.get("text").and_then(Value::as_str).unwrap_or_default();
                self.read(&uri, version, text)
            }
            "textDocument/didChange" => {
                let Some(known) = self.documents.get(&uri) else { return Vec::new() };
                let text = changed(known, params.get("contentChanges"), self.encoding);
                let mut out = self.read(&uri, version, &text);
                // What imports it means something else now.
                out.extend(self.importers(&uri));
                out
            }
            "textDocument/didSave" => self.importers(&uri),
            "textDocument/didClose" => {
                self.documents.remove(&uri);
                let params = json!({ "uri": uri, "diagnostics": [] });
                vec![Message::Notification(Notification::new(
                    "textDocument/publishDiagnostics".to_owned(),
                    params,
                ))]
            }
            _ => Vec::new(),
        }
    }

    /// Reads a text again, tells its mistakes, and leaves the proof for later.
    fn read(&mut self, uri: &str, version: i64, text: &str) -> Vec<Message> {
        let open = |path: &str| {
            let found = self.documents.values().find(|document| document.path == path);
            found.map(|document| document.text().to_owned())
        };
        let document = Document::new(uri, version, text, self.encoding, open);
        if document.compiled.sound().is_some() {
            let (path, compiled) = (document.path.clone(), Arc::clone(&document.compiled));
            self.jobs.push(Job { uri: uri.to_owned(), version, path, compiled });
        }
        let published = publish(&document);
        self.documents.insert(uri.to_owned(), document);
        vec![published]
    }

    /// Reads the documents again that import the one at `uri`.
    fn importers(&mut self, uri: &str) -> Vec<Message> {
        let path = crate::uri::path_of(uri);
        let importing =
            |document: &&Document| document.uri != uri && document.compiled.sources.find(&path).is_some();
        let found: Vec<(String, i64, String)> = self
            .documents
            .values()
            .filter(importing)
            .map(|document| (document.uri.clone(), document.version, document.text().to_owned()))
            .collect();
        found.into_iter().flat_map(|(uri, version, text)| self.read(&uri, version, &text)).collect()
    }

    fn answer(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
        let Some(document) = self.documents.get(uri) else {
            let known = method.starts_with("textDocument/");
            return if known {
                Response::new_ok(id, Value::Null)
            } else {
                Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("there is no `{method}`"))
            };
        };
        let offset = || {
            let position = params.get("position").cloned().unwrap_or_default();
            document.lines.offset(document.text(), &position)
        };
        let result = match method.as_str() {
            "textDocument/hover" => hover::hover(document, offset()),
            "textDocument/completion" => completion::complete(document, offset()),
            "textDocument/definition" => rename::definition(document, offset()),
            "textDocument/references" => {
                let declared = params.pointer("/context/includeDeclaration").and_then(Value::as_bool);
                rename::references(document, self.others(document), offset(), declared.unwrap_or(true))
            }
            "textDocument/documentHighlight" => rename::highlights(document, offset()),
            "textDocument/prepareRename" => rename::prepare(document, offset()),
            "textDocument/rename" => {
                let name = params.get("newName").and_then(Value::as_str).unwrap_or_default();
                match rename::rename(document, self.others(document), offset(), name) {
                    Ok(edit) => edit,
                    Err(why) => return Response::new_err(id, ErrorCode::RequestFailed as i32, why),
                }
            }
            "textDocument/documentSymbol" => outline::symbols(document),
            "textDocument/foldingRange" => outline::folds(document),
            "textDocument/formatting" => format::format(document),
            "textDocument/inlayHint" => hints::hints(document, params.get("range")),
            "textDocument/semanticTokens/full" => tokens::tokens(document),
            "textDocument/codeLens" => lens::lenses(document),
            "textDocument/codeAction" => {
                let only = params.pointer("/context/only").and_then(Value::as_array).map(Vec::as_slice);
                actions::actions(document, params.get("range"), only)
            }
            _ => {
                let why = format!("there is no `{method}`");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, why);
            }
        };
        Response::new_ok(id, result)
    }

    /// The other open documents.
    fn others<'a>(&'a self, than: &'a Document) -> impl Iterator<Item = &'a Document> + Clone {
        self.documents.values().filter(|document| document.uri != than.uri)
    }
}

/// A document's text after the changes that an editor tells of.
fn changed(document: &Document, changes: Option<&Value>, encoding: Encoding) -> String {
    let mut text = document.text().to_owned();
    for change in changes.and_then(Value::as_array).into_iter().flatten() {
        let new = change.get("text").and_then(Value::as_str).unwrap_or_default();
        let Some(range) = change.get("range").filter(|range| !range.is_null()) else {
            new.clone_into(&mut text);
            continue;
        };
        let lines = crate::text::Lines::new(&text, encoding);
        let at = |end: &str| lines.offset(&text, range.get(end).unwrap_or(&Value::Null));
        let (start, end) = (at("start"), at("end"));
        let (start, end) = (start.min(end), start.max(end));
        if text.is_char_boundary(start) && text.is_char_boundary(end) {
            text.replace_range(start..end, new);
        }
    }
    text
}

fn publish(document: &Document) -> Message {
    let params = json!({
        "uri": document.uri,
        "version": document.version,
        "diagnostics": diagnostics::diagnostics(document),
    });
    Message::Notification(Notification::new("textDocument/publishDiagnostics".to_owned(), params))
}

//! What is at the top of a file, and what is in braces.

use super::super::ast::{File, Import, Item, Member, ModuleDecl, NameEntry, NamesDecl, SpaceDecl, TypeDecl};
use super::super::layout::{MarkKind, Statement};
use super::super::nearest::nearest;
use super::super::token::{TokenKind, shortened};
use super::{Docs, Parse, Parser, Place, Reported};
use crate::diag::{Code, Diagnostic, Label};

const ITEM_WORDS: [&str; 5] = ["import", "type", "names", "space", "plan"];
const MEMBER_WORDS: [&str; 10] =
    ["key", "hash", "zset", "set", "queue", "module", "allot", "retired", "drop", "rule"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while let Some(TokenKind::FileDoc(line)) = self.kind() {
            file.doc.push(line.clone());
            self.at += 1;
        }
        let first = self.span();
        while self.kind().is_some() {
            self.item(&mut file);
        }
        let wrong_from_the_start = self.sink.kept_mut().iter().any(|known| known.span() == first);
        if file.name.is_none() && !self.plan_seen && !wrong_from_the_start {
            let message = "the file does not name its plan";
            let diagnostic = Diagnostic::new(Code::MissingPlanName, message, first, "expected `plan NAME;`")
                .with_help("begin the file with `plan NAME;`, after the lines of `//!` if there are any");
            self.report(diagnostic);
        }
        file.items.append(&mut self.misplaced);
        file
    }

    fn item(&mut self, file: &mut File) {
        let docs = self.docs();
        let Some(word) = self.word() else {
            self.not_an_item(&docs);
            return;
        };
        let word = match self.correct(word, &ITEM_WORDS, "at the top of a file") {
            Ok(word) => word,
            Err(Reported) => return self.skip_statement(),
        };
        if MEMBER_WORDS.contains(&word) {
            let message = format!("`{word}` is outside of a space");
            self.fail(Place::Here, message, "expected `space NAME { … }` around it");
            return self.skip_statement();
        }
        let start = docs.at;
        let done = if word == "plan" { self.plan(&docs, file) } else { self.declaration(word, docs) };
        match done {
            Ok(item) => {
                file.items.extend(item);
                self.mark(MarkKind::Statement(statement(word)), start);
            }
            Err(Reported) => self.skip_statement(),
        }
    }

    /// Something other than a word at the top of the file.
    fn not_an_item(&mut self, docs: &Docs) {
        match self.kind() {
            None => self.refuse_docs(docs, "with nothing after it"),
            Some(TokenKind::CloseBrace) => {
                self.fail(Place::Here, "`}` closes nothing", "there is no `{` before it");
                self.bump();
            }
            Some(TokenKind::Semicolon) => {
                self.fail(Place::Here, "`;` ends nothing", "can be left out");
                self.bump();
            }
            Some(_) => {
                self.expected("`type`, `names`, `space` or `import`");
                self.skip_statement();
            }
        }
    }

    fn plan(&mut self, docs: &Docs, file: &mut File) -> Parse<Option<Item>> {
        self.plan_seen = true;
        self.refuse_docs(docs, "before `plan`; the plan is documented with `//!`");
        if file.name.is_some() || !file.items.is_empty() {
            let message = if file.name.is_some() {
                "the plan is named twice"
            } else {
                "`plan NAME;` comes before everything but `//!`"
            };
            self.fail(Place::Here, message, "not here");
        }
        self.bump();
        let name = self.name("the name of the plan")?;
        file.name.get_or_insert(name);
        self.finish_statement("after the name of the plan");
        Ok(None)
    }

    fn declaration(&mut self, word: &str, docs: Docs) -> Parse<Option<Item>> {
        let start = self.span();
        self.bump();
        Ok(Some(match word {
            "import" => {
                self.refuse_docs(&docs, "before `import`, which has none");
                let types_only = self.eat_word("types");
                let path = self.text("the path of a plan file, a string")?;
                self.finish_statement("after the path");
                Item::Import(Import { types_only, path, span: self.since(start) })
            }
            "type" => {
                let name = self.name("the name of the type")?;
                self.equals("and a domain after the name of the type");
                let domain = self.domain()?;
                self.finish_statement("after the domain");
                Item::Type(TypeDecl { doc: docs.lines, name, domain, span: self.since(start) })
            }
            "names" => {
                let name = self.name("the name of the set")?;
                self.equals("and a domain after the name of the set");
                let domain = self.domain()?;
                let entries = self.name_entries()?;
                Item::Names(NamesDecl { doc: docs.lines, name, domain, entries, span: self.since(start) })
            }
            _ => {
                let name = self.name("the name of the space")?;
                let what = "the name that the engine knows the space by, a string";
                let physical = self.behind(&TokenKind::Equals, |parser| parser.text(what))?;
                let members = self.members()?;
                Item::Space(SpaceDecl { doc: docs.lines, name, physical, members, span: self.since(start) })
            }
        }))
    }

    /// `{ "known", retired "gone", … }`
    fn name_entries(&mut self) -> Parse<Vec<NameEntry>> {
        let open = self.open_brace("before the names")?;
        let mut entries = Vec::new();
        loop {
            let docs = self.docs();
            match self.kind() {
                Some(TokenKind::CloseBrace) => {
                    self.refuse_docs(&docs, "with no name after it");
                    self.bump();
                    return Ok(entries);
                }
                None => {
                    self.never_closed(open);
                    return Ok(entries);
                }
                Some(_) if self.at_item() => {
                    self.jump(docs.at);
                    self.never_closed(open);
                    return Ok(entries);
                }
                Some(_) => {}
            }
            if self.name_entry(docs, &mut entries).is_err() {
                self.skip_past_comma();
            }
        }
    }

    fn name_entry(&mut self, docs: Docs, entries: &mut Vec<NameEntry>) -> Parse<()> {
        let start = docs.at;
        let retired = self.eat_word("retired");
        let text = self.text("a name in quotes")?;
        entries.push(NameEntry { doc: docs.lines, retired, text });
        if !self.is(&TokenKind::CloseBrace)
            && self.kind().is_some()
            && self.require(&TokenKind::Comma, "between two names").is_err()
            && !matches!(self.kind(), Some(TokenKind::Text(_) | TokenKind::Doc(_)))
            && self.word() != Some("retired")
        {
            return Err(Reported);
        }
        self.mark(MarkKind::Statement(Statement::Entry), start);
        Ok(())
    }

    fn skip_past_comma(&mut self) {
        loop {
            match self.kind() {
                None | Some(TokenKind::CloseBrace) => return,
                Some(TokenKind::Comma) => return self.bump(),
                Some(_) if self.at_item() => return,
                Some(_) => self.skip_tree(),
            }
        }
    }

    /// `{ … }` of a space or a module.
    fn members(&mut self) -> Parse<Vec<Member>> {
        let open = self.open_brace("before what is inside")?;
        let mut members = Vec::new();
        loop {
            let docs = self.docs();
            match self.kind() {
                Some(TokenKind::CloseBrace) => {
                    self.refuse_docs(&docs, "with nothing after it");
                    self.bump();
                    return Ok(members);
                }
                None => {
                    self.never_closed(open);
                    return Ok(members);
                }
                Some(TokenKind::Semicolon) => {
                    self.fail(Place::Here, "`;` ends nothing", "can be left out");
                    self.bump();
                }
                Some(_) if self.at_item() => {
                    if self.brackets.group(open).close.is_none() {
                        self.jump(docs.at);
                        self.never_closed(open);
                        return Ok(members);
                    }
                    self.misplaced_item(docs);
                }
                Some(_) => match self.member(docs) {
                    Ok(member) => members.push(member),
                    Err(Reported) => self.skip_statement(),
                },
            }
        }
    }

    fn member(&mut self, docs: Docs) -> Parse<Member> {
        let Some(word) = self.word() else {
            return Err(self.expected("a family, such as `key NAME = …;`, or `}`"));
        };
        let first = docs.at;
        let word = self.correct(word, &MEMBER_WORDS, "inside a space")?;
        if ITEM_WORDS.contains(&word) {
            let message = format!("`{word}` begins nothing inside a space");
            return Err(self.fail(Place::Here, message, format!("expected {}", listed(&MEMBER_WORDS))));
        }
        let member = match word {
            "module" => {
                let start = self.span();
                self.bump();
                let name = self.name("the name of the module")?;
                self.equals("and a prefix after the name of the module");
                let prefix = self.literals();
                if prefix.is_empty() {
                    self.expected("the literals that the module's keys begin with");
                }
                let members = self.nested(Self::members)?;
                let doc = docs.lines;
                Ok(Member::Module(ModuleDecl { doc, name, prefix, members, span: self.since(start) }))
            }
            "allot" => {
                self.refuse_docs(&docs, "before `allot`, which has its purpose in quotes after it");
                self.allotment().map(Member::Allot)
            }
            "retired" => {
                self.refuse_docs(&docs, "before `retired`, which has its reason in quotes after it");
                self.retirement().map(Member::Retired)
            }
            "drop" => {
                self.refuse_docs(&docs, "before `drop`, which has its reason in quotes after it");
                self.dropping().map(Member::Drop)
            }
            "rule" => {
                self.refuse_docs(&docs, "before `rule`, which has its reason in quotes after it");
                self.rule().map(Member::Rule)
            }
            _ => self.family(word, docs).map(Member::Family),
        }?;
        self.mark(MarkKind::Statement(statement(word)), first);
        Ok(member)
    }

    /// A type or a space inside of a space: said once, and read as if it stood where it belongs.
    fn misplaced_item(&mut self, docs: Docs) {
        let word = self.word().unwrap_or_default();
        let message = format!("`{word}` is inside of a space");
        self.fail(Place::Here, message, "it belongs to the top of the file");
        let done = match word {
            "plan" => Err(Reported),
            _ => self.nested(|parser| parser.declaration(word, docs)),
        };
        match done {
            Ok(item) => self.misplaced.extend(item),
            Err(Reported) => self.skip_statement(),
        }
    }

    /// Goes past `{` and returns its index.
    fn open_brace(&mut self, why: &str) -> Parse<usize> {
        let open = self.at;
        self.require(&TokenKind::OpenBrace, why)?;
        Ok(open)
    }

    /// Reports the braces that are open where the text, or what they may hold, ends: one diagnostic for all.
    fn never_closed(&mut self, open: usize) {
        let span = self.tokens.get(open).map_or(self.end, |token| token.span);
        let known = self.unclosed.and_then(|index| self.sink.kept_mut().get_mut(index));
        if let Some(diagnostic) = known {
            if diagnostic.labels.len() < 4 {
                diagnostic.labels.push(Label { span, text: "nor is this one".to_owned() });
            }
            return;
        }
        if self.too_deep {
            return;
        }
        let mut diagnostic =
            Diagnostic::new(Code::UnexpectedToken, "`{` is never closed", span, "this one has no `}`");
        if self.kind().is_some() {
            diagnostic = diagnostic.with_label(self.span(), "this cannot be inside of it");
        }
        let index = self.sink.len();
        self.report_here(diagnostic);
        self.unclosed = (self.sink.len() > index).then_some(index);
    }

    /// Whether something begins here that is only at the top of a file.
    pub(super) fn at_item(&self) -> bool {
        match (self.word(), self.nth(1), self.nth(2)) {
            (Some("import"), Some(TokenKind::Text(_)), _)
            | (Some("import"), Some(TokenKind::Ident(_)), Some(TokenKind::Text(_)))
            | (Some("type" | "names"), Some(TokenKind::Ident(_)), Some(TokenKind::Equals))
            | (Some("plan"), Some(TokenKind::Ident(_)), Some(TokenKind::Semicolon)) => true,
            (Some("space"), Some(TokenKind::Ident(_)), next) => {
                matches!(next, Some(TokenKind::OpenBrace | TokenKind::Equals))
            }
            _ => false,
        }
    }

    /// Whether a family, a module or another member of a space begins here.
    pub(super) fn at_member(&self) -> bool {
        match (self.word(), self.nth(1), self.nth(2)) {
            (Some("allot"), Some(TokenKind::Int(_) | TokenKind::Hex(_)), _)
            | (
                Some("rule"),
                Some(TokenKind::Ident(_)),
                Some(TokenKind::Int(_) | TokenKind::Text(_) | TokenKind::Ident(_)),
            )
            | (Some("retired"), Some(TokenKind::Hex(_)), _)
            | (Some("drop"), Some(TokenKind::Ident(_)), Some(TokenKind::Dot | TokenKind::Text(_))) => true,
            (Some("key" | "hash" | "zset" | "set" | "queue" | "module"), Some(TokenKind::Ident(_)), next) => {
                matches!(next, Some(TokenKind::Equals))
            }
            _ => false,
        }
    }

    /// The word that `word` is or was meant to be; reports a word that is neither.
    fn correct(&mut self, word: &str, known: &[&'static str], place: &str) -> Parse<&'static str> {
        let exact = ITEM_WORDS.iter().chain(&MEMBER_WORDS).find(|known| **known == word);
        if let Some(exact) = exact {
            return Ok(exact);
        }
        let shown = shortened(word);
        let message = format!("`{shown}` begins nothing {place}");
        let Some(meant) = nearest(word, known.iter().copied()) else {
            let label = format!("expected {}", listed(known));
            return Err(self.fail(Place::Here, message, label));
        };
        let diagnostic =
            Diagnostic::new(Code::UnexpectedToken, message, self.span(), format!("did you mean `{meant}`?"));
        self.report_here(diagnostic);
        Ok(meant)
    }

    /// Goes past `=`; without one the text after is read as if it stood there.
    pub(super) fn equals(&mut self, why: &str) {
        // The rule that reads on reports nothing more about this token.
        let _ = self.require(&TokenKind::Equals, why);
    }

    /// Goes past the `;` of a statement, or reports that it is missing and goes to where the next one begins.
    pub(super) fn finish_statement(&mut self, why: &str) {
        if self.require(&TokenKind::Semicolon, why).is_err() && !self.at_boundary() {
            self.skip_statement();
        }
    }

    /// Whether the statement before must have ended here.
    pub(super) fn at_boundary(&self) -> bool {
        match self.kind() {
            None | Some(TokenKind::CloseBrace | TokenKind::Doc(_)) => true,
            Some(_) => self.at_item() || self.at_member(),
        }
    }

    /// Goes past the rest of a statement that could not be read: after its `;` or `{ … }`, or to what cannot be
    /// part of it.
    fn skip_statement(&mut self) {
        let start = self.at;
        loop {
            match self.kind() {
                None | Some(TokenKind::CloseBrace) => return,
                Some(TokenKind::Semicolon) => return self.bump(),
                Some(TokenKind::OpenBrace) => return self.skip_tree(),
                Some(TokenKind::Doc(_)) if self.at > start => return,
                Some(_) if self.at > start && (self.at_item() || self.at_member()) => return,
                Some(_) => self.skip_tree(),
            }
        }
    }
}

/// What a statement is that begins with this word.
fn statement(word: &str) -> Statement {
    match word {
        "plan" => Statement::Plan,
        "import" => Statement::Import,
        "type" => Statement::Type,
        "names" | "space" | "module" => Statement::Block,
        "allot" | "retired" | "drop" | "rule" => Statement::Number,
        _ => Statement::Family,
    }
}

/// "`a`, `b` or `c`"
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

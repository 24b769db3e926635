//! Rust: what the macro `keyplan::plan!` makes of a plan.
//!
//! [`expand`] gives what `keyplan::plan!` emits for a plan that was read; [`format()`] prints it for people. The same plan
//! gives the same code on every machine.
//!
//! The code names `::keyplan` for everything that it does not make itself: bytes come from `keyplan::codec`, the traits
//! and errors from `keyplan::typed`. It needs neither `std` nor an allocator.

mod any_key;
mod choice;
mod code;
mod composite;
mod digest;
mod docs;
mod family;
mod guard;
mod leaf;
mod names;
mod row;
mod scan;
mod shape;
mod space;
mod structure;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use keyplan_plan::Compiled;
use keyplan_plan::diag::{Code, Diagnostic, SourceMap, Span};
use keyplan_plan::model::{Family, FamilyKind, Plan, Space};
use keyplan_prover::Report;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::prove::prove;

/// Turns a plan into the Rust module that stands for it, or says why there is none. The plan is proved once, here.
pub fn expand(compiled: &Compiled) -> Result<TokenStream, Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = compiled.errors().cloned().collect();
    let Some(plan) = compiled.plan.as_ref().filter(|_| errors.is_empty()) else { return Err(errors) };
    let path = compiled.sources.files().first().map_or("", |file| file.name.as_str());
    let report = prove(plan, path)?;
    let mut expander = Expander::new(plan, &compiled.sources, &report);
    let module = expander.plan();
    if expander.problems.is_empty() { Ok(module) } else { Err(expander.problems) }
}

/// Prints generated code as a person would lay it out.
#[must_use]
pub fn format(code: &TokenStream) -> String {
    match syn::parse2::<syn::File>(code.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(_) => code.to_string(),
    }
}

/// What is known while a plan is turned into code.
struct Expander<'p> {
    plan: &'p Plan,
    sources: &'p SourceMap,
    /// What is proved of it.
    report: &'p Report,
    /// Modules being filled, the plan's own first.
    scopes: Vec<Scope>,
    /// Types of the plan that have a Rust type of their own, by name.
    named: BTreeMap<String, composite::Composite>,
    /// Types that were made for one argument each.
    unnamed: Vec<composite::Unnamed>,
    /// Whether what is made is the copy of an argument, whose types it takes.
    copying: bool,
    /// The types of families' keys, by path.
    families: BTreeMap<String, composite::Composite>,
    /// What the plan's module lists for tests.
    table: table::Table,
    problems: Vec<Diagnostic>,
}

/// A module being filled.
#[derive(Default)]
struct Scope {
    /// How many modules lie around it, that of the plan being 0.
    depth: usize,
    /// The types in it.
    taken: BTreeSet<String>,
    items: Vec<TokenStream>,
}

impl<'p> Expander<'p> {
    fn new(plan: &'p Plan, sources: &'p SourceMap, report: &'p Report) -> Self {
        let mut root = Scope::default();
        // Named types come first, whenever they turn out to be needed.
        root.taken.extend(plan.types.iter().map(|ty| ty.name.clone()));
        root.taken.extend(plan.names.iter().map(|set| set.name.clone()));
        Self {
            plan,
            sources,
            report,
            scopes: vec![root],
            named: BTreeMap::new(),
            unnamed: Vec::new(),
            copying: false,
            families: BTreeMap::new(),
            table: table::Table::default(),
            problems: Vec::new(),
        }
    }

    fn plan(&mut self) -> TokenStream {
        let spaces: Vec<TokenStream> = self.plan.spaces.iter().map(|space| self.space(space)).collect();
        let sets = self.name_sets();
        let table = self.table.emitted();
        let types = self.scopes.pop().map(|scope| scope.items).unwrap_or_default();
        let name = names::module(&self.plan.name);
        let doc = docs::lines(&docs::text(&self.plan.doc, &format!("The plan `{}`.", self.plan.name)));
        let text = &self.plan.name;
        let fingerprint = self.plan.fingerprint().bytes();
        let files = self.sources.files().iter().map(|file| {
            let (name, text) = (&file.name, &file.text);
            quote!((#name, #text))
        });
        let held = self.plan.spaces.iter().map(space_text);
        // What is made for a retired key names its type, which is deprecated.
        let retires = self.plan.families().any(|(_, family)| family.retired.is_some());
        let allowed =
            retires.then(|| quote!(#[allow(deprecated, reason = "retired keys can still be read")]));
        quote! {
            #doc
            #allowed
            pub mod #name {
                /// The plan that this module was made from.
                pub const PLAN: ::keyplan::typed::PlanText = ::keyplan::typed::PlanText::new(
                    #text,
                    &[#(#files),*],
                    [#(#fingerprint),*],
                    &[#(#held),*],
                );
                #(#sets)*
                #(#types)*
                #(#spaces)*
                #table
            }
        }
    }

    /// Runs `fill` on a new module inside of the current one and returns what it holds.
    fn inside(&mut self, taken: BTreeSet<String>, fill: impl FnOnce(&mut Self, usize)) -> Vec<TokenStream> {
        let depth = self.scopes.last().map_or(0, |scope| scope.depth + 1);
        self.scopes.push(Scope { depth, taken, items: Vec::new() });
        let at = self.scopes.len() - 1;
        fill(self, at);
        self.scopes.pop().map(|scope| scope.items).unwrap_or_default()
    }

    /// A name that no type of the module has yet.
    fn fresh(&mut self, at: usize, wanted: &str) -> String {
        let Some(scope) = self.scopes.get_mut(at) else { return wanted.to_owned() };
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !scope.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    fn emit(&mut self, at: usize, item: TokenStream) {
        if let Some(scope) = self.scopes.get_mut(at) {
            scope.items.push(item);
        }
    }

    fn depth(&self, at: usize) -> usize {
        self.scopes.get(at).map_or(0, |scope| scope.depth)
    }

    /// Reports a layout that has no Rust type.
    fn unsupported<T>(&mut self, span: Span, why: &str, help: &str) -> Option<T> {
        self.problems.push(
            Diagnostic::new(
                Code::TooLarge,
                format!("there is no Rust type for this layout: {why}"),
                span,
                "this",
            )
            .with_help(help),
        );
        None
    }
}

/// What a store needs to know of a space.
fn space_text(space: &Space) -> TokenStream {
    let name = space.engine_name();
    let (rows, structures): (Vec<&Family>, Vec<&Family>) =
        space.families.iter().partition(|family| family.kind == FamilyKind::Key);
    let rows = rows.into_iter().map(|family| {
        let (path, prefix) = (&family.path, Literal::byte_string(&family.key.literal_prefix()));
        quote!((#path, #prefix))
    });
    let structures = structures.into_iter().map(|family| &family.path);
    quote!(::keyplan::typed::SpaceText::new(#name, &[#(#rows),*], &[#(#structures),*]))
}

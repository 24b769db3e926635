//! Segments in a row: the statements that encode and decode them.

use keyplan_codec::{Alphabet, Case};
use keyplan_plan::model::{
    BytesEncoding, Derivation, Derived, Extent, Framing, IntEncoding, Same, Scan, Segment, Sequence, Shape,
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::rust::Expander;
use crate::rust::code::{Code, Order};
use crate::rust::leaf::{self, IN_PLACE};
use crate::rust::names;

/// A sequence with the code of its arguments.
pub(crate) struct Row<'s> {
    pub(crate) sequence: &'s Sequence,
    /// The code of each segment that is an argument, a copy of one or derived.
    codes: Vec<Option<Code>>,
}

/// What a search looks for.
#[derive(Clone, Copy)]
enum Search {
    /// The first reading.
    First,
    /// A reading that is not the one it started from.
    Other,
    /// One reading after the other.
    Nth,
}

impl Expander<'_> {
    /// The code of a sequence. Types that its arguments need are called after `hint`.
    pub(crate) fn row<'s>(
        &mut self,
        at: usize,
        hint: &str,
        sequence: &'s Sequence,
        owned: bool,
    ) -> Option<Row<'s>> {
        let mut codes = Vec::new();
        for segment in sequence.segments() {
            let label = segment.label();
            codes.push(match segment {
                Segment::Literal(_) => None,
                Segment::Argument(argument) => {
                    let name = argument.name.as_deref().map(names::pascal).unwrap_or_default();
                    Some(self.shape(
                        at,
                        &format!("{hint}{name}"),
                        label,
                        &argument.shape,
                        owned,
                        argument.span,
                    )?)
                }
                Segment::Same(same) => {
                    let original =
                        codes.get(same.of).and_then(Option::as_ref).zip(sequence.segments().get(same.of));
                    Some(self.copy(at, hint, same, original, owned)?)
                }
                Segment::Derived(derived) => {
                    if derived.of.len() > 1 && matches!(derived.function, Derivation::Xxh3 | Derivation::Twox)
                    {
                        return self.unsupported(
                            derived.span,
                            "a hash over several arguments would need a copy of them",
                            "hash one argument, or use crc16 or crc32",
                        );
                    }
                    Some(leaf::int(&derived.shape, label))
                }
            });
        }
        Some(Row { sequence, codes })
    }

    /// The code of an argument that is written a second time. It is compared with the first one, so their types are alike.
    fn copy(
        &mut self,
        at: usize,
        hint: &str,
        same: &Same,
        original: Option<(&Code, &Segment)>,
        owned: bool,
    ) -> Option<Code> {
        let Some((code, Segment::Argument(argument))) = original else { return None };
        if argument.shape == same.shape {
            return Some(code.clone());
        }
        let hint = format!("{hint}{}Copy", names::pascal(&same.name));
        let outer = std::mem::replace(&mut self.copying, true);
        let copy = self.shape(at, &hint, &same.name, &same.shape, owned, same.span);
        self.copying = outer;
        let copy = copy?;
        if !same.shape.values().is_leaf() && copy.ty.to_string() != code.ty.to_string() {
            return self.unsupported(
                same.span,
                "a copy of several arguments in another encoding is of another type",
                "write the copy in the encoding of the original",
            );
        }
        Some(copy)
    }
}

/// The variable that holds the argument at `index`.
pub(crate) fn arg(index: usize) -> Ident {
    format_ident!("arg_{index}")
}

impl<'s> Row<'s> {
    /// The row of a scan's prefix: of a scan that binds a derived part, with that part as an argument.
    pub(crate) fn scanned(&self, scan: &'s Scan) -> Self {
        let mut codes = self.codes.clone();
        let Some(part) = &scan.part else { return Self { sequence: self.sequence, codes } };
        if let Some(slot) = codes.get_mut(part.segment)
            && let Some(Segment::Argument(argument)) = part.prefix.segments().get(part.segment)
            && let Shape::Int(int) = &argument.shape
        {
            *slot = Some(leaf::int(int, argument.name.as_deref().unwrap_or_default()));
        }
        codes.truncate(scan.segments);
        Self { sequence: &part.prefix, codes }
    }
}

impl Row<'_> {
    /// The arguments with their code, in order.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (usize, &keyplan_plan::model::Argument, &Code)> {
        self.sequence
            .segments()
            .iter()
            .zip(&self.codes)
            .filter_map(|(segment, code)| match (segment, code) {
                (Segment::Argument(argument), Some(code)) => Some((argument, code)),
                _ => None,
            })
            .enumerate()
            .map(|(index, (argument, code))| (index, argument, code))
    }

    /// Whether a type of these arguments borrows.
    pub(crate) fn borrows(&self) -> bool {
        self.arguments().any(|(_, _, code)| code.borrows)
    }

    /// Whether a type of these arguments is `Eq` and `Hash`.
    pub(crate) fn eq(&self) -> bool {
        self.arguments().all(|(_, _, code)| code.eq)
    }

    /// Whether two lists of arguments may have the same bytes because of what an encoding loses.
    pub(crate) fn lossy(&self) -> bool {
        self.arguments().any(|(_, _, code)| code.lossy)
    }

    /// Where the order of the arguments, first to last, is that of the bytes.
    pub(crate) fn order(&self) -> Order {
        if !self.sequence.is_plain() {
            return Order::Unknown;
        }
        let orders: Vec<Order> = self.arguments().map(|(_, _, code)| code.order).collect();
        let Some((last, before)) = orders.split_last() else { return Order::Anywhere };
        if !before.iter().all(|order| *order == Order::Anywhere) {
            return Order::Unknown;
        }
        let ends = matches!(self.sequence.segments().last(), Some(Segment::Argument(_)));
        if *last == Order::Last && !ends { Order::Unknown } else { *last }
    }

    fn argument_of(&self, segment: usize) -> Ident {
        arg(self.sequence.arguments_before(segment))
    }

    fn code(&self, segment: usize) -> Option<&Code> {
        self.codes.get(segment).and_then(Option::as_ref)
    }

    /// The literals from `segment` on, joined, and how many there are.
    fn literals(&self, segment: usize) -> (Vec<u8>, usize) {
        let run: Vec<&[u8]> = self
            .sequence
            .segments()
            .iter()
            .skip(segment)
            .map_while(|segment| match segment {
                Segment::Literal(literal) => Some(literal.bytes.as_slice()),
                _ => None,
            })
            .collect();
        (run.concat(), run.len())
    }

    /// Appends the first `count` segments to `out`; the arguments are references. With `marks`, the length after
    /// each argument is kept there.
    pub(crate) fn put(&self, count: usize, marks: bool) -> TokenStream {
        let mut statements = Vec::new();
        let mut segment = 0;
        while segment < count {
            let (bytes, run) = self.literals(segment);
            if run > 0 {
                let bytes = Literal::byte_string(&bytes);
                statements.push(quote!(::keyplan::codec::Sink::put(out, #bytes)?;));
                segment += run;
                continue;
            }
            statements.extend(self.put_segment(segment));
            if marks && matches!(self.sequence.segments().get(segment), Some(Segment::Argument(_))) {
                let index = Literal::usize_unsuffixed(self.sequence.arguments_before(segment));
                statements.push(quote!(ends[#index] = ::keyplan::codec::Sink::len(out) - start;));
            }
            segment += 1;
        }
        quote!(#(#statements)*)
    }

    fn put_segment(&self, segment: usize) -> Option<TokenStream> {
        let code = self.code(segment)?;
        let put = &code.put;
        Some(match self.sequence.segments().get(segment)? {
            Segment::Literal(_) => return None,
            Segment::Argument(_) => {
                let value = self.argument_of(segment);
                quote!({ let value = #value; #put?; })
            }
            Segment::Same(same) => {
                let value = self.argument_of(same.of);
                quote!({ let value = #value; #put?; })
            }
            Segment::Derived(derived) => {
                let pieces = derived.of.iter().filter_map(|&of| {
                    let (value, code) = (self.argument_of(of), self.code(of)?);
                    let put = &code.put;
                    Some(quote!({ let value = #value; #put?; }))
                });
                let (ty, label) = (&code.ty, &derived.name);
                let computed = if let Some(most) = self.joined(derived) {
                    // Apart from `out`, which may have room for the key and no more.
                    let computed = derive(derived, &quote!(joined.as_slice()), None);
                    quote! {
                        let mut joined = ::keyplan::typed::ShortBytes::<#most>::new();
                        {
                            let out = &mut joined;
                            #(#pieces)*
                        }
                        let computed: u128 = #computed;
                    }
                } else {
                    let joined = quote!(&*::keyplan::codec::Sink::tail_mut(out, start));
                    let computed = derive(derived, &joined, None);
                    quote! {
                        let start = ::keyplan::codec::Sink::len(out);
                        #(#pieces)*
                        let computed: u128 = #computed;
                        ::keyplan::codec::Sink::truncate(out, start);
                    }
                };
                quote!({
                    #computed
                    let value: #ty = ::keyplan::typed::narrowed(computed).map_err(|error| {
                        ::keyplan::typed::SegmentError::argument(#label, error)
                    })?;
                    let value = &value;
                    #put?;
                })
            }
        })
    }

    /// The most bytes that the arguments of a derived part have together, if they can be held in place.
    fn joined(&self, derived: &Derived) -> Option<usize> {
        let widths = self.sequence.widths();
        let mut most = derived.of.iter().map(|&of| widths.get(of).and_then(|width| width.max));
        most.try_fold(0usize, |all, width| all.checked_add(width?)).filter(|most| *most <= IN_PLACE)
    }

    /// An expression of the bytes as an array, where nothing can be refused.
    pub(crate) fn array(&self) -> Option<TokenStream> {
        let Extent::Fixed(width) = self.sequence.extent() else { return None };
        let statements = self.slots(self.sequence.segments().len(), &quote!(slots.put))?;
        Some(quote!({
            let mut array = [0u8; #width];
            let mut slots = ::keyplan::typed::Slots::new(&mut array);
            #statements
            array
        }))
    }

    /// Statements that hand the first `count` segments to `put`, where nothing can be refused.
    pub(crate) fn slots(&self, count: usize, put: &TokenStream) -> Option<TokenStream> {
        let mut statements = Vec::new();
        let mut segment = 0;
        while segment < count {
            let (bytes, run) = self.literals(segment);
            if run > 0 {
                let bytes = Literal::byte_string(&bytes);
                statements.push(quote!(#put(#bytes);));
                segment += run;
                continue;
            }
            let value = match self.sequence.segments().get(segment)? {
                Segment::Argument(_) => self.argument_of(segment),
                Segment::Same(same) => self.argument_of(same.of),
                _ => return None,
            };
            let array = self.code(segment)?.array.as_ref()?;
            statements.push(quote!({ let value = #value; #put(&#array); }));
            segment += 1;
        }
        Some(quote!(#(#statements)*))
    }

    /// Whether every segment has one end, which is found without trying.
    pub(crate) fn is_direct(&self) -> bool {
        self.sequence.is_plain() && (0..self.sequence.segments().len()).all(|segment| !self.branches(segment))
    }

    fn branches(&self, segment: usize) -> bool {
        self.sequence.extents().get(segment) == Some(&Extent::Open) && self.end(segment) == End::Tried
    }

    /// How the end of an open segment is found.
    fn end(&self, segment: usize) -> End {
        let segments = self.sequence.segments();
        if segment + 1 == segments.len() {
            return End::Last;
        }
        let shape = match segments.get(segment) {
            Some(Segment::Argument(argument)) => &argument.shape,
            Some(Segment::Same(same)) => &same.shape,
            _ => return End::Tried,
        };
        if let Some(Segment::Literal(literal)) = segments.get(segment + 1)
            && let Some(&first) = literal.bytes.first()
            && !alphabet(shape).contains(first)
        {
            return End::Separator(first);
        }
        let tail = self.sequence.tail(segment + 1);
        if tail.max == Some(tail.min) { End::Behind(tail.min) } else { End::Tried }
    }

    /// The statements that decode `bytes` as fast as it goes, and `finish` with the arguments: an expression of an
    /// `Option`. Only for a row that [is direct](Row::is_direct).
    pub(crate) fn read(&self, finish: &TokenStream) -> TokenStream {
        let mut statements = vec![quote!(let base = 0usize;)];
        statements.push(if let Extent::Fixed(width) = self.sequence.extent() {
            quote! {
                let bytes: &'k [u8; #width] = ::core::convert::TryInto::try_into(bytes).ok()?;
                let rest: &'k [u8] = bytes;
            }
        } else {
            quote!(let rest = bytes;)
        });
        let mut segment = 0;
        while segment < self.sequence.segments().len() {
            let (bytes, run) = self.literals(segment);
            if run > 0 {
                let bytes = Literal::byte_string(&bytes);
                statements.push(quote!(let rest = rest.strip_prefix(#bytes)?;));
                segment += run;
                continue;
            }
            let width = match (self.sequence.extents().get(segment), self.end(segment)) {
                (Some(Extent::Fixed(width)), _) => quote!(#width),
                (Some(Extent::Delimited), _) => {
                    let extent = self.code(segment).and_then(|code| code.extent.clone());
                    quote!((#extent).ok()?)
                }
                (_, End::Separator(byte)) => quote!(rest.iter().position(|byte| *byte == #byte)?),
                (_, End::Behind(tail)) => quote!(rest.len().checked_sub(#tail)?),
                (_, End::Last | End::Tried) => quote!(rest.len()),
            };
            let (value, read) = (self.argument_of(segment), self.code(segment).map(|code| &code.read));
            statements.push(quote! {
                let (piece, rest) = rest.split_at_checked(#width)?;
                let #value = #read?;
            });
            segment += 1;
        }
        quote! {
            #(#statements)*
            if !rest.is_empty() {
                return ::core::option::Option::None;
            }
            ::core::option::Option::Some(#finish)
        }
    }

    /// The statements that decode `bytes` at `base` and `finish` with the arguments: an expression of a `Result`. The
    /// first reading is the one that the dynamic path finds first.
    pub(crate) fn search(&self, finish: &TokenStream) -> TokenStream {
        let done = quote!(::core::result::Result::Ok(#finish));
        let steps = self.steps(Search::First);
        let body = self.search_from(0, Search::First, &quote!(Self), &done);
        quote!(#steps let at = 0usize; #body)
    }

    /// The same for a reading whose arguments do not end at `ends`: the row that it started from. `result` is the type
    /// that is found.
    pub(crate) fn search_other(&self, result: &TokenStream, finish: &TokenStream) -> TokenStream {
        let same = self.arguments().map(|(index, ..)| {
            let (end, index) = (format_ident!("end_{index}"), Literal::usize_unsuffixed(index));
            quote!(#end == ends[#index])
        });
        let done = quote!(if true #(&& #same)* && ::keyplan::typed::passes_over(&left) {
            ::core::result::Result::Err(::keyplan::typed::SegmentError::passed_over())
        } else {
            ::core::result::Result::Ok(#finish)
        });
        let steps = self.steps(Search::Other);
        let body = self.search_from(0, Search::Other, result, &done);
        quote!(#steps let at = 0usize; #body)
    }

    /// The same for the reading that comes after as many as are `left`.
    pub(crate) fn search_nth(&self, finish: &TokenStream) -> TokenStream {
        let done = quote!(if ::keyplan::typed::passes_over(&left) {
            ::core::result::Result::Err(::keyplan::typed::SegmentError::passed_over())
        } else {
            ::core::result::Result::Ok(#finish)
        });
        let steps = self.steps(Search::Nth);
        let body = self.search_from(0, Search::Nth, &quote!(Self), &done);
        quote!(#steps let at = 0usize; #body)
    }

    /// Whether there may be a second reading: some end is tried, or an argument may be read in several ways.
    pub(crate) fn may_be_ambiguous(&self) -> bool {
        self.steps(Search::Other).is_some()
    }

    fn steps(&self, search: Search) -> Option<TokenStream> {
        let segments = 0..self.sequence.segments().len();
        let tries = segments.clone().any(|segment| self.branches(segment))
            || matches!(search, Search::Other | Search::Nth)
                && segments
                    .clone()
                    .any(|segment| self.code(segment).is_some_and(|code| code.readings.is_some()));
        tries.then(|| quote!(let steps = ::keyplan::typed::Steps::default();))
    }

    fn search_from(
        &self,
        segment: usize,
        search: Search,
        result: &TokenStream,
        done: &TokenStream,
    ) -> TokenStream {
        let segments = self.sequence.segments();
        let Some(current) = segments.get(segment) else {
            return self.finish(done);
        };
        let label = current.label();
        let behind = || self.search_from(segment + 1, search, result, done);
        let start = (!self.sequence.is_plain()).then(|| {
            let start = format_ident!("start_{segment}");
            quote!(let #start = at;)
        });
        if let Segment::Literal(literal) = current {
            let bytes = Literal::byte_string(&literal.bytes);
            let behind = behind();
            return quote! {
                #start
                let at = ::keyplan::typed::literal(bytes, at, base, #bytes, #label)?;
                #behind
            };
        }
        let Some(code) = self.code(segment) else { return behind() };
        let rest = quote!(let rest = ::keyplan::typed::rest(bytes, at););
        let longest = &code.longest;
        let end = match (self.sequence.extents().get(segment), self.end(segment)) {
            (Some(Extent::Fixed(width)), _) => {
                quote!(::keyplan::typed::fixed(bytes, at, base, #width, #label)?)
            }
            (Some(Extent::Delimited), _) => {
                let extent = &code.extent;
                quote!({
                    #rest
                    at + (#extent).map_err(|error| {
                        ::keyplan::typed::SegmentError::bytes(#label, base + at, error)
                    })?
                })
            }
            (_, End::Last) => quote!(bytes.len()),
            (_, End::Separator(_) | End::Behind(_)) => {
                let open = self.open(segment);
                quote!({ #rest #open.end(bytes, at, base, #longest)? })
            }
            (_, End::Tried) => {
                let taken = self.take(segment, search, result, behind());
                let open = self.open(segment);
                return quote! {
                    #start
                    let mut furthest = ::keyplan::typed::Furthest::default();
                    let open = #open;
                    let longest = { #rest #longest };
                    for end in open.ends(bytes, at, longest, &steps) {
                        match (|| -> ::core::result::Result<#result, ::keyplan::typed::SegmentError> { #taken })() {
                            ::core::result::Result::Ok(found) => return ::core::result::Result::Ok(found),
                            ::core::result::Result::Err(error) => furthest.keep(error),
                        }
                    }
                    ::core::result::Result::Err(
                        furthest.or(&steps, || open.no_end(bytes, at, base, longest)),
                    )
                };
            }
        };
        let taken = self.take(segment, search, result, behind());
        quote!(#start let end = #end; #taken)
    }

    /// Decodes the segment from `at` to `end` and goes on after it.
    fn take(&self, segment: usize, search: Search, result: &TokenStream, behind: TokenStream) -> TokenStream {
        let Some(code) = self.code(segment) else { return behind };
        let (decode, label) =
            (&code.decode, self.sequence.segments().get(segment).map_or("", Segment::label));
        let piece = quote! {
            let piece = ::keyplan::typed::piece(bytes, at, end);
            let base = base + at;
        };
        match self.sequence.segments().get(segment) {
            Some(Segment::Argument(_)) => {
                let index = self.sequence.arguments_before(segment);
                let (value, mark) = (arg(index), format_ident!("end_{index}"));
                let mark = matches!(search, Search::Other).then(|| quote!(let #mark = end;));
                let (Search::Other | Search::Nth, Some(readings)) = (search, &code.readings) else {
                    return quote!(let #value = { #piece #decode? }; #mark let at = end; #behind);
                };
                quote! {
                    #mark
                    let mut furthest = ::keyplan::typed::Furthest::default();
                    for reading in 0usize.. {
                        let #value = match { #piece #readings } {
                            ::core::result::Result::Ok(value) => value,
                            ::core::result::Result::Err(error) => {
                                furthest.keep(error);
                                break;
                            }
                        };
                        match (|| -> ::core::result::Result<#result, ::keyplan::typed::SegmentError> {
                            let at = end;
                            #behind
                        })() {
                            ::core::result::Result::Ok(found) => return ::core::result::Result::Ok(found),
                            ::core::result::Result::Err(error) => furthest.keep(error),
                        }
                    }
                    ::core::result::Result::Err(
                        furthest.or(&steps, ::keyplan::typed::SegmentError::passed_over),
                    )
                }
            }
            Some(Segment::Same(same)) => {
                let original = self.argument_of(same.of);
                if let (Search::Other | Search::Nth, Some(readings)) = (search, &code.readings) {
                    // One of its readings is the original, or it is no copy.
                    return quote! {
                        {
                            #piece
                            let mut reading = 0usize;
                            while #readings? != #original {
                                reading += 1;
                            }
                        }
                        let at = end;
                        #behind
                    };
                }
                quote! {
                    if { #piece #decode? } != #original {
                        return ::core::result::Result::Err(::keyplan::typed::SegmentError::differs(#label, base + at));
                    }
                    let at = end;
                    #behind
                }
            }
            _ => {
                let value = format_ident!("derived_{segment}");
                quote!(let #value = { #piece #decode? }; let at = end; #behind)
            }
        }
    }

    /// All segments are read: nothing may be left, and what was derived must be right.
    fn finish(&self, done: &TokenStream) -> TokenStream {
        let segments = self.sequence.segments();
        let last = segments.last().map_or("", Segment::label);
        let piece = |segment: usize| {
            let start = format_ident!("start_{segment}");
            let end = if segment + 1 == segments.len() {
                quote!(bytes.len())
            } else {
                let next = format_ident!("start_{}", segment + 1);
                quote!(#next)
            };
            quote!(::keyplan::typed::piece(bytes, #start, #end))
        };
        let checks = segments.iter().enumerate().filter_map(|(segment, current)| {
            let Segment::Derived(derived) = current else { return None };
            let pieces: Vec<TokenStream> = derived.of.iter().map(|&of| piece(of)).collect();
            let first = pieces.first().cloned().unwrap_or_else(|| quote!(&[]));
            let computed = derive(derived, &first, Some(&pieces));
            let (value, start) = (format_ident!("derived_{segment}"), format_ident!("start_{segment}"));
            let label = &derived.name;
            Some(quote! {
                if u128::from(#value) != #computed {
                    return ::core::result::Result::Err(
                        ::keyplan::typed::SegmentError::mismatch(#label, base + #start),
                    );
                }
            })
        });
        quote! {
            ::keyplan::typed::finish(bytes, at, base, #last)?;
            #(#checks)*
            #done
        }
    }

    fn open(&self, segment: usize) -> TokenStream {
        let label = self.sequence.segments().get(segment).map_or("", Segment::label);
        let width = self.sequence.widths().get(segment).copied().unwrap_or_default();
        let after = self.sequence.tail(segment + 1);
        let next = match self.sequence.segments().get(segment + 1) {
            Some(Segment::Literal(literal)) => literal.bytes.as_slice(),
            _ => &[],
        };
        let next = Literal::byte_string(next);
        let max = |max: Option<usize>| max.map_or(quote!(usize::MAX), |max| quote!(#max));
        let (min, most) = (width.min, max(width.max));
        let (after_min, after_max) = (after.min, max(after.max));
        quote!(::keyplan::typed::Open {
            label: #label,
            min: #min,
            max: #most,
            after_min: #after_min,
            after_max: #after_max,
            next: #next,
        })
    }

    /// How many bytes at the front of `rest` the row takes, where its bytes tell: a `Result<usize, DecodeError>`.
    pub(crate) fn extent(&self) -> Option<TokenStream> {
        if self.sequence.extent() != Extent::Delimited {
            return None;
        }
        let mut statements = Vec::new();
        for (segment, extent) in self.sequence.extents().iter().enumerate() {
            statements.push(if let Extent::Fixed(width) = extent {
                quote!(at += #width;)
            } else {
                let extent = self.code(segment)?.extent.as_ref()?;
                quote! {
                    at += {
                        let rest = ::keyplan::typed::rest(rest, at);
                        (#extent).map_err(|error| error.behind(at))?
                    };
                }
            });
            statements.push(quote! {
                if at > rest.len() {
                    return ::core::result::Result::Err(::keyplan::typed::too_short(rest.len(), at));
                }
            });
        }
        Some(quote! {
            let mut at = 0usize;
            #(#statements)*
            ::core::result::Result::Ok(at)
        })
    }
}

/// How the end of an open segment is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is the last.
    Last,
    /// Before the first such byte, which it cannot contain.
    Separator(u8),
    /// So many bytes before the end.
    Behind(usize),
    /// By trying.
    Tried,
}

/// The value of a derived part as a `u128`, from the bytes `joined`, or from `pieces` of them.
fn derive(derived: &Derived, joined: &TokenStream, pieces: Option<&[TokenStream]>) -> TokenStream {
    let several = if let Some(pieces) = pieces { quote!(&[#(#pieces),*]) } else { quote!(&[#joined]) };
    let value = match derived.function {
        Derivation::Crc16 => quote!(u128::from(::keyplan::codec::Crc16::of(#several))),
        Derivation::Crc32 => quote!(u128::from(::keyplan::codec::Crc32::of(#several))),
        Derivation::Xxh3 => quote!(::keyplan::typed::hashed_number(::keyplan::codec::Hash::Xxh3_64, #joined)),
        Derivation::Twox => quote!(::keyplan::typed::hashed_number(::keyplan::codec::Hash::Twox64, #joined)),
    };
    match derived.modulus {
        Some(modulus) => {
            let modulus = Literal::u128_unsuffixed(modulus);
            quote!((#value % #modulus))
        }
        None => value,
    }
}

/// The bytes that may be in the encoding of a shape.
fn alphabet(shape: &Shape) -> Alphabet {
    let union = |a: Alphabet, b: Alphabet| {
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.bits(), b.bits());
        Alphabet::from_bits([a0 | b0, a1 | b1, a2 | b2, a3 | b3])
    };
    let of_row = |sequence: &Sequence| {
        sequence.segments().iter().fold(Alphabet::EMPTY, |all, segment| match segment {
            Segment::Literal(literal) => literal.bytes.iter().fold(all, |all, byte| all.with(*byte)),
            Segment::Argument(argument) => union(all, alphabet(&argument.shape)),
            Segment::Same(same) => union(all, alphabet(&same.shape)),
            Segment::Derived(_) => Alphabet::UTF8,
        })
    };
    let digits = Alphabet::EMPTY.with_range(b'0', b'9');
    let hex = |case: Case| match case {
        Case::Lower => digits.with_range(b'a', b'f'),
        Case::Upper => digits.with_range(b'A', b'F'),
    };
    match shape {
        Shape::Int(int) => match int.encoding {
            IntEncoding::Dec if int.ty.signed => digits.with(b'-'),
            IntEncoding::Dec | IntEncoding::DecPadded(_) => digits,
            IntEncoding::Hex(case) | IntEncoding::HexPadded(case, _) => hex(case),
            _ => Alphabet::UTF8,
        },
        Shape::Bytes { encoding: BytesEncoding::Hex(case), .. } => hex(*case),
        Shape::Bytes { encoding: BytesEncoding::Class(class), .. } => *class,
        Shape::Bytes { encoding: BytesEncoding::Bech32(hrp), .. } => {
            hrp.bytes().fold(digits.with_range(b'a', b'z'), Alphabet::with)
        }
        Shape::Bytes { encoding: BytesEncoding::Base58 { .. }, .. } => {
            digits.with_range(b'A', b'Z').with_range(b'a', b'z')
        }
        Shape::Text(text) if !text.tuple => {
            text.first.map_or(text.alphabet, |first| union(first, text.alphabet))
        }
        Shape::Record(sequence) => of_row(sequence),
        Shape::Choice(alternatives) => alternatives
            .iter()
            .fold(Alphabet::EMPTY, |all, alternative| union(all, of_row(&alternative.sequence))),
        Shape::Option(inner) => alphabet(inner),
        Shape::List { item, framing: Framing::ToEnd, .. } => alphabet(item),
        Shape::List { item, framing: Framing::Joined(separator), .. } => {
            separator.iter().fold(alphabet(item), |all, byte| all.with(*byte))
        }
        _ => Alphabet::UTF8,
    }
}

/// Whether an element of a list ends where the separator begins, because it cannot contain its first byte.
pub(crate) fn ends_at(item: &Shape, separator: &[u8]) -> bool {
    separator.first().is_some_and(|byte| !alphabet(item).contains(*byte))
}

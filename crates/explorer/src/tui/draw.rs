//! The three panes, and what lies above them. All text comes by [`Theme::line`].

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Clear, Paragraph, Row, Table, TableState};

use super::app::{Focus, Screen};
use super::dialog::Dialog;
use super::json::{count, text};
use super::listing::Listing;
use super::paint::{Ink, Piece, Theme, bar, columns, cut, flat, mark, number, wrapped};
use super::side::SideLine;
use crate::show::field;

/// Below this width there is one pane at a time.
const NARROW: u16 = 70;
/// Below this width the tree and the rows share the screen with no key beside them.
const MIDDLE: u16 = 110;
/// The widest that a column becomes while others are cut.
const WIDEST: usize = 44;
/// The narrowest that a column of text becomes.
const NARROWEST: usize = 8;
/// The keys that are named at the foot, as many as there is room for.
const HINTS: [&str; 11] = [
    "? keys",
    "/ find",
    "j k rows",
    "J K families",
    "n p pages",
    "s scan",
    "u unread",
    "d diff",
    "c copy",
    "Tab pane",
    "q leave",
];

/// Draws everything.
pub(super) fn draw(app: &mut Screen, frame: &mut Frame<'_>) {
    let area = frame.area();
    let [top, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(head(app, top.width.into())), top);
    panes(app, frame, body);
    frame.render_widget(Paragraph::new(hints(app, foot.width.into())), foot);
    let theme = app.theme;
    if let Some(dialog) = &app.dialog {
        over(theme, dialog, frame, area);
    }
}

/// What is looked at, and how far. Of a name that is too long only the end is shown.
fn head(app: &Screen, room: usize) -> Line<'static> {
    let (overview, walk) = (&app.overview, &app.walk);
    let plan = field(overview, "plan");
    let mut pieces: Vec<Piece> = vec![
        (" keyplan explore  ".to_owned(), Ink::Bold),
        (text(overview, "name").to_owned(), Ink::Plain),
        (format!("  {}", text(overview, "kind")), Ink::Faint),
        (format!("  plan {}", text(plan, "name")), Ink::Plain),
    ];
    if *field(plan, "draft") == true {
        pieces.push((" (a draft)".to_owned(), Ink::Warn));
    }
    if let Some(height) = field(field(overview, "heights"), "at").as_u64() {
        pieces.push((format!("  height {}", number(height)), Ink::Plain));
    }
    let proof = field(overview, "proof");
    pieces.push((format!("  ✓ {} proved", number(count(proof, "holds"))), Ink::Good));
    if count(proof, "refuted") > 0 {
        pieces.push((format!("  ✗ {} refuted", number(count(proof, "refuted"))), Ink::Bad));
    }
    let rows = number(count(field(walk, "total"), "rows"));
    match text(walk, "state") {
        "done" => pieces.push((format!("  {rows} rows"), Ink::Faint)),
        "walking" => pieces.push((format!("  ≥ {rows} rows, walking"), Ink::Warn)),
        other => pieces.push((format!("  ≥ {rows} rows, {other}"), Ink::Warn)),
    }
    let over = pieces.iter().map(|(text, _)| columns(text)).sum::<usize>().saturating_sub(room);
    if let Some((name, _)) = pieces.get_mut(1).filter(|_| over > 0) {
        let length = name.chars().count();
        let end: String = name.chars().skip((over + 1).min(length.saturating_sub(NARROWEST))).collect();
        *name = format!("…{end}");
    }
    // What does not fit whole is left out, the last first.
    while pieces.len() > 2 && pieces.iter().map(|(text, _)| columns(text)).sum::<usize>() > room {
        pieces.pop();
    }
    app.theme.line(&pieces)
}

fn hints(app: &Screen, room: usize) -> Line<'static> {
    if !app.said.is_empty() {
        return app.theme.line(&[(format!(" {}", app.said), Ink::Warn)]);
    }
    let mut words = String::new();
    for (at, hint) in HINTS.iter().enumerate() {
        let gap = if at == 0 { " " } else { "  " };
        if columns(&words) + gap.len() + columns(hint) > room {
            break;
        }
        words.push_str(gap);
        words.push_str(hint);
    }
    app.theme.line(&[(words, Ink::Faint)])
}

fn panes(app: &mut Screen, frame: &mut Frame<'_>, area: Rect) {
    if area.width < NARROW {
        match app.focus {
            Focus::Tree => tree(app, frame, area),
            Focus::Main => main(app, frame, area),
            Focus::Side => side(app, frame, area),
        }
        return;
    }
    if area.width < MIDDLE {
        let [left, right] = Layout::horizontal([Constraint::Length(28), Constraint::Min(30)]).areas(area);
        tree(app, frame, left);
        if app.focus == Focus::Side {
            side(app, frame, right);
        } else {
            main(app, frame, right);
        }
        return;
    }
    let right = (area.width / 3).clamp(40, 70);
    let [left, middle, right] =
        Layout::horizontal([Constraint::Length(34), Constraint::Min(36), Constraint::Length(right)])
            .areas(area);
    tree(app, frame, left);
    main(app, frame, middle);
    side(app, frame, right);
}

fn block(theme: Theme, title: &str, has_focus: bool) -> Block<'static> {
    let style = if has_focus { theme.style(&Ink::Bold) } else { theme.style(&Ink::Faint) };
    let sign = if has_focus { "▸ " } else { "" };
    let title = if title.is_empty() { String::new() } else { format!(" {sign}{} ", flat(title)) };
    Block::new().borders(Borders::ALL).border_style(style).title(Span::styled(title, style))
}

/// The first line that is shown, so that the one that is chosen is.
fn from(chosen: usize, count: usize, height: usize) -> usize {
    let half = height / 2;
    chosen.saturating_sub(half).min(count.saturating_sub(height))
}

fn tree(app: &Screen, frame: &mut Frame<'_>, area: Rect) {
    let block = block(app.theme, "Families", app.focus == Focus::Tree);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let most = app.tree.iter().map(|branch| branch.bytes).max().unwrap_or_default();
    let widest = app.tree.iter().map(|branch| columns(&branch.amount)).max().unwrap_or_default();
    let first = from(app.tree_at, app.tree.len(), height);
    let lines: Vec<Line<'static>> = app
        .tree
        .iter()
        .enumerate()
        .skip(first)
        .take(height)
        .map(|(at, branch)| {
            let bars = format!(" {:<4}", bar(branch.bytes, most, 4));
            let amount = &branch.amount;
            let end = if amount.is_empty() { String::new() } else { format!(" {amount:>widest$}{bars}") };
            let sign = if branch.mark.is_empty() { (" ", Ink::Plain) } else { mark(&branch.mark) };
            let room = width.saturating_sub(end.chars().count() + branch.depth * 2 + 2);
            let name = cut(&flat(&branch.text), room);
            let name_ink = if branch.depth == 0 { Ink::Bold } else { Ink::Plain };
            let line = app.theme.line(&[
                ("  ".repeat(branch.depth), Ink::Plain),
                (format!("{} ", sign.0), sign.1),
                (format!("{name:<room$}"), name_ink),
                (end, Ink::Faint),
            ]);
            if at == app.tree_at { line.style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

fn main(app: &mut Screen, frame: &mut Frame<'_>, area: Rect) {
    let block = block(app.theme, &app.listing.title, app.focus == Focus::Main);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let notes: Vec<Line<'static>> = app
        .listing
        .notes
        .iter()
        .flat_map(|note| wrapped(note, inner.width.into()))
        .map(|note| app.theme.line(&note))
        .collect();
    let above = u16::try_from(notes.len()).unwrap_or(u16::MAX).min(inner.height / 2);
    let [top, middle, foot] =
        Layout::vertical([Constraint::Length(above), Constraint::Min(1), Constraint::Length(1)]).areas(inner);
    frame.render_widget(Paragraph::new(notes), top);
    let pointed = app.pointed().map(str::to_owned);
    table(app.theme, &app.listing, &mut app.table, pointed.as_deref(), frame, middle);
    let words = match (&app.listing.works, app.listing.foot.is_empty()) {
        (Some(_), _) => format!("working: {}", app.listing.foot),
        (None, _) => app.listing.foot.clone(),
    };
    frame.render_widget(Paragraph::new(app.theme.line(&[(words, Ink::Faint)])), foot);
}

fn table(
    theme: Theme,
    listing: &Listing,
    state: &mut TableState,
    pointed: Option<&str>,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    if listing.head.is_empty() {
        return;
    }
    let is_pointed = |at: usize| {
        let column = listing.head.get(at);
        pointed.is_some() && column.is_some_and(|column| column.argument.as_deref() == pointed)
    };
    let padded = |text: &str, at: usize, width: usize| {
        let right = listing.head.get(at).is_some_and(|column| column.right);
        if right { format!("{text:>width$}") } else { cut(text, width) }
    };
    let widths = widths(listing, area.width.into());
    let heads = listing.head.iter().enumerate().map(|(at, column)| {
        let width = widths.get(at).copied().unwrap_or_default();
        let style = if is_pointed(at) { Modifier::REVERSED } else { Modifier::UNDERLINED };
        Cell::from(theme.line(&[(padded(&column.name, at, width), Ink::Bold)]))
            .style(Style::new().add_modifier(style))
    });
    let chosen = state.selected();
    let rows = listing.lines.iter().enumerate().map(|(line, entry)| {
        let cells = entry.cells.iter().enumerate().map(|(at, (text, ink))| {
            let width = widths.get(at).copied().unwrap_or_default();
            let cell = Cell::from(theme.line(&[(padded(&flat(text), at, width), ink.clone())]));
            let hot = is_pointed(at) && chosen == Some(line);
            if hot {
                cell.style(Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD))
            } else {
                cell
            }
        });
        Row::new(cells.collect::<Vec<_>>())
    });
    let constraints =
        widths.iter().map(|width| Constraint::Length(u16::try_from(*width).unwrap_or(u16::MAX)));
    let widget = Table::new(rows.collect::<Vec<_>>(), constraints.collect::<Vec<_>>())
        .header(Row::new(heads.collect::<Vec<_>>()))
        .column_spacing(2)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(widget, area, state);
}

/// As wide as what is in them; the last takes what is left, unless it is one of numbers. Numbers keep their units: what is
/// too wide is taken from the texts, the widest first.
fn widths(listing: &Listing, room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = listing.head.iter().map(|column| columns(&flat(&column.name))).collect();
    for entry in &listing.lines {
        for (width, (text, _)) in widths.iter_mut().zip(&entry.cells) {
            *width = (*width).max(columns(&flat(text)));
        }
    }
    let last = widths.len().saturating_sub(1);
    let is_right = |at: usize| listing.head.get(at).is_some_and(|column| column.right);
    for (at, width) in widths.iter_mut().enumerate() {
        let most = if at != last {
            WIDEST
        } else if is_right(at) {
            usize::MAX
        } else {
            NARROWEST
        };
        *width = (*width).min(most);
    }
    let gaps = 2 * last;
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
    while over > 0 {
        let texts = widths.iter_mut().enumerate().filter(|(at, width)| !is_right(*at) && **width > NARROWEST);
        let Some((_, widest)) = texts.max_by_key(|(_, width)| **width) else { break };
        *widest -= 1;
        over -= 1;
    }
    let before: usize = widths.iter().take(last).sum();
    if let Some(width) = widths.last_mut()
        && !is_right(last)
    {
        *width = room.saturating_sub(before + gaps).max(6);
    }
    widths
}

fn side(app: &Screen, frame: &mut Frame<'_>, area: Rect) {
    let title = if app.address.get("key").is_some() { "Key" } else { "Reference" };
    let block = block(app.theme, title, app.focus == Focus::Side);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let chosen = (app.focus == Focus::Side).then_some(app.side_at);
    let pointed = app.pointed();
    frame.render_widget(Paragraph::new(lines(app.theme, &app.side, chosen, pointed, inner)), inner);
}

/// Lines in the width that there is, around the one that is chosen.
fn lines(
    theme: Theme,
    all: &[SideLine],
    chosen: Option<usize>,
    pointed: Option<&str>,
    area: Rect,
) -> Vec<Line<'static>> {
    let mut out: Vec<Line<'static>> = Vec::new();
    let mut at = 0;
    for (index, line) in all.iter().enumerate() {
        if Some(index) == chosen {
            at = out.len();
        }
        for part in wrapped(&line.pieces, area.width.into()) {
            let mut shown = theme.line(&part);
            // What belongs to the argument that is pointed at is underlined, here and in the table.
            if pointed.is_some() {
                for (span, (_, ink)) in shown.spans.iter_mut().zip(&part) {
                    if matches!(ink, Ink::Lane(name) if Some(name.as_str()) == pointed) {
                        span.style = span.style.add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
                    }
                }
            }
            if Some(index) == chosen {
                shown = shown.style(Style::new().add_modifier(Modifier::REVERSED));
            }
            out.push(shown);
        }
    }
    let first = from(at, out.len(), area.height.into());
    out.into_iter().skip(first).take(area.height.into()).collect()
}

/// The middle of the screen.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

fn over(theme: Theme, dialog: &Dialog, frame: &mut Frame<'_>, area: Rect) {
    let wide = area.width.saturating_sub(6).min(110);
    let tall = area.height.saturating_sub(4);
    match dialog {
        Dialog::Text { title, lines: all, top } => {
            let place =
                middle(area, wide, tall.min(u16::try_from(all.len()).unwrap_or(u16::MAX).saturating_add(2)));
            let inner = framed(theme, title, frame, place);
            let shown: Vec<SideLine> = all.iter().skip(*top).cloned().collect();
            frame.render_widget(Paragraph::new(lines(theme, &shown, None, None, inner)), inner);
        }
        Dialog::Menu { title, items, chosen } => {
            let place = middle(area, wide, tall.min(24));
            let inner = framed(theme, title, frame, place);
            let about = items.get(*chosen).map(|item| item.about.as_slice()).unwrap_or_default();
            let below = if about.is_empty() { 0 } else { inner.height / 2 };
            let [top, bottom] =
                Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).areas(inner);
            let height = usize::from(top.height);
            let first = from(*chosen, items.len(), height);
            let shown: Vec<Line<'static>> = items
                .iter()
                .enumerate()
                .skip(first)
                .take(height)
                .map(|(at, item)| picked(theme.line(&[(item.text.clone(), Ink::Plain)]), at == *chosen))
                .collect();
            frame.render_widget(Paragraph::new(shown), top);
            frame.render_widget(Paragraph::new(lines(theme, about, None, None, bottom)), bottom);
        }
        Dialog::Search { text, hits, chosen, why } => {
            let place = middle(area, wide, tall.min(20));
            let inner = framed(theme, "Find a family, or paste a key", frame, place);
            let [line, rest] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(inner);
            input(theme, "", text, true, frame, line);
            let mut shown: Vec<Line<'static>> = hits
                .iter()
                .enumerate()
                .map(|(at, hit)| {
                    let pieces = [
                        (format!("{:<14}", hit.kind), Ink::Faint),
                        (hit.text.clone(), Ink::Plain),
                        (format!("  {}", hit.note), Ink::Faint),
                    ];
                    picked(theme.line(&pieces), at == *chosen)
                })
                .collect();
            if hits.is_empty() && !text.is_empty() {
                let why =
                    if why.is_empty() { "nothing found".to_owned() } else { format!("nothing found: {why}") };
                shown.push(theme.line(&[(why, Ink::Warn)]));
            }
            frame.render_widget(Paragraph::new(shown), rest);
        }
        Dialog::Form { title, fields, at, why, .. } => {
            let count = u16::try_from(fields.len()).unwrap_or(u16::MAX);
            let place = middle(area, wide, tall.min(count.saturating_add(4)));
            let inner = framed(theme, title, frame, place);
            for (row, field) in (0_u16..).zip(fields) {
                if row < inner.height {
                    let line = Rect { y: inner.y + row, height: 1, ..inner };
                    input(theme, &field.label, &field.text, usize::from(row) == *at, frame, line);
                }
            }
            if count < inner.height {
                let words = if why.is_empty() {
                    ("Enter asks, Tab is the next field", Ink::Faint)
                } else {
                    (why.as_str(), Ink::Bad)
                };
                let line = Rect { y: inner.y + count, height: inner.height - count, ..inner };
                let parts = wrapped(&[(words.0.to_owned(), words.1)], line.width.into());
                frame.render_widget(
                    Paragraph::new(parts.iter().map(|part| theme.line(part)).collect::<Vec<_>>()),
                    line,
                );
            }
        }
    }
}

fn framed(theme: Theme, title: &str, frame: &mut Frame<'_>, place: Rect) -> Rect {
    let block = block(theme, title, true);
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    inner
}

fn picked(line: Line<'static>, is_chosen: bool) -> Line<'static> {
    if is_chosen { line.style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

/// A field; of what is longer than it, the end is seen.
fn input(theme: Theme, label: &str, text: &str, is_typed_into: bool, frame: &mut Frame<'_>, area: Rect) {
    let label = if label.is_empty() { "› ".to_owned() } else { format!("{} › ", flat(label)) };
    let room = usize::from(area.width).saturating_sub(Span::raw(label.clone()).width() + 1);
    let text = flat(text);
    let long = text.chars().count().saturating_sub(room);
    let shown: String = text.chars().skip(long).collect();
    let cursor = if is_typed_into { "▏" } else { "" };
    let ink = if is_typed_into { Ink::Bold } else { Ink::Faint };
    let line = theme.line(&[(label, ink), (shown, Ink::Plain), (cursor.to_owned(), Ink::Bold)]);
    frame.render_widget(Paragraph::new(line), area);
}

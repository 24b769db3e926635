//! Hashes, sorted sets, sets and queues, printed wherever they are kept.

use std::io;

use keyplan_database::structure::Listed;

use crate::args::db::RowFormat;
use crate::render::{self, Length, Output};

/// Prints what is in a space of structures, as much of each value as is wanted.
pub(super) fn printed(
    listed: Listed<'_>,
    format: RowFormat,
    length: Length,
    out: &mut Output,
) -> io::Result<()> {
    let text = format == RowFormat::Text;
    match listed {
        Listed::Key { key, kind, size } if text => out.line(&render::key_size(key, kind, size)),
        Listed::Key { key, kind, size } => out.json(&render::key_size_json(key, kind, size)?),
        Listed::UnknownKey { space, kind, key } if text => out.line(&render::unknown_key(space, kind, key)),
        Listed::UnknownKey { space, kind, key } => out.json(&render::unknown_key_json(space, kind, key)),
        Listed::Part { key, part } if text => out.line(&render::part_text(key, &part, length)),
        Listed::Part { key, part } => out.json(&render::part_object(key, &part)?),
        Listed::UnknownPart { space, kind, key, part } => {
            out.json(&render::unknown_part_json(space, kind, key, &part))
        }
        Listed::Queue(size) if text => out.line(&render::queue_size(size)),
        Listed::More => {
            out.flush()?;
            render::message(&render::more_rows(None));
            Ok(())
        }
        Listed::Nothing { key, bytes } => {
            render::message(&render::no_row(key.family, &key.values, bytes));
            Ok(())
        }
        // How many items a queue has is for people.
        _ => Ok(()),
    }
}

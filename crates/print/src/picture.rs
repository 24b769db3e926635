//! Pictures in the colours of a terminal.

use anstyle::AnsiColor;
use keyplan_report::picture::{Ink, Picture};

use super::{DIM, ERROR, painted};

/// The colours of arguments, in turn.
const COLOURS: [AnsiColor; 4] = [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Magenta, AnsiColor::Green];

/// A picture in colours.
pub(crate) fn coloured(picture: &Picture) -> String {
    picture.painted(|ink, text| match ink {
        Ink::Dim => painted(DIM, text),
        Ink::Fault => painted(ERROR, text),
        Ink::Argument(index) => {
            let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or(AnsiColor::Cyan);
            painted(colour.on_default(), text)
        }
        _ => text.to_owned(),
    })
}

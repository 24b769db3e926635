use core::fmt;

/// An argument as `Display` shows it: bytes as `0x…`, text in quotes, an absent one as `none`.
#[derive(Clone, Copy)]
pub struct Shown<'a>(Form<'a>);

#[derive(Clone, Copy)]
enum Form<'a> {
    Bytes(&'a [u8]),
    Text(&'a str),
    Option(Option<&'a dyn fmt::Display>),
}

impl<'a> Shown<'a> {
    /// Bytes.
    pub const fn bytes(bytes: &'a [u8]) -> Self {
        Self(Form::Bytes(bytes))
    }

    /// A text.
    pub const fn text(text: &'a str) -> Self {
        Self(Form::Text(text))
    }

    /// Something present or absent.
    pub const fn option(option: Option<&'a dyn fmt::Display>) -> Self {
        Self(Form::Option(option))
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Form::Text(text) => fmt::Debug::fmt(text, f),
            Form::Option(Some(value)) => value.fmt(f),
            Form::Option(None) => f.write_str("none"),
        }
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

//! Paths of spaces, modules, families and arguments: names with dots between them, taken apart here and nowhere else.

/// A path such as `space.module.name`, as the names that it is made of.
///
/// ```
/// use keyplan_plan::model::DottedPath;
///
/// let path = DottedPath("bank.denoms.supply");
/// assert_eq!(path.names().collect::<Vec<_>>(), ["bank", "denoms", "supply"]);
/// assert_eq!((path.first(), path.rest()), ("bank", Some("denoms.supply")));
/// assert_eq!((path.owner(), path.last()), (Some("bank.denoms"), "supply"));
/// assert!(path.ends_with(DottedPath("denoms.supply")) && !path.ends_with(DottedPath("ply")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DottedPath<'p>(pub &'p str);

impl<'p> DottedPath<'p> {
    /// Its names, the outermost first.
    pub fn names(self) -> impl Iterator<Item = &'p str> {
        self.0.split('.')
    }

    /// The outermost name: of a family, its space.
    pub fn first(self) -> &'p str {
        self.0.split_once('.').map_or(self.0, |(first, _)| first)
    }

    /// What is inside of the outermost name, if anything is.
    pub fn rest(self) -> Option<&'p str> {
        self.0.split_once('.').map(|(_, rest)| rest)
    }

    /// The innermost name.
    pub fn last(self) -> &'p str {
        self.0.rsplit_once('.').map_or(self.0, |(_, last)| last)
    }

    /// The path of what the innermost name is in, if it is in something.
    pub fn owner(self) -> Option<&'p str> {
        self.0.rsplit_once('.').map(|(owner, _)| owner)
    }

    /// Whether its innermost names are those of `end`.
    pub fn ends_with(self, end: DottedPath<'_>) -> bool {
        let mut own = self.0.rsplit('.');
        end.0.rsplit('.').all(|name| own.next() == Some(name))
    }

    /// The name inside of `owner`, if it is right in there.
    pub fn inside(self, owner: &str) -> Option<&'p str> {
        self.0.strip_prefix(owner)?.strip_prefix('.')
    }
}

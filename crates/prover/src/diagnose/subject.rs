use keyplan_plan::diag::Span;
use keyplan_plan::model::{DottedPath, Family, Field, Plan, Sequence};

use crate::proof::Statement;

/// What a path of a report names.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'p> {
    pub(crate) family: &'p Family,
    pub(crate) part: Part<'p>,
    pub(crate) sequence: &'p Sequence,
}

/// Which layout of a family.
#[derive(Clone, Copy)]
pub(crate) enum Part<'p> {
    Key,
    Field(&'p Field),
    Member,
    Score,
}

impl<'p> Subject<'p> {
    /// What `path` names in a statement: a statement of a field is about fields of that hash only, and one of a family about
    /// families.
    pub(crate) fn find(plan: &'p Plan, path: &str, statement: &Statement) -> Option<Self> {
        let family =
            |path: &str| plan.families().map(|(_, family)| family).find(|family| family.path == path);
        if statement.family == statement.of {
            return family(path).map(Self::of);
        }
        Self::part(family(&statement.of)?, DottedPath(path).inside(&statement.of)?)
    }

    /// What `path` names, by the part of it that a change is about; `None` for values and whole spaces.
    pub(crate) fn changed(plan: &'p Plan, path: &str, part: crate::compat::Part) -> Option<Self> {
        use crate::compat::Part as Changed;
        let family =
            |path: &str| plan.families().map(|(_, family)| family).find(|family| family.path == path);
        let inner = |name: &str| {
            let path = DottedPath(path);
            let owner = path.owner().filter(|_| path.last() == name).unwrap_or(path.0);
            Self::part(family(owner)?, name)
        };
        match part {
            Changed::Key => family(path).map(Self::of),
            Changed::Field => inner(DottedPath(path).last()),
            Changed::Member => inner("member"),
            Changed::Score => inner("score"),
            Changed::Space | Changed::Value | Changed::Retired => None,
        }
    }

    /// The keys of a family.
    pub(crate) fn of(family: &'p Family) -> Self {
        Self { family, part: Part::Key, sequence: &family.key }
    }

    fn part(family: &'p Family, name: &str) -> Option<Self> {
        if let Some(field) = family.fields.iter().find(|field| field.name == name) {
            return Some(Self { family, part: Part::Field(field), sequence: &field.key });
        }
        let (part, sequence) = match name {
            "member" => (Part::Member, family.member.as_ref()?),
            "score" => (Part::Score, family.score.as_ref()?),
            _ => return None,
        };
        Some(Self { family, part, sequence })
    }

    /// What a message calls it.
    pub(crate) fn title(self) -> String {
        let path = &self.family.path;
        match self.part {
            Part::Key => format!("`{path}`"),
            Part::Field(field) => format!("the field `{}` of `{path}`", field.name),
            Part::Member => format!("the members of `{path}`"),
            Part::Score => format!("the scores of `{path}`"),
        }
    }

    /// What a row of a table calls it.
    pub(crate) fn name(self) -> String {
        let path = &self.family.path;
        match self.part {
            Part::Key => path.clone(),
            Part::Field(field) => format!("{path} field {}", field.name),
            Part::Member => format!("{path} member"),
            Part::Score => format!("{path} score"),
        }
    }

    /// Where its name is, or the whole of it if it has none.
    pub(crate) fn name_span(self) -> Span {
        match self.part {
            Part::Field(field) => field.span,
            Part::Key => self.family.name_span,
            Part::Member | Part::Score => self.whole_span(),
        }
    }

    /// From its first segment to its last.
    fn whole_span(self) -> Span {
        match self.sequence.segments() {
            [] => self.family.name_span,
            [first, .., last] => first.span().to(last.span()),
            [only] => only.span(),
        }
    }
}

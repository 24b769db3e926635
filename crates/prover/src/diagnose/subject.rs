use keyplan_plan::diag::Span;
use keyplan_plan::model::{Family, Field, Plan, Sequence};

use crate::proof::Statement;

/// What a path of a report names.
#[derive(Clone, Copy)]
pub(super) struct Subject<'p> {
    pub(super) family: &'p Family,
    pub(super) part: Part<'p>,
    pub(super) sequence: &'p Sequence,
}

/// Which layout of a family.
#[derive(Clone, Copy)]
pub(super) enum Part<'p> {
    Key,
    Field(&'p Field),
    Member,
    Score,
}

impl<'p> Subject<'p> {
    /// What `path` names in a statement. A family and a field of a hash may have one path; then the place that the
    /// statement points at tells which.
    pub(super) fn find(plan: &'p Plan, path: &str, statement: &Statement) -> Option<Self> {
        let key = plan.families().map(|(_, family)| family).find(|family| family.path == path).map(Self::of);
        let part = path.rsplit_once('.').and_then(|(owner, name)| {
            let (_, family) = plan.families().find(|(_, family)| family.path == owner)?;
            Self::part(family, name)
        });
        match (key, part) {
            (Some(key), Some(part)) => {
                Some(if within(statement.span, part.family.span) { part } else { key })
            }
            (key, part) => key.or(part),
        }
    }

    /// What `path` names, by the part of it that a change is about; `None` for values and whole spaces.
    pub(super) fn changed(plan: &'p Plan, path: &str, part: crate::compat::Part) -> Option<Self> {
        use crate::compat::Part as Changed;
        let family =
            |path: &str| plan.families().map(|(_, family)| family).find(|family| family.path == path);
        let inner = |name: &str| {
            let owner = path.strip_suffix(name).and_then(|owner| owner.strip_suffix('.')).unwrap_or(path);
            Self::part(family(owner)?, name)
        };
        match part {
            Changed::Key => family(path).map(Self::of),
            Changed::Field => inner(path.rsplit_once('.')?.1),
            Changed::Member => inner("member"),
            Changed::Score => inner("score"),
            Changed::Space | Changed::Value | Changed::Retired => None,
        }
    }

    /// The keys of a family.
    pub(super) fn of(family: &'p Family) -> Self {
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
    pub(super) fn title(self) -> String {
        let path = &self.family.path;
        match self.part {
            Part::Key => format!("`{path}`"),
            Part::Field(field) => format!("the field `{}` of `{path}`", field.name),
            Part::Member => format!("the members of `{path}`"),
            Part::Score => format!("the scores of `{path}`"),
        }
    }

    /// What a row of a table calls it.
    pub(super) fn name(self) -> String {
        let path = &self.family.path;
        match self.part {
            Part::Key => path.clone(),
            Part::Field(field) => format!("{path} field {}", field.name),
            Part::Member => format!("{path} member"),
            Part::Score => format!("{path} score"),
        }
    }

    /// Where its name stands, or the whole of it if it has none.
    pub(super) fn name_span(self) -> Span {
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

fn within(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
}

//! Arguments as Go sees them: the type of each, and what is inside.

use keyplan_plan::model::{Alternative, Framing, IntType, LengthSet, Sequence, Shape, TextShape};

use super::Go;
use super::names::exported;
use crate::naming::Scope;

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Tree<'p> {
    pub(crate) shape: &'p Shape,
    /// Its type.
    pub(crate) go: String,
    pub(crate) inside: Inside<'p>,
}

/// What an argument is made of.
#[derive(Clone, Debug)]
pub(crate) enum Inside<'p> {
    /// A single value.
    Leaf,
    /// A struct.
    Record(Row<'p>),
    /// One of several names: an integer type with constants.
    Enum(Vec<Constant<'p>>),
    /// An interface, with a struct for each alternative.
    Choice(Vec<Variant<'p>>),
    /// A pointer.
    Option(Box<Tree<'p>>),
    /// A slice.
    List(Box<List<'p>>),
    /// What is inside of a frame, complemented, or after its hash: of the same type.
    Wrapped(Box<Tree<'p>>),
    /// A digest.
    Hashed,
}

/// A name of an integer type.
#[derive(Clone, Debug)]
pub(crate) struct Constant<'p> {
    /// The constant.
    pub(crate) go: String,
    pub(crate) of: &'p Alternative,
}

/// The elements of a slice, and how they are told apart.
#[derive(Clone, Debug)]
pub(crate) struct List<'p> {
    pub(crate) item: Tree<'p>,
    pub(crate) counts: &'p LengthSet,
    pub(crate) framing: &'p Framing,
}

/// An alternative of a choice.
#[derive(Clone, Debug)]
pub(crate) struct Variant<'p> {
    /// The type of its struct.
    pub(crate) go: String,
    pub(crate) of: &'p Alternative,
    pub(crate) row: Row<'p>,
}

/// A layout, with the name of the field of each argument.
#[derive(Clone, Debug)]
pub(crate) struct Row<'p> {
    pub(crate) sequence: &'p Sequence,
    pub(crate) fields: Vec<(String, Tree<'p>)>,
}

impl Tree<'_> {
    /// Whether what is decoded has slices of the key in it.
    pub(crate) fn holds_slices(&self) -> bool {
        let in_row = |row: &Row<'_>| row.fields.iter().any(|(_, tree)| tree.holds_slices());
        match &self.inside {
            Inside::Leaf => self.go == "[]byte",
            Inside::Enum(_) | Inside::Hashed => false,
            Inside::Record(row) => in_row(row),
            Inside::Choice(variants) => variants.iter().any(|variant| in_row(&variant.row)),
            Inside::List(list) => list.item.holds_slices(),
            Inside::Option(inner) | Inside::Wrapped(inner) => inner.holds_slices(),
        }
    }
}

impl<'p> Go<'p> {
    /// The arguments of a layout whose struct is called `owner`.
    pub(crate) fn row(&mut self, owner: &str, sequence: &'p Sequence) -> Row<'p> {
        let mut scope = Scope::default();
        // Methods of the struct may not be called like a field.
        scope.reserve([
            "AppendTo",
            "AppendUnguarded",
            "Bytes",
            "Key",
            "AppendBinary",
            "MarshalBinary",
            "UnmarshalBinary",
            "Family",
        ]);
        let fields = sequence
            .arguments()
            .map(|argument| {
                let name = exported(argument.name.as_deref().unwrap_or("value"));
                let name = scope.fresh(&name);
                let hint = format!("{owner}{name}");
                (name, self.tree(&hint, &argument.shape, argument.type_name.as_deref()))
            })
            .collect();
        Row { sequence, fields }
    }

    /// One argument; composites get a type called `hint`, or that of the plan's own type.
    pub(crate) fn tree(&mut self, hint: &str, shape: &'p Shape, named: Option<&str>) -> Tree<'p> {
        match shape {
            Shape::Int(int) => leaf(shape, int_type(int.ty)),
            Shape::Bool(_) => leaf(shape, "bool"),
            Shape::Float(_) => leaf(shape, "float64"),
            Shape::Time(_) => leaf(shape, "time.Time"),
            Shape::Score { encoding, .. } if encoding.is_float() => leaf(shape, "HeightScore"),
            Shape::Score { .. } => leaf(shape, "Score"),
            Shape::Bytes { lengths, encoding } => match lengths.fixed() {
                // What is cut is read back with another length.
                Some(width) if width <= 64 && !encoding.row().loses => leaf(shape, format!("[{width}]byte")),
                _ => leaf(shape, "[]byte"),
            },
            Shape::Text(TextShape { names: Some(set), .. }) => leaf(shape, self.set_name(&set.name)),
            Shape::Text(_) => leaf(shape, "string"),
            Shape::Nibbles { .. } | Shape::Opaque(_) => leaf(shape, "[]byte"),
            Shape::Record(_) | Shape::Choice(_) => self.composite(hint, shape, named),
            Shape::Option(inner) => {
                let inner = self.tree(hint, inner, named);
                Tree { shape, go: format!("*{}", inner.go), inside: Inside::Option(Box::new(inner)) }
            }
            Shape::List { item, counts, framing } => {
                let item = self.tree(hint, item, named);
                let go = format!("[]{}", item.go);
                Tree { shape, go, inside: Inside::List(Box::new(List { item, counts, framing })) }
            }
            Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. } => {
                let inner = self.tree(hint, inner, named);
                Tree { shape, go: inner.go.clone(), inside: Inside::Wrapped(Box::new(inner)) }
            }
            Shape::Hashed { hash, keep, inner, .. } => {
                let of = self.tree(&format!("{hint}Of"), inner, named);
                let go = self.scope.fresh(&format!("{hint}Digest"));
                self.digest(&go, shape, (*hash, *keep), &of);
                Tree { shape, go, inside: Inside::Hashed }
            }
        }
    }

    /// A record or choice. Types of the plan are declared once.
    fn composite(&mut self, hint: &str, shape: &'p Shape, named: Option<&str>) -> Tree<'p> {
        let own =
            named.and_then(|name| self.plan.types.iter().find(|ty| ty.name == name && ty.shape == *shape));
        if let Some(made) = own.and_then(|ty| self.named.get(&ty.name)) {
            return made.clone();
        }
        let go = match own {
            Some(ty) => self.type_name(&ty.name),
            None => self.scope.fresh(hint),
        };
        let about = own.map_or_else(Vec::new, |ty| ty.doc.clone());
        let inside = match shape {
            Shape::Record(sequence) => Inside::Record(self.row(&go, sequence)),
            Shape::Choice(alternatives) => self.choice(&go, alternatives),
            _ => Inside::Leaf,
        };
        let tree = Tree { shape, go: go.clone(), inside };
        self.declare(&tree, &about);
        if let Some(ty) = own {
            self.named.insert(ty.name.clone(), tree.clone());
        }
        tree
    }

    fn choice(&mut self, go: &str, alternatives: &'p [Alternative]) -> Inside<'p> {
        if alternatives.iter().all(|alternative| alternative.sequence.argument_count() == 0) {
            let constants = alternatives
                .iter()
                .map(|of| Constant { go: self.scope.fresh(&format!("{go}{}", exported(&of.label))), of })
                .collect();
            return Inside::Enum(constants);
        }
        let variants = alternatives
            .iter()
            .map(|of| {
                let go = self.scope.fresh(&format!("{go}{}", exported(&of.label)));
                let row = self.row(&go, &of.sequence);
                Variant { go, of, row }
            })
            .collect();
        Inside::Choice(variants)
    }
}

fn leaf(shape: &Shape, go: impl Into<String>) -> Tree<'_> {
    Tree { shape, go: go.into(), inside: Inside::Leaf }
}

/// The Go type of an integer.
pub(crate) fn int_type(ty: IntType) -> String {
    match (ty.signed, ty.native_bits()) {
        (false, 128) => "Uint128".to_owned(),
        (true, 128) => "Int128".to_owned(),
        (false, bits) => format!("uint{bits}"),
        (true, bits) => format!("int{bits}"),
    }
}

/// The argument once more, in another encoding; `None` if only its digest is known.
pub(crate) fn copy<'p>(tree: &Tree<'p>, shape: &'p Shape) -> Option<Tree<'p>> {
    if tree.shape == shape {
        return Some(tree.clone());
    }
    if let Inside::Wrapped(inner) = &tree.inside {
        return copy(inner, shape);
    }
    let inside = match (shape, &tree.inside) {
        (
            Shape::Framed { inner, .. }
            | Shape::Desc(inner)
            | Shape::HashConcat { inner, .. }
            | Shape::Hashed { inner, .. },
            _,
        ) => Inside::Wrapped(Box::new(copy(tree, inner)?)),
        (_, Inside::Hashed) => return None,
        (Shape::List { counts, framing, .. }, Inside::List(list)) => {
            Inside::List(Box::new(List { item: list.item.clone(), counts, framing }))
        }
        (_, inside) => inside.clone(),
    };
    Some(Tree { shape, go: tree.go.clone(), inside })
}

//! Schemas: `.proto` files compiled here, or descriptor sets that another compiler made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use miette::Diagnostic as _;
use prost_reflect::{Cardinality, DescriptorPool, FieldDescriptor, Kind as Described, MessageDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::{Enum, Field, Form, Kind, MAX_FIELDS, MAX_MESSAGES, Many, Message, Messages, ends};

/// How deep brackets may lie in each other in a schema.
const MAX_DEPTH: usize = 64;
/// The most bytes that all files of a schema may have together.
const MAX_BYTES: usize = 32 << 20;

/// One file of a schema.
#[derive(Clone, Copy, Debug)]
pub struct SchemaText<'a> {
    /// The name that other files import it by, if one does.
    pub import: Option<&'a str>,
    /// What people know it by.
    pub path: &'a str,
    /// The text of a `.proto` file, or the bytes of a descriptor set.
    pub content: Result<&'a str, &'a [u8]>,
}

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", self.place())]
pub struct MessagesError {
    /// The file, if it is in one.
    pub path: Option<String>,
    /// The line in it, counted from one.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl MessagesError {
    fn new(path: Option<&str>, what: impl Into<String>) -> Self {
        Self { path: path.map(str::to_owned), line: None, what: what.into() }
    }

    fn place(&self) -> String {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => format!("{path}:{line}: "),
            (Some(path), None) => format!("{path}: "),
            _ => String::new(),
        }
    }
}

/// The files of a schema under the names that they import each other by.
#[derive(Debug)]
struct Given {
    files: BTreeMap<String, String>,
}

impl FileResolver for Given {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.files.get(name) {
            Some(text) => File::from_source(name, text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

impl Messages {
    /// Compiles `.proto` files and reads descriptor sets. Files of `google/protobuf/` need not be given.
    pub fn compile(texts: &[SchemaText<'_>]) -> Result<Self, MessagesError> {
        let size = |text: &SchemaText<'_>| text.content.map_or_else(<[u8]>::len, str::len);
        if texts.iter().map(size).sum::<usize>() > MAX_BYTES {
            return Err(MessagesError::new(None, format!("over {MAX_BYTES} bytes")));
        }
        let mut names: BTreeMap<String, &SchemaText<'_>> = BTreeMap::new();
        for text in texts {
            if let Ok(source) = text.content {
                shallow(source).map_err(|line| MessagesError {
                    line: Some(line),
                    ..MessagesError::new(Some(text.path), "brackets are nested too deeply")
                })?;
                names.entry(text.import.map_or_else(|| plain(text.path), str::to_owned)).or_insert(text);
            }
        }
        let files = names
            .iter()
            .filter_map(|(name, text)| Some((name.clone(), text.content.ok()?.to_owned())))
            .collect();
        let mut resolver = ChainFileResolver::new();
        resolver.add(Given { files });
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for name in names.keys() {
            compiler.open_file(name).map_err(|error| told(&error, &names))?;
        }
        let mut pool = compiler.descriptor_pool();
        for text in texts {
            if let Err(bytes) = text.content {
                pool.decode_file_descriptor_set(bytes).map_err(|error| {
                    MessagesError::new(Some(text.path), format!("not a descriptor set: {error}"))
                })?;
            }
        }
        table(&pool)
    }
}

/// A path as a name that files of a schema can have.
fn plain(path: &str) -> String {
    let names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | "." | "..")).collect();
    names.join("/")
}

/// The line in which brackets are nested too deeply, if they do. Strings and comments count as well: what is in them is
/// bounded too.
fn shallow(text: &str) -> Result<(), usize> {
    let (mut depth, mut line) = (0_usize, 1);
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' | b'(' | b'<' => depth += 1,
            b'}' | b']' | b')' | b'>' => depth = depth.saturating_sub(1),
            b'\n' => line += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(line);
        }
    }
    Ok(())
}

fn told(error: &protox::Error, names: &BTreeMap<String, &SchemaText<'_>>) -> MessagesError {
    let text = error.file().and_then(|name| names.get(name));
    let offset = error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset());
    let line = offset
        .zip(text.and_then(|text| text.content.ok()))
        .and_then(|(offset, source)| source.get(..offset).map(|before| 1 + before.matches('\n').count()));
    MessagesError { path: text.map(|text| text.path.to_owned()), line, what: error.to_string() }
}

fn table(pool: &DescriptorPool) -> Result<Messages, MessagesError> {
    let all: Vec<MessageDescriptor> = pool.all_messages().collect();
    let enums: Vec<_> = pool.all_enums().collect();
    if all.len() + enums.len() > MAX_MESSAGES {
        return Err(MessagesError::new(None, format!("over {MAX_MESSAGES} messages")));
    }
    let mut indices = Indices { messages: BTreeMap::new(), enums: BTreeMap::new() };
    indices
        .messages
        .extend(all.iter().enumerate().map(|(index, message)| (message.full_name().to_owned(), index)));
    indices
        .enums
        .extend(enums.iter().enumerate().map(|(index, found)| (found.full_name().to_owned(), index)));
    let mut messages = Vec::new();
    let mut count = 0;
    for message in &all {
        let mut fields: Vec<Field> = message.fields().filter_map(|field| indices.field(&field)).collect();
        fields.sort_by_key(|field| field.number);
        count += fields.len();
        if count > MAX_FIELDS {
            return Err(MessagesError::new(None, format!("over {MAX_FIELDS} fields")));
        }
        let form = match message.full_name() {
            "google.protobuf.Timestamp" => Form::Timestamp,
            "google.protobuf.Any" => Form::Any,
            _ => Form::Plain,
        };
        messages.push(Message { name: Arc::from(message.full_name()), fields, form });
    }
    let entries: BTreeSet<&str> =
        all.iter().filter(|message| message.is_map_entry()).map(MessageDescriptor::full_name).collect();
    let mut names = indices.messages;
    names.retain(|name, _| !entries.contains(name.as_str()));
    let enums = enums.iter().map(|found| Enum {
        values: found.values().map(|value| (value.number(), value.name().to_owned())).collect(),
    });
    let ends = ends(&names);
    Ok(Messages { messages, enums: enums.collect(), names, ends })
}

struct Indices {
    messages: BTreeMap<String, usize>,
    enums: BTreeMap<String, usize>,
}

impl Indices {
    /// A field, unless it is a group: those are no longer written.
    fn field(&self, field: &FieldDescriptor) -> Option<Field> {
        if field.is_group() {
            return None;
        }
        let kind = match field.kind() {
            Described::Double => Kind::Double,
            Described::Float => Kind::Float,
            Described::Int32 => Kind::Int32,
            Described::Int64 => Kind::Int64,
            Described::Uint32 => Kind::Uint32,
            Described::Uint64 => Kind::Uint64,
            Described::Sint32 => Kind::Sint32,
            Described::Sint64 => Kind::Sint64,
            Described::Fixed32 => Kind::Fixed32,
            Described::Fixed64 => Kind::Fixed64,
            Described::Sfixed32 => Kind::Sfixed32,
            Described::Sfixed64 => Kind::Sfixed64,
            Described::Bool => Kind::Bool,
            Described::String => Kind::Text,
            Described::Bytes => Kind::Bytes,
            Described::Message(message) => Kind::Message(*self.messages.get(message.full_name())?),
            Described::Enum(found) => Kind::Enum(*self.enums.get(found.full_name())?),
        };
        let many = if field.is_map() {
            Many::Map
        } else if field.cardinality() == Cardinality::Repeated {
            Many::List { packed: field.is_packed() }
        } else {
            Many::Once
        };
        let oneof = field.containing_oneof();
        let place = oneof
            .and_then(|oneof| field.parent_message().oneofs().position(|known| known.name() == oneof.name()));
        Some(Field {
            number: field.number(),
            name: Arc::from(field.name()),
            json_name: field.json_name().to_owned(),
            kind,
            many,
            oneof: place,
            presence: field.supports_presence(),
        })
    }
}

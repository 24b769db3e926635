use keyplan::plan::dynamic::Value;
use keyplan::plan::model::{BytesEncoding, Sequence, Shape};

/// Arguments as the `Display` of a generated type shows them.
pub(crate) fn shown(name: &str, sequence: &Sequence, values: &[Value]) -> String {
    if sequence.argument_count() == 0 {
        return if name.is_empty() { "()".to_owned() } else { name.to_owned() };
    }
    let arguments: Vec<String> = sequence
        .arguments()
        .zip(values)
        .map(|(argument, value)| {
            let text = value_shown(&argument.shape, value);
            match &argument.name {
                Some(name) => format!("{name}={text}"),
                None => text,
            }
        })
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn value_shown(shape: &Shape, value: &Value) -> String {
    let hex = |bytes: &[u8]| {
        format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
    };
    match (shape, value) {
        (Shape::Framed { inner, .. } | Shape::Desc(inner) | Shape::HashConcat { inner, .. }, value) => {
            value_shown(inner, value)
        }
        (Shape::Record(sequence), Value::Record(values)) => shown("", sequence, values),
        (Shape::Choice(alternatives), Value::Choice(index, values)) => {
            shown(&alternatives[*index].label, &alternatives[*index].sequence, values)
        }
        (Shape::Option(inner), Value::Option(Some(value))) => value_shown(inner, value),
        (Shape::Option(_), _) => "none".to_owned(),
        (Shape::List { item, .. }, Value::List(values)) => {
            let items: Vec<String> = values.iter().map(|value| value_shown(item, value)).collect();
            format!("[{}]", items.join(", "))
        }
        (Shape::Bytes { encoding: BytesEncoding::Wide { .. }, .. }, value) => {
            value.display(shape).to_string()
        }
        (_, Value::Unsigned(n)) => n.to_string(),
        (_, Value::Signed(n) | Value::Time(n)) => n.to_string(),
        (_, Value::Bool(value)) => value.to_string(),
        (_, Value::Float(value)) => value.to_string(),
        (_, Value::Bytes(bytes) | Value::Nibbles(bytes) | Value::Digest(bytes)) => hex(bytes),
        (_, Value::Text(text)) => format!("{text:?}"),
        (_, Value::Score(score)) => format!("{score:?}"),
        (shape, value) => panic!("{value:?} is not a value of {shape:?}"),
    }
}

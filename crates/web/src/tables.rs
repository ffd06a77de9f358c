//! Tables as JSON.

use backlane_record::{Column, Kind, Table};
use serde_json::{Map, Number, Value};

/// The largest integer up to which JavaScript has them all.
const EXACT: u64 = 1 << 53;

/// An integer: a number, or a text where JavaScript would round it.
pub(crate) fn integer(value: u64) -> Value {
    if value <= EXACT {
        Value::from(value)
    } else {
        Value::from(value.to_string())
    }
}

/// `{"columns": {name: {"kind": …, "values": […]}}, "rows": n}`. A cell without a value, or with one
/// that is not finite, is null.
pub(crate) fn table(from: &Table) -> Value {
    let columns: Map<String, Value> = (from.columns().iter())
        .map(|(field, column)| {
            let values: Vec<Value> = match column {
                Column::Text(values) => values
                    .iter()
                    .map(|value| Value::from(value.as_deref()))
                    .collect(),
                Column::Integer(values) if field.kind == Kind::Float => values
                    .iter()
                    .map(|value| float(value.map(|value| value as f64)))
                    .collect(),
                Column::Integer(values) => (values.iter())
                    .map(|value| value.map_or(Value::Null, integer))
                    .collect(),
                Column::Float(values) => values.iter().map(|value| float(*value)).collect(),
            };
            let mut entry = Map::new();
            entry.insert("kind".to_owned(), Value::from(field.kind.name()));
            entry.insert("values".to_owned(), Value::from(values));
            (field.name.to_owned(), Value::from(entry))
        })
        .collect();
    let mut object = Map::new();
    object.insert("columns".to_owned(), Value::from(columns));
    object.insert("rows".to_owned(), Value::from(from.rows()));
    Value::from(object)
}

fn float(value: Option<f64>) -> Value {
    let number = value.and_then(Number::from_f64);
    number.map_or(Value::Null, Value::from)
}

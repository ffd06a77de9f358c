//! Named columns of equal length.

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<Option<u64>>),
    /// Numbers.
    Float(Vec<Option<f64>>),
}

/// A value on its way into a column; `None` is a missing one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(Option<String>),
    /// A whole number.
    Integer(Option<u64>),
    /// A number.
    Float(Option<f64>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<Option<u64>> for Value {
    fn from(number: Option<u64>) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(Some(number))
    }
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Self {
        Self::Float(number)
    }
}

/// Named columns of equal length. The unit of a column is in its name (`_s`, `_bps`, `_bytes`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(&'static str, Column)>,
    rows: usize,
}

impl Table {
    /// A table without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// The columns, in the order of the first row.
    pub fn columns(&self) -> &[(&'static str, Column)] {
        &self.columns
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, column)| column)
    }

    /// A column of text by name, if there is one.
    pub fn texts(&self, name: &str) -> Option<&[Option<String>]> {
        match self.column(name)? {
            Column::Text(values) => Some(values),
            _ => None,
        }
    }

    /// A column of whole numbers by name, if there is one.
    pub fn integers(&self, name: &str) -> Option<&[Option<u64>]> {
        match self.column(name)? {
            Column::Integer(values) => Some(values),
            _ => None,
        }
    }

    /// A column of numbers by name, if there is one.
    pub fn floats(&self, name: &str) -> Option<&[Option<f64>]> {
        match self.column(name)? {
            Column::Float(values) => Some(values),
            _ => None,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row. The first row makes the columns; every other must have the same.
    ///
    /// # Panics
    /// If the names, their order or the types differ from the first row's.
    pub fn push<const N: usize>(&mut self, row: [(&'static str, Value); N]) {
        if self.rows == 0 && self.columns.is_empty() {
            self.columns = row
                .iter()
                .map(|(name, value)| {
                    let column = match value {
                        Value::Text(_) => Column::Text(Vec::new()),
                        Value::Integer(_) => Column::Integer(Vec::new()),
                        Value::Float(_) => Column::Float(Vec::new()),
                    };
                    (*name, column)
                })
                .collect();
        }
        assert_eq!(
            self.columns.len(),
            N,
            "a row has as many values as the first"
        );
        for ((name, column), (given, value)) in self.columns.iter_mut().zip(row) {
            assert_eq!(*name, given, "a row has the columns of the first");
            match (column, value) {
                (Column::Text(column), Value::Text(value)) => column.push(value),
                (Column::Integer(column), Value::Integer(value)) => column.push(value),
                (Column::Float(column), Value::Float(value)) => column.push(value),
                _ => panic!("column {name} has one type"),
            }
        }
        self.rows += 1;
    }

    /// Puts further columns of the same rows behind its own; a table without columns adds none.
    ///
    /// # Panics
    /// If it has columns and another number of rows.
    pub fn append(&mut self, other: Self) {
        if other.columns.is_empty() {
            return;
        }
        assert_eq!(self.rows, other.rows, "both tables have the same rows");
        self.columns.extend(other.columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut table = Table::new();
        table.push([
            ("flow", "ue1".into()),
            ("finish_s", Some(1.5).into()),
            ("hops", 3u64.into()),
        ]);
        table.push([
            ("flow", "ue2".into()),
            ("finish_s", None::<f64>.into()),
            ("hops", 4u64.into()),
        ]);
        assert_eq!(table.rows(), 2);
        assert_eq!(
            table.column("finish_s"),
            Some(&Column::Float(vec![Some(1.5), None]))
        );
        assert_eq!(table.floats("finish_s"), Some(&[Some(1.5), None][..]));
        assert_eq!(table.integers("hops"), Some(&[Some(3), Some(4)][..]));
        assert_eq!(table.texts("flow").unwrap()[1].as_deref(), Some("ue2"));
        assert_eq!(table.texts("hops"), None);
        assert_eq!(
            table.column("hops"),
            Some(&Column::Integer(vec![Some(3), Some(4)]))
        );
    }

    #[test]
    fn columns_are_put_behind_those_of_the_same_rows() {
        let mut table = Table::new();
        table.push([("a", 1u64.into())]);
        table.append(Table::new());
        assert_eq!(table.columns().len(), 1);
        let mut other = Table::new();
        other.push([("b", 2u64.into())]);
        table.append(other);
        assert_eq!(table.rows(), 1);
        assert_eq!(table.integers("b"), Some(&[Some(2)][..]));
    }

    #[test]
    #[should_panic(expected = "the columns of the first")]
    fn a_row_with_other_columns_is_refused() {
        let mut table = Table::new();
        table.push([("a", 1u64.into())]);
        table.push([("b", 1u64.into())]);
    }
}

//! Named columns of equal length.

use std::marker::PhantomData;

use crate::schema::{ColumnSpec, Kind, TableSpec};

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

/// The declaration of a column.
pub type Field = &'static ColumnSpec;

/// A type of values of columns.
pub trait Cell: Sized {
    /// The type of the column in files, unless its declaration states another.
    const KIND: Kind;
    /// Whether a value may be missing.
    const IS_NULLABLE: bool;
    /// An empty column.
    fn column() -> Column;
    /// Adds the value to a column that [`Cell::column`] made.
    fn push(self, column: &mut Column);
}

macro_rules! cells {
    ($($type:ty => $kind:ident as $stored:ty;)*) => {$(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            const IS_NULLABLE: bool = false;
            fn column() -> Column {
                Column::$kind(Vec::new())
            }
            fn push(self, column: &mut Column) {
                Some(self).push(column);
            }
        }

        impl Cell for Option<$type> {
            const KIND: Kind = Kind::$kind;
            const IS_NULLABLE: bool = true;
            fn column() -> Column {
                Column::$kind(Vec::new())
            }
            fn push(self, column: &mut Column) {
                if let Column::$kind(values) = column {
                    values.push(self.map(<$stored>::from));
                }
            }
        }
    )*};
}

cells! {
    String => Text as String;
    &'static str => Text as String;
    u64 => Integer as u64;
    f64 => Float as f64;
}

/// A row of a table; [`table!`](crate::table) declares one.
pub trait Row {
    /// The declaration of its table.
    const TABLE: TableSpec;
    /// The columns without values.
    fn columns() -> Vec<Column>;
    /// Adds the values of the row to the columns.
    fn push(self, columns: &mut [(Field, Column)]);
}

/// A table that is filled row by row.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    table: Table,
    row: PhantomData<fn(R)>,
}

impl<R: Row> Default for Rows<R> {
    fn default() -> Self {
        let columns = R::TABLE.columns.iter().zip(R::columns()).collect();
        Self {
            table: Table { columns, rows: 0 },
            row: PhantomData,
        }
    }
}

impl<R: Row> Rows<R> {
    /// A table without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row.
    pub fn push(&mut self, row: R) {
        row.push(&mut self.table.columns);
        self.table.rows += 1;
    }

    /// The table so far, for taking rows out.
    pub fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    /// The table.
    pub fn into_table(self) -> Table {
        self.table
    }
}

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<(Field, Column)>,
    rows: usize,
}

impl Table {
    /// A table of the columns of `R` without rows.
    pub fn of<R: Row>() -> Self {
        Rows::<R>::new().into_table()
    }

    /// The columns with their declarations, in order.
    pub fn columns(&self) -> &[(Field, Column)] {
        &self.columns
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|(field, _)| field.name == name)
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

    /// Takes all rows out; the columns remain.
    pub fn take(&mut self) -> Self {
        let empty = |column: &Column| match column {
            Column::Text(_) => Column::Text(Vec::new()),
            Column::Integer(_) => Column::Integer(Vec::new()),
            Column::Float(_) => Column::Float(Vec::new()),
        };
        let columns = self.columns.iter();
        let columns = columns.map(|(field, column)| (*field, empty(column)));
        let columns = columns.collect();
        std::mem::replace(self, Self { columns, rows: 0 })
    }

    /// Appends further columns of the same rows.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    pub fn append(&mut self, other: Self) {
        assert_eq!(self.rows, other.rows, "both tables have the same rows");
        self.columns.extend(other.columns);
    }

    /// The table without some of its columns.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.columns
            .retain(|(field, _)| !names.contains(&field.name));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::reference;

    crate::table! {
        /// A row for each flow
        /// that has started.
        struct Sample in "samples" {
            /// Name.
            flow: String;
            /// When it finished.
            finish_s: Option<f64>, "s";
            /// Number of hops.
            hops: u64;
            /// Rate of the
            /// first link.
            rate_bps: Option<u64> as Float, "bit/s";
        }
    }

    crate::table! {
        /// More.
        struct More in "samples" {
            /// Kind.
            kind: &'static str;
        }
    }

    fn filled() -> Table {
        let mut rows = Rows::new();
        rows.push(Sample {
            flow: "ue1".to_owned(),
            finish_s: Some(1.5),
            hops: 3,
            rate_bps: None,
        });
        rows.push(Sample {
            flow: "ue2".to_owned(),
            hops: 4,
            rate_bps: Some(7),
            ..Sample::default()
        });
        rows.into_table()
    }

    #[test]
    fn rows_become_columns() {
        let table = filled();
        assert_eq!(table.rows(), 2);
        assert_eq!(
            table.column("finish_s"),
            Some(&Column::Float(vec![Some(1.5), None]))
        );
        assert_eq!(table.floats("finish_s"), Some(&[Some(1.5), None][..]));
        assert_eq!(table.integers("hops"), Some(&[Some(3), Some(4)][..]));
        assert_eq!(table.integers("rate_bps"), Some(&[None, Some(7)][..]));
        assert_eq!(table.texts("flow").unwrap()[1].as_deref(), Some("ue2"));
        assert_eq!(table.texts("hops"), None);
    }

    #[test]
    fn a_declaration_states_type_unit_and_meaning() {
        let table = Table::of::<Sample>();
        assert_eq!(table.rows(), 0);
        let fields: Vec<_> = table.columns().iter().map(|(field, _)| *field).collect();
        let kinds = fields.iter().map(|field| (field.kind, field.is_nullable));
        let float = Kind::Float;
        assert!(kinds.eq([
            (Kind::Text, false),
            (float, true),
            (Kind::Integer, false),
            (float, true)
        ]));
        assert_eq!((fields[2].unit, fields[3].unit), ("", "bit/s"));
        let page = reference("# Tables\n", &[Sample::TABLE, More::TABLE]);
        let expected = "# Tables\n\n## samples\n\nA row for each flow that has started.\n\n\
            | column | type | unit | meaning |\n|---|---|---|---|\n\
            | `flow` | text |  | Name. |\n\
            | `finish_s` | float or null | s | When it finished. |\n\
            | `hops` | integer |  | Number of hops. |\n\
            | `rate_bps` | float or null | bit/s | Rate of the first link. |\n\
            \nMore.\n\n| column | type | unit | meaning |\n|---|---|---|---|\n\
            | `kind` | text |  | Kind. |\n";
        assert_eq!(page, expected);
    }

    #[test]
    fn rows_that_are_taken_leave_the_columns() {
        let mut rows = filled();
        let taken = rows.take();
        assert_eq!((taken.rows(), rows.rows()), (2, 0));
        assert_eq!(rows, Table::of::<Sample>());
        assert_eq!(taken, filled());
    }

    #[test]
    fn columns_are_appended_to_those_of_the_same_rows() {
        let mut table = filled();
        let mut more = Rows::new();
        more.push(More { kind: "a" });
        more.push(More { kind: "b" });
        table.append(more.into_table());
        assert_eq!(table.texts("kind").unwrap()[1].as_deref(), Some("b"));
        let table = table.without(&["hops", "flow"]);
        let names = table.columns().iter().map(|(field, _)| field.name);
        assert!(names.eq(["finish_s", "rate_bps", "kind"]));
    }

    #[test]
    #[should_panic(expected = "the same rows")]
    fn columns_of_other_rows_are_refused() {
        filled().append(Table::of::<More>());
    }
}

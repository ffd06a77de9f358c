//! The declaration of tables: each column once, with name, type, unit and meaning.

/// The type of a column in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A 64-bit float.
    Float,
}

impl Kind {
    /// The word in the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Float => "float",
        }
    }
}

/// The declaration of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name, which ends in the unit where there is one (`_s`, `_bps`, `_bytes`).
    pub name: &'static str,
    /// Its type in files.
    pub kind: Kind,
    /// Whether values may be missing.
    pub is_nullable: bool,
    /// Its unit; empty for texts, plain counts and indices.
    pub unit: &'static str,
    /// One sentence for the reference.
    pub doc: &'static str,
}

/// The declaration of a table, or of further columns of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSpec {
    /// The name of its file without ending. Declarations of the same name are one table.
    pub name: &'static str,
    /// What a row is, and which runs have the table or the columns.
    pub doc: &'static str,
    /// The columns, in order.
    pub columns: &'static [ColumnSpec],
}

/// The tables as a page in Markdown: a heading for each, and a line for each column.
pub fn reference(introduction: &str, tables: &[TableSpec]) -> String {
    let mut page = introduction.to_owned();
    let mut before = "";
    for table in tables {
        if table.name != before {
            page += &format!("\n## {}\n", table.name);
            before = table.name;
        }
        page += &format!("\n{}\n\n| column | type | unit | meaning |\n", table.doc);
        page += "|---|---|---|---|\n";
        for column in table.columns {
            let or_null = if column.is_nullable { " or null" } else { "" };
            page += &format!(
                "| `{}` | {}{or_null} | {} | {} |\n",
                column.name,
                column.kind.name(),
                column.unit,
                column.doc
            );
        }
    }
    page
}

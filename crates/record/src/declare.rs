//! The macro that declares a table.

/// Declares the row of a table: a struct with a field for each column.
///
/// A field is `name: Type;` or `name: Type, "unit";`, with one sentence of documentation. Its type
/// is `String`, `&'static str`, `u64`, `f64`, or an `Option` of one of them. `u64 as Float` holds
/// whole numbers that files store as floats.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:expr])*
        $vis:vis struct $row:ident in $table:literal {$(
            $(#[doc = $column_doc:expr])*
            $column:ident: $type:ty $(as $kind:ident)? $(, $unit:literal)?;
        )*}
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default)]
        #[allow(clippy::struct_field_names)] // names of columns end in their unit
        $vis struct $row {$(
            $(#[doc = $column_doc])*
            pub $column: $type,
        )*}

        impl $crate::Row for $row {
            const TABLE: $crate::TableSpec = $crate::TableSpec {
                name: $table,
                doc: concat!($($doc),*).trim_ascii(),
                columns: &[$($crate::ColumnSpec {
                    name: stringify!($column),
                    kind: $crate::table!(@kind $type $(, $kind)?),
                    is_nullable: <$type as $crate::Cell>::IS_NULLABLE,
                    unit: concat!($($unit)?),
                    doc: concat!($($column_doc),*).trim_ascii(),
                }),*],
            };

            fn columns() -> Vec<$crate::Column> {
                vec![$(<$type as $crate::Cell>::column()),*]
            }

            fn push(self, columns: &mut [($crate::Field, $crate::Column)]) {
                let mut columns = columns.iter_mut();
                $(if let Some((_, column)) = columns.next() {
                    $crate::Cell::push(self.$column, column);
                })*
            }
        }
    };
    (@kind $type:ty) => { <$type as $crate::Cell>::KIND };
    (@kind $type:ty, $kind:ident) => { $crate::Kind::$kind };
}

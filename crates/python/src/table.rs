//! Tables as Arrow arrays: a struct array with a field for each column.

use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use backlane_record::{Column, ColumnSpec, Kind, Table};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table, with the Arrow PyCapsule interface: `polars.DataFrame(table)` shares its columns.
#[pyclass(frozen, name = "Table")]
pub(crate) struct ArrowTable {
    array: ArrayData,
}

type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

#[pymethods]
impl ArrowTable {
    /// The number of rows.
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The declared columns as an Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.array.data_type()).map_err(error)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Schema and columns. The types are the declared ones, whichever are requested.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let _ = requested_schema;
        let array = FFI_ArrowArray::new(&self.array);
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }
}

fn error(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

impl ArrowTable {
    pub(crate) fn of(table: &Table) -> PyResult<Self> {
        let columns = table.columns().iter();
        let children: Result<Vec<_>, _> = columns
            .clone()
            .map(|(spec, column)| array(spec, column))
            .collect();
        let fields = columns.map(|(spec, _)| Field::new(spec.name, data_type(spec.kind), true));
        let array = ArrayData::builder(DataType::Struct(fields.collect()))
            .len(table.rows())
            .child_data(children.map_err(error)?)
            .build()
            .map_err(error)?;
        Ok(Self { array })
    }
}

/// Offsets of texts have 64 bits: the texts of a long series may take more than 2 GiB.
fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::LargeUtf8,
        Kind::Integer => DataType::Int64,
        Kind::Float => DataType::Float64,
    }
}

/// A column in its declared type. Integers beyond the range of Arrow's become null.
fn array(spec: &ColumnSpec, column: &Column) -> Result<ArrayData, ArrowError> {
    match column {
        Column::Text(values) => {
            let texts = values
                .iter()
                .map(|value| value.as_deref().unwrap_or_default());
            let mut offsets = vec![0_i64];
            let mut bytes = Vec::with_capacity(texts.clone().map(str::len).sum());
            for text in texts {
                bytes.extend_from_slice(text.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            let valid = values.iter().map(Option::is_some);
            let buffers = vec![Buffer::from_vec(offsets), Buffer::from_vec(bytes)];
            built(Kind::Text, valid.collect(), buffers)
        }
        Column::Integer(values) if spec.kind == Kind::Float => {
            floats(values, |value| *value as f64)
        }
        Column::Integer(values) => {
            let values = values.iter();
            let values = values.map(|value| value.and_then(|value| i64::try_from(value).ok()));
            let values: Vec<Option<i64>> = values.collect();
            let valid = values.iter().map(Option::is_some).collect();
            let numbers = values.iter().map(|value| value.unwrap_or_default());
            built(Kind::Integer, valid, vec![numbers.collect()])
        }
        Column::Float(values) => floats(values, |value| *value),
    }
}

fn floats<T>(values: &[Option<T>], number: impl Fn(&T) -> f64) -> Result<ArrayData, ArrowError> {
    let valid = values.iter().map(Option::is_some).collect();
    let numbers = values
        .iter()
        .map(|value| value.as_ref().map_or(0.0, &number));
    built(Kind::Float, valid, vec![numbers.collect()])
}

fn built(kind: Kind, valid: NullBuffer, buffers: Vec<Buffer>) -> Result<ArrayData, ArrowError> {
    ArrayData::builder(data_type(kind))
        .len(valid.len())
        .nulls(Some(valid))
        .buffers(buffers)
        .build()
}

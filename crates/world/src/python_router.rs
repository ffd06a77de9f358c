//! Routers that are a class in a Python file: the keys of a scenario. The program supplies the
//! routers ([`Supplied::router`](crate::Supplied)); without them no world is built.

use backlane_param::{PythonClass, Settings, params};

params! {
    /// Routers that are a class in a Python file: for teaching and prototypes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PythonRouting {
        /// The class, "FILE:CLASS"; the path is relative to the folder of the scenario.
        router: PythonClass;
        /// Values for attributes of the class, by their names.
        parameters: Option<Settings>;
    }
}

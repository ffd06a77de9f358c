//! Models of routing daemons compared with recordings of the daemons themselves.

mod babel;
mod compare;
mod grid;
mod lab;
mod ospf;

//! Models of routing daemons compared with recordings of the daemons themselves.

mod babel;
mod lab;
mod ospf;

//! The physical layer as tables and curves: how many bits a transport block has, which signal
//! each modulation and coding scheme needs, and what control and feedback cost.
//!
//! - [`tables`]: transport block sizes, MCS, CQI, resource block groups of TS 36.213.
//! - [`coding`]: code blocks, and the resource elements that carry the shared channel.
//! - [`mutual_information`]: from SINR to information per coded bit.
//! - [`curves`]: from information to the loss of a code block.
//! - [`error_model`]: transport formats worked out once; HARQ transmissions added up.
//! - [`link_adaptation`]: from SINR to CQI, from CQI to MCS, and the outer loop.
//! - [`control`]: the control region: how many assignments fit, and what it leaves to data.
//!
//! Nothing here knows UEs, time or chance: the MAC asks for a probability and throws the die.

pub mod coding;
pub mod control;
pub mod curves;
pub mod error_model;
pub mod link_adaptation;
pub mod mutual_information;
pub mod tables;

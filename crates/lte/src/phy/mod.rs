//! The physical layer as tables and curves: how many bits a transport block has, which signal
//! each modulation and coding scheme needs, and what control and feedback cost.

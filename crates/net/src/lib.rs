//! Packets, nodes, links and queue disciplines

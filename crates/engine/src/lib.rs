//! The event queue, timers, named random streams and the run digest

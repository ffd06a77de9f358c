//! Routers, media and applications for tests.

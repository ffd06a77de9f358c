//! Fixtures and checks shared by the tests

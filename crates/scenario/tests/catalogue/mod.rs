//! Scenario files with the models of Backlane.
#![allow(dead_code, reason = "each test file uses some of these")]

use backlane_scenario::{Described, Diagnostic, Plan, Report, Scenario, Template};
use backlane_world::catalogue;

type Overrides<'a> = &'a [(String, String)];

pub fn check(text: &str, path: &str, overrides: Overrides<'_>) -> Result<Vec<Diagnostic>, Report> {
    catalogue().check(text, path, overrides)
}

pub fn plan(
    text: &str,
    path: &str,
    overrides: Overrides<'_>,
    seed: Option<u64>,
) -> Result<Plan, Report> {
    catalogue().plan(text, path, overrides, seed)
}

pub fn from_resolved(text: &str) -> Result<Scenario, Report> {
    catalogue().from_resolved(text)
}

pub fn parse(text: &str, path: &str) -> Result<Scenario, Report> {
    catalogue().parse(text, path)
}

pub fn parse_for(text: &str, path: &str, seed: u64) -> Result<Scenario, Report> {
    catalogue().parse_for(text, path, seed)
}

pub fn described_for(text: &str, seed: u64) -> Result<Described, Report> {
    catalogue().described_for(text, seed)
}

pub fn described(text: &str) -> Result<Described, Report> {
    catalogue().described(text)
}

pub fn schema() -> String {
    backlane_scenario::schema(catalogue())
}

pub fn template(name: &str) -> Option<Template> {
    backlane_scenario::template(catalogue(), name)
}

pub fn reference_page() -> String {
    backlane_scenario::reference_page(catalogue())
}

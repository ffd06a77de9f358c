//! Names of flows, unique within a run.

use std::collections::BTreeMap;

/// Gives out names; a second one of a kind becomes "name#2".
#[derive(Default)]
pub(crate) struct Names(BTreeMap<String, usize>);

impl Names {
    pub(crate) fn unique(&mut self, base: &str) -> String {
        let count = self.0.entry(base.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            base.to_owned()
        } else {
            format!("{base}#{count}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn equal_names_are_numbered() {
        let mut names = Names::default();
        let given: Vec<String> = ["ue1", "ue2", "ue1"]
            .map(|base| names.unique(base))
            .to_vec();
        assert_eq!(given, ["ue1", "ue2", "ue1#2"]);
    }
}
